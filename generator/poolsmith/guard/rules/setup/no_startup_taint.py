"""Autoscaled GPU nodes that take pods before their GPUs can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView

RULE = RuleInfo.of("PSM273")
NEEDS: tuple[str, ...] = ()
_GROUP = "karpenter.sh"
_GPU = ("nvidia.com/", "karpenter.k8s.aws/instance-gpu-", "karpenter.azure.com/sku-gpu-")
_HELP = "add `startupTaints: [{{key: {}, effect: NoSchedule}}]`, and let something remove the taint"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    known = view.catalog.scheduling.startup_taints
    for item in view.of_kind("NodePool", _GROUP):
        template = mapping(item.spec.get("template"))
        spec = mapping(template.get("spec"))
        if _has_gpus(template, spec) and not spec.get("startupTaints"):
            yield Finding(
                message=f"{item.name} makes nodes with GPUs, and nothing keeps pods off them until these can be used",
                place=_place(item, spec),
                help=_HELP.format(known.example),
                severity=Severity.NOTE,  # Karpenter itself waits for the GPUs that pods asked for
            )
    if view.is_generated:
        return
    for node in view.nodes or ():
        if node.autoscaled and node.startup_taints == ():
            managed = view.distribution in known.without_flag
            yield Finding(
                message=f"{node.word} `{node.name}` is autoscaled, and nothing keeps pods off new nodes until their "
                "GPUs can be used",
                place=node.place("/spec/nodes/autoscaled"),
                help=_HELP.format(known.example_without_flag if managed else known.example),
            )


def _place(item: SetupObject, spec: Mapping[str, Any]) -> Any:
    return item.place("/spec/template/spec" + ("/taints" if "taints" in spec else ""))


def _has_gpus(template: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    """By a label, a taint or a requirement that only nodes with NVIDIA GPUs have."""
    labels = mapping(value_at(template, ("metadata", "labels")))
    keys = [*labels, *(word(taint.get("key")) for taint in mappings(spec.get("taints")))]
    wanted = [
        word(item.get("key")) for item in mappings(spec.get("requirements")) if item.get("operator") != "DoesNotExist"
    ]
    return any(isinstance(key, str) and key.startswith(_GPU) for key in (*keys, *wanted))
