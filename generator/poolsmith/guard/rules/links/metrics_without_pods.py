"""Renamed GPU resources whose metrics the exporter gives to no pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings
from poolsmith.core.sources.pointer import MISSING
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG
from poolsmith.guard.rules.links.plugin_offers import plugin_offers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo(
    code="PSM766",
    name="metrics-without-pods",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="The device plugin advertises GPUs under another name, by sharing or by its own list of resources, and "
    "dcgm-exporter beside it is not told that name.",
    why="The exporter asks the kubelet who has `nvidia.com/gpu` and MIG devices. Metrics of a GPU under another name "
    "have no pod, no namespace and no container.",
    fix="write the names into the exporter's variable NVIDIA_RESOURCE_NAMES",
    bad="# beside a plugin whose timeSlicing has renameByDefault: true\ndcgmExporter: {enabled: true}\n",
    good="dcgmExporter:\n  env:\n    - {name: NVIDIA_RESOURCE_NAMES, value: nvidia.com/gpu.shared}\n"
    "    - {name: KUBERNETES_VIRTUAL_GPUS, value: 'true'}\n",
    references=(
        "NVIDIA/dcgm-exporter@4.5.3-4.8.2:internal/pkg/transformation/kubernetes.go, iterateGPUDevices; pkg/cmd/app.go",
    ),
)
_VARIABLE = "NVIDIA_RESOURCE_NAMES"
_FEW = 3


def check(view: LinkView) -> Iterator[Finding[Location]]:
    offers = plugin_offers(view) if view.charts else None
    renamed = [name for name in sorted(offers.resources) if not _is_known(name)] if offers is not None else []
    for chart in view.charts if renamed else ():
        path = _variables(chart)
        missing = [name for name in renamed if path and name not in _told(chart.value(path))]
        if missing and not chart.partial:
            assert offers is not None
            yield Finding(
                message=f"the device plugin advertises {listed(missing, _FEW)}, and dcgm-exporter is not told: its "
                "metrics of these GPUs have no pod",
                place=chart.place(path),
                help=f"write {{name: {_VARIABLE}, value: '{','.join(renamed)}'}} into `{path}`",
                related=(offers.place,),
            )


def _is_known(name: str) -> bool:
    """What the exporter knows by itself."""
    return name == GPU or (name.startswith(MIG) and not name.endswith(".shared"))


def _variables(chart: LinkedChart) -> str:
    """Where the exporter's variables are; empty where a chart brings none."""
    if chart.is_operator:
        return "" if chart.value("dcgmExporter.enabled") is False else "dcgmExporter.env"
    return "extraEnv" if chart.name == "dcgm-exporter" else ""


def _told(env: Any) -> set[str]:
    if env is MISSING:
        return set()
    values = (str(item.get("value")) for item in mappings(env) if item.get("name") == _VARIABLE)
    return {name.strip() for value in values for name in value.split(",")}
