"""The NVIDIA runtime as the runtime of every pod on the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD, container_runtimes
from poolsmith.gpu.catalog.platforms import owners, rule_of
from poolsmith.gpu.catalog.releases import behaviour_at
from poolsmith.gpu.values.effective_values import is_on, toolkit_environment, uses_nri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument
    from poolsmith.gpu.values.effective_values import Environment

RULE = RuleInfo.of("PSM284")
_OPERATORS = "NVIDIA_RUNTIME_SET_AS_DEFAULT"
"""By this one the operator turns it off under CDI, and the toolkit looks at it first. Source:
NVIDIA/nvidia-container-toolkit:cmd/nvidia-ctk-installer/container/runtime/runtime.go"""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = toolkit_environment(document)
    if env is None or uses_nri(document):
        return
    native = _OPERATORS in behaviour_at(document.release.tag)["toolkitCdi"]
    for name in (*container_runtimes().default_variables, _OPERATORS):
        if not env.says(name, "true", "1", "t") or _is_documented(name, env, document):
            continue
        variable = env.get(name)
        assert variable is not None
        message = f"`{name}` makes the NVIDIA runtime the one of every pod on the node"
        if native and name == _OPERATORS:
            message += f", against what {document.release.tag} sets"
        elif native and is_on(document, "cdi.enabled"):
            message = (
                f"`{name}` has no effect: under CDI {document.release.tag} sets `{_OPERATORS}` to false, which counts"
            )
        yield Finding(
            place=(*variable.path, "value"),
            message=message,
            help="remove it, and use `runtimeClassName: nvidia` where a pod needs it",
            severity=None if native else Severity.NOTE,
        )


def _is_documented(name: str, env: Environment, document: ValuesDocument) -> bool:
    """Whether the distribution that these paths are of is documented with it."""
    config = env.get(container_runtimes().by_name[CONTAINERD].variables["config"])
    rules = (rule_of(owner, document.release.tag) for owner in (owners(config.value) if config else ()))
    return any(entry["name"] == name for rule in rules if rule is not None for entry in rule.env)
