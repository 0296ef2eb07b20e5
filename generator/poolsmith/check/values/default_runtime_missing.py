"""The default runtime deleted where the custom resource must have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import RuleInfo
from poolsmith.model.value_finding import ValueFinding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.check.values.document import ValuesDocument

RULE = RuleInfo(
    code="PSM285",
    name="default-runtime-missing",
    applies_to="values",
    what="Helm values delete or empty `operator.defaultRuntime` in a release whose chart still writes it.",
    why="The field is required in the ClusterPolicy of these releases, so the API server refuses the object and "
    "nothing of the release changes. Its word decides nothing: the operator finds the runtime of the nodes itself.",
    fix="remove the line, and the chart's default holds; from 25.3 on the key is gone",
    bad="# with v24.9.2\noperator: {defaultRuntime: null}\n",
    good="# with v24.9.2\noperator: {defaultRuntime: containerd}\n",
    releases="before v25.3.0",
    symptom="spec.operator.defaultRuntime: Unsupported value",
    references=("templates/clusterpolicy.yaml and CRDs of the chart at its tag", "NVIDIA/gpu-operator issue 683"),
)
_PATH = ("operator", "defaultRuntime")


def check(document: ValuesDocument) -> Iterator[ValueFinding]:
    if any(item.path == _PATH and item.value in (None, "") for item in document.known):
        yield ValueFinding(
            rule=RULE,
            path=_PATH,
            message=f"`operator.defaultRuntime` is empty, and the ClusterPolicy of {document.release.tag} needs it",
            help="write `containerd`, `docker` or `crio`, or remove the line",
        )
