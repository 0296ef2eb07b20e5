"""Workloads that ask for GPUs, and tolerate the taints of no node that has them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings
from poolsmith.core.sources.pointer import MISSING
from poolsmith.fleet.profiles.toleration import Tolerations, covered, keeps_away, shown_taint
from poolsmith.gpu.catalog.gpu_requests import GPU
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT, PCI_NVIDIA, matches
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.machine_images import makes_gpu_nodes
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.plugin_containers import is_plugin
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import WHOLE, Need, Offer, State
from poolsmith.guard.rules.setup.setup_view import named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupNode, Taint
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM758")


TOLERATION = "Toleration"
"""What somebody needs who has to run on tainted nodes."""
_ADDS_NONE = ("talos", "rke2 or k3s")
"""Tools whose API servers add no tolerations, unless they are told to."""
_LABELS = frozenset((GPU_PRESENT, PCI_NVIDIA))
"""Either is enough for the plugin's chart."""


@record(slots=False, eq=False)
class Tainted:
    """Who has to run on one of some nodes. `gap` is a taint that keeps it off all of them; `whose` they are, `at` is
    where it stands. `path` are a chart's tolerations, of `runs`; empty for a pod."""

    need: Need
    gap: Taint | None
    whose: str
    at: Callable[[], Location]
    path: str = ""
    runs: str = ""


def toleration_needs(view: LinkView) -> Iterator[Need]:
    return (item.need for item in tainted(view))


def toleration_offers(view: LinkView) -> Iterator[Offer]:
    return (Offer(kind=TOLERATION, name=item.need.name) for item in tainted(view) if item.gap is None)


@kept_all
def tainted(view: LinkView) -> Iterator[Tainted]:
    yield from _of_charts(view)
    for number, pod in enumerate(pod for pod in view.pods if _takes_tolerations(pod)):
        yield from _of_nodes(view, pod, f"{number}") if view.nodes else _of_templates(view, pod, f"{number}")


def _takes_tolerations(pod: LinkedPod) -> bool:
    """Whether all of them stand there: custom resources may take some from elsewhere."""
    return not pod.moved or "/tolerations" in pod.moved


def _need(name: str, who: str, locate: Callable[[str], Location], pointer: str) -> Need:
    return Need(kind=TOLERATION, name=name, who=who, locate=locate, pointer=pointer)


def _of_charts(view: LinkView) -> Iterator[Tainted]:
    rows = store.table("daemons.yaml")["charts"]
    found = [(chart, row) for chart in view.charts for row in rows if chart.name in row["charts"]]
    if not view.is_alone or len({row["part"] for _, row in found}) != len(found):
        return
    templates = [item for item in view.machines.whole if not item.announces and makes_gpu_nodes(item)] if found else []
    for chart, row in found:
        for daemon in row["daemons"] if not chart.partial else ():
            if "while" not in daemon or _discovers(view, chart, daemon["while"]):
                yield from _of_daemon(chart, daemon, templates)


def _discovers(view: LinkView, chart: LinkedChart, switch: str) -> bool:
    """Whether nodes get the labels that the chart selects by from its discovery alone."""
    return chart.condition(switch) is True and (chart.is_operator or not _LABELS & view.labels_said)


def _of_daemon(chart: LinkedChart, daemon: Mapping[str, Any], templates: Sequence[NodeTemplate]) -> Iterator[Tainted]:
    said = chart.value(daemon["path"])
    said = daemon.get("default") if said is MISSING else said
    tolerations = Tolerations(said) if isinstance(said, list) else None
    for number, template in enumerate(templates if tolerations is not None else ()):
        for mark in template.taints:
            taint = _taint(mark.key, mark.value, mark.effect)
            is_kept_off = keeps_away(taint) and tolerations is not None and tolerations.cover(taint) is False
            yield Tainted(
                need=_need(f"{chart.name} {daemon['path']} {number} {mark.pointer}", "", chart.place, daemon["path"]),
                gap=taint if is_kept_off else None,
                whose=template.title,
                at=partial(template.at, mark.pointer),
                path=daemon["path"],
                runs=daemon["says"],
            )


def _taint(key: str, value: str | None, effect: str) -> Taint:
    return {"key": key, "value": value or "", "effect": effect}


