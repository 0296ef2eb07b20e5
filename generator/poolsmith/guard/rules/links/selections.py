"""Labels of nodes that pods of the stack, and those of its charts, have to find: without them no node is taken."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, join, value_at
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import NODE_LABEL, Need
from poolsmith.guard.rules.names.needs_of_values import FILLED_LATER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_CHART_PODS = ("", "kubeletPlugin", "daemonsets", "worker")
"""Where charts of the stack take selectors of their pods; the operator's takes none of its operands."""


@kept_all
def selections(view: LinkView) -> Iterator[Need]:
    """What somebody wrote."""
    for pod in view.pods:
        if pod.asks_for_gpus or (pod.owner.kind == "DaemonSet" and _serves_gpus(pod)):
            yield from _selected(pod.spec, pod.place, pod.owner.name)
        else:
            yield from (need for need in _selected(pod.spec, pod.place, pod.owner.name) if _is_of_gpus(need.name))
    for chart in view.charts:
        for part in () if chart.is_operator else _CHART_PODS:
            yield from selections_in(chart, part)
    for item in view.of_kind("ResourceFlavor"):
        labels = {key: value for key, value in mapping(item.spec.get("nodeLabels")).items() if _is_of_gpus(str(key))}
        yield from _selected({"nodeSelector": labels}, partial(_of_flavor, item), item.name)


@kept_all
def selections_of_charts(view: LinkView) -> Iterator[tuple[LinkedChart, Need]]:
    """What charts select by where nobody writes another selector: one of their labels is enough."""
    rows = store.table("selectors.yaml")["charts"]
    for chart in view.charts:
        row = rows.get(chart.name)
        if row is not None and not chart.partial and _selects(chart, row):
            name, *others = row["labels"]
            yield (
                chart,
                Need(
                    kind=NODE_LABEL,
                    name=name,
                    or_else=tuple(others),
                    where=row["orSwitch"],
                    who=f"the chart {chart.name}",
                    locate=partial(_declared, chart),
                    pointer="",
                ),
            )


def _selects(chart: LinkedChart, row: Mapping[str, Any]) -> bool:
    """Whether it does at this version, without one at the newest, and brings nothing that writes the labels."""
    versions = row.get("versions", {})
    if "before" in versions if chart.version is None else not covers(versions, chart.version):
        return False
    return not any(map(chart.says, row["replacedBy"])) and chart.condition(row["bringsDiscovery"]) is not True


def _declared(chart: LinkedChart, _: str) -> Location:
    return chart.declared_at


def selections_in(chart: LinkedChart, part: str) -> Iterator[Need]:
    """What values select by for a part of the chart, or for all of it."""
    held = value_at(chart.values, part.split("."), MISSING) if part else chart.values

    def place(pointer: str) -> Location:
        field = pointer.split("/")[1]
        return chart.place(f"{part}.{field}" if part else field)

    yield from _selected(mapping(held), place, f"the chart {chart.name}")


def _selected(spec: Mapping[str, Any], place: Callable[[str], Location], who: str) -> Iterator[Need]:
    """Of a spec: its nodeSelector, and the term of its affinity where there is one alone."""
    for key, value in mapping(spec.get("nodeSelector")).items():
        if isinstance(value, str) and not FILLED_LATER.search(f"{key}{value}"):
            yield _need(who, str(key), (value,), place, join("/nodeSelector", str(key)))
    terms = value_at(spec, TERMS)
    if not isinstance(terms, list) or len(terms) != 1:
        return
    for index, item in enumerate(mappings(mapping(terms[0]).get("matchExpressions"))):
        found = words(item.get("values"))
        if item.get("operator") in ("In", "Exists", "Gt", "Lt") and not any(map(FILLED_LATER.search, found)):
            values = found if item["operator"] == "In" else ()
            yield _need(who, word(item.get("key")), values, place, join("", *TERMS, 0, "matchExpressions", index))


def _serves_gpus(pod: LinkedPod) -> bool:
    """Whether it is a part of the stack that somebody deploys by hand."""
    parts = store.table("selectors.yaml")["images"]
    return any(part in image for image in pod.images for part in parts)


def _is_of_gpus(key: str) -> bool:
    return key.startswith(("nvidia.com/", "feature.node.kubernetes.io/pci-"))


def _of_flavor(item: SetupObject, pointer: str) -> Location:
    return item.place(pointer.replace("/nodeSelector", "/spec/nodeLabels", 1))


def _need(who: str, key: str, values: tuple[str, ...], place: Callable[[str], Location], at: str) -> Need:
    return Need(kind=NODE_LABEL, name=key, who=who, values=values, locate=place, pointer=at)
