"""Configurations that values name, and that stand in another namespace than the pods that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.guard.rules.names.messages import elsewhere
from poolsmith.guard.rules.names.need import State
from poolsmith.guard.rules.setup.named_objects import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM153",
    name="config-of-another-namespace",
    severity=Severity.WARNING,
    applies_to="setup",
    what="Values of the operator name a ConfigMap or a Secret (configurations, layouts, metrics, a licence), and the "
    "only one of that name is in another namespace than the operator.",
    why="Operands run in the operator's namespace, and a pod mounts ConfigMaps of its own namespace only.",
    symptom='`MountVolume.SetUp failed for volume ... configmap "..." not found`; pods stay in ContainerCreating',
    fix="put the ConfigMap into the operator's namespace",
    bad="# the operator is in gpu-operator\nkind: ConfigMap\nmetadata: {name: mig-layouts, namespace: default}\n",
    good="kind: ConfigMap\nmetadata: {name: mig-layouts, namespace: gpu-operator}\n",
    references=("NVIDIA/gpu-operator issues 281, 412",),
)
NEEDS = ("values",)


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.namespace is not None and not view.is_generated:
        yield from (elsewhere(verdict) for verdict in verdicts(view) if verdict.state is State.ELSEWHERE)