def _of_nodes(view: LinkView, pod: LinkedPod, name: str) -> Iterator[Tainted]:
    """Of device plugins by hand, too; beside an operator a rule over its setup judges DaemonSets."""
    if not view.nodes:
        return
    stands_for_plugin = _stands_for_plugin(view, pod)
    if pod.spec.get("nodeName") or not (stands_for_plugin or pod.gpu_resources):
        return
    nodes = [node for node in view.nodes if _is_selected(pod, node)]
    gaps = [_gap(pod, node.taints, adds=not stands_for_plugin) for node in nodes]
    if nodes:
        at = partial(nodes[0].place, "/metadata/name", "such a node")
        yield _of_pod(pod, name, gaps, named(nodes), at)


def _stands_for_plugin(view: LinkView, pod: LinkedPod) -> bool:
    stands_alone = pod.owner.kind == "DaemonSet" and not any(chart.is_operator for chart in view.charts)
    return stands_alone and is_plugin(pod)


def _of_templates(view: LinkView, pod: LinkedPod, name: str) -> Iterator[Tainted]:
    """Where files describe nodes to come, by those that have all labels which the pod selects by."""
    if not (view.is_whole or view.is_alone) or not pod.spec.get("nodeSelector") or not view.machines.whole:
        return
    is_plugin_by_hand = _stands_for_plugin(view, pod)
    if not (pod.asks_for_gpus or is_plugin_by_hand):
        return
    nodes = [view.machines.whole[index] for index in view.machines.by_labels.of(pod.selector)]
    if nodes:
        gaps = [_gap_of(pod, item, adds=not is_plugin_by_hand) for item in nodes]
        mark = next((mark for mark in nodes[0].taints if _taint(mark.key, mark.value, mark.effect) == gaps[0]), None)
        at = partial(nodes[0].at, mark.pointer if mark is not None else nodes[0].top, "the taint")
        yield _of_pod(pod, name, gaps, nodes[0].title, at)


def _of_pod(pod: LinkedPod, name: str, gaps: Sequence[Taint | None], whose: str, at: Callable[[], Location]) -> Tainted:
    pointer = "/tolerations" if "tolerations" in pod.spec else ""
    gap = gaps[0] if all(gap is not None for gap in gaps) else None
    does = "offers GPUs" if is_plugin(pod) else "asks for GPUs"
    return Tainted(need=_need(name, pod.owner.name, pod.place, pointer), gap=gap, whose=whose, at=at, runs=does)


def _gap_of(pod: LinkedPod, item: NodeTemplate, *, adds: bool) -> Taint | None:
    known = (_taint(mark.key, mark.value, mark.effect) for mark in item.taints if mark.value is not None)
    return _gap(pod, known, adds=adds and item.tool not in _ADDS_NONE)


def _is_selected(pod: LinkedPod, node: SetupNode) -> bool:
    return matches(node.labels, {key: value for key, value in pod.selector.items() if key in node.labels})


def _gap(pod: LinkedPod, taints: Iterable[Taint], *, adds: bool) -> Taint | None:
    """The first taint that keeps the pod off. `adds`: the cluster may tolerate by itself what is called like the
    resource; a taint without a key is none."""
    for taint in taints:
        if keeps_away(taint) and taint.get("key") not in (None, "", *((GPU,) if adds else ())):
            is_own = adds and taint["key"] in tuple(pod.gpu_resources)
            if not is_own and covered(taint, mappings(pod.spec.get("tolerations"))) is False:
                return taint
    return None


DOMAINS = (Domain(TOLERATION, toleration_needs, toleration_offers, lambda _: WHOLE),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for item in tainted(view):
        if names_of(view).verdict(item.need).state is State.UNDEFINED and item.gap is not None:
            yield _of_chart(item, item.gap) if item.path else _finding(item, item.gap)


def _of_chart(item: Tainted, taint: Taint) -> Finding[Location]:
    return Finding(
        message=f"{item.whose} makes nodes with GPUs and the taint `{shown_taint(taint)}`, and {item.runs} not "
        "tolerate it",
        place=item.need.place,
        help=f"add `{{key: {taint['key']}, operator: Exists}}` to `{item.path}`",
        related=(item.at(),),
    )


def _finding(item: Tainted, taint: Taint) -> Finding[Location]:
    value = f", operator: Equal, value: {taint['value']}" if taint.get("value") else ", operator: Exists"
    return Finding(
        message=f"{item.need.who} {item.runs} and does not tolerate the taint `{shown_taint(taint)}` of {item.whose}, "
        "the only ones that it selects",
        place=item.need.place,
        help=f"add `{{key: {taint['key']}{value}, effect: {taint['effect']}}}` to the pod's tolerations",
        related=(item.at(),),
    )
