"""Configurations that values name, and that stand in another namespace than the pods that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM153",
    name="config-of-another-namespace",
    severity=Severity.WARNING,
    applies_to="setup",
    what="Values of the operator name a ConfigMap for the device plugin, the MIG manager or dcgm-exporter, and the "
    "only ConfigMap of that name is in another namespace than the operator.",
    why="Operands run in the operator's namespace, and a pod mounts ConfigMaps of its own namespace only.",
    symptom='`MountVolume.SetUp failed for volume ... configmap "..." not found`; pods stay in ContainerCreating',
    fix="put the ConfigMap into the operator's namespace",
    bad="# the operator is in gpu-operator\nkind: ConfigMap\nmetadata: {name: mig-layouts, namespace: default}\n",
    good="kind: ConfigMap\nmetadata: {name: mig-layouts, namespace: gpu-operator}\n",
    references=("NVIDIA/gpu-operator issues 281, 412",),
)
NEEDS = ("values",)
_NAMES = ("devicePlugin.config", "migManager.config", "migManager.gpuClientsConfig", "dcgmExporter.config")
_SHIPPED = ("default-mig-parted-config", "default-gpu-clients")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.namespace is None or view.is_generated:
        return
    for path in _NAMES:
        name = view.value(f"{path}.name")
        if not isinstance(name, str) or name in ("", *_SHIPPED) or view.value(f"{path}.create") is True:
            continue
        if not view.is_set(f"{path}.name"):
            continue
        maps = [item for item in view.of_kind("ConfigMap", "") if item.own_name == name]
        elsewhere = [item for item in maps if item.metadata.get("namespace") not in (None, "", view.namespace)]
        if elsewhere and len(elsewhere) == len(maps):
            yield Finding(
                message=f"`{path}.name` is ConfigMap/{name} of namespace {view.namespace}, where none is; there is one "
                f"in {elsewhere[0].metadata['namespace']}",
                place=view.value_location(f"{path}.name"),
                help=f"write `namespace: {view.namespace}` into the ConfigMap",
                related=(elsewhere[0].place("/metadata/namespace", "this one"),),
            )
