"""Charts and pods that need NVIDIA's runtime where it is not the default one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import words
from poolsmith.core.sources.pointer import MISSING
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS
from poolsmith.guard.rules.names.kept import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView, Machines

RULE = RuleInfo.of("PSM786")
_OF_K3S = ("k3s", "rke2")
_TALOS = "talos"
_NEEDS_IT = (*DEVICE_PLUGIN_CHARTS, "dcgm-exporter")
_CLASS, _STRATEGY = "runtimeClassName", "deviceListStrategy"
_DEFAULTS = ("default-runtime", "default_runtime_name")
"""In configurations of k3s and of containerd."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    plugins = [chart for chart in view.named(*DEVICE_PLUGIN_CHARTS) if not chart.partial and not _is_by_cdi(chart)]
    where = _distribution(view) if plugins and not any(chart.is_operator for chart in view.charts) else ""
    if not where:
        return
    for chart in view.named(*_NEEDS_IT):
        if not chart.partial and not _is_by_cdi(chart) and chart.value(_CLASS) in (MISSING, None, ""):
            yield Finding(
                message=f"{chart.name} names no runtime class, and {where} does not make NVIDIA's runtime the default: "
                "it finds no GPU",
                place=chart.place(_CLASS),
                help=f"write `{_CLASS}: nvidia`",
            )
    if view.is_whole or view.is_alone:
        yield from _of_pods(view, plugins[0], where)


def _of_pods(view: LinkView, plugin: LinkedChart, where: str) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        if _CLASS not in pod.spec and pod.gpu_resources:
            yield Finding(
                message=f"{pod.owner.name} asks for a GPU and names no runtime class, and {where} does not make "
                "NVIDIA's runtime the default: it sees none",
                place=pod.place(""),
                help=f"write `{_CLASS}: nvidia`",
                related=(plugin.place(_CLASS),),
            )


def _is_by_cdi(chart: LinkedChart) -> bool:
    """Whether devices come by CDI, which needs no runtime of NVIDIA's."""
    said = chart.value(_STRATEGY)
    return any("cdi" in item for item in (words(said) if isinstance(said, list) else (str(said),)))


def _distribution(view: LinkView) -> str:
    """What leaves the default to runc; empty where something else is, or may be."""
    if _says_default(view.machines):
        return ""
    told = [name for name in view.distributions if view.is_alone]
    of_k3s = sorted(name.partition(" ")[0] for name in told if name.startswith(_OF_K3S))
    if of_k3s or any(item.group == "helm.cattle.io" for item in view.of_kind("HelmChart")):
        return of_k3s[0] if of_k3s else "k3s"
    return "Talos" if told == [_TALOS] else ""


@kept
def _says_default(machines: Machines) -> bool:
    """Whether a configuration anywhere in the files says which runtime is the default; looked for once."""
    texts = (item.text for item in machines.tree.documents if not item.is_object)
    return any(word in text for text in texts for word in _DEFAULTS)
