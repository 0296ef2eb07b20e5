"""Folders that are given as the root of a driver, and are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import MISSING
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS, DRA_DRIVER_CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo.of("PSM762")
_PATHS = dict.fromkeys((*DEVICE_PLUGIN_CHARTS, *DRA_DRIVER_CHARTS), "nvidiaDriverRoot")
"""Not the operator's `hostPaths.driverInstallDir`: on Talos it is a folder of libraries."""
_NO_ROOT = pattern(
    r"(?:.*/)?(?:usr/(?:local/)?)?(?:lib|lib64|lib32|bin|sbin|x86_64-linux-gnu|aarch64-linux-gnu|nvidia-current)/?"
    r"|.*/(?:lib|lib64)/.*|.*\.so(?:\.[0-9.]+)?"
)
_EXPORTER = "dcgm-exporter"
_GKE = "/home/kubernetes/bin/nvidia"
"""Where GKE and its installer put the driver. Source: GoogleCloudPlatform/container-engine-accelerators."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_gke(view)
    for chart in view.charts:
        path = _PATHS.get(chart.name, "")
        value = chart.value(path) if path and chart.says(path) else MISSING
        if isinstance(value, str) and value.startswith("/") and value.rstrip("/") != _GKE and _NO_ROOT.fullmatch(value):
            yield Finding(
                message=f"`{path}` is `{shorten(value)}`, a folder of libraries or programs: {chart.name} mounts it as "
                "a root and looks for `usr/lib` below it",
                place=chart.place(path),
                help="write the folder that has `usr` in it, such as `/` or `/run/nvidia/driver`",
            )


def _of_gke(view: LinkView) -> Iterator[Finding[Location]]:
    """Charts beside which nobody else brings a driver: GKE does, in a folder of its own."""
    machines = view.distributions or {item.tool for item in view.machines.templates}
    is_there = machines == {"gke"} and view.is_alone and not any(chart.is_operator for chart in view.charts)
    for chart in view.named(*_PATHS) if is_there else ():
        if chart.value(_PATHS[chart.name]) == "/" and not chart.partial:
            yield Finding(
                message=f"`{_PATHS[chart.name]}` of {chart.name} is `/`, and GKE has its driver in {_GKE}",
                place=chart.place(_PATHS[chart.name]),
                help=f"write `{_PATHS[chart.name]}: {_GKE}`",
            )
    for chart in view.named(_EXPORTER) if is_there else ():
        if not (chart.partial or chart.says("extraHostVolumes")):
            yield Finding(
                message=f"{chart.name} mounts nothing of GKE's driver, which only pods that ask for GPUs get",
                place=chart.declared_at,
                help=f"mount {_GKE} at /usr/local/nvidia by `extraHostVolumes` and `extraVolumeMounts`, with "
                "`securityContext: {privileged: true}`",
                severity=Severity.WARNING,
            )
