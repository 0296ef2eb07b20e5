"""What kustomize leaves out of a chart that it inflates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import is_older
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.gpu.catalog.engines import difference, holds
from poolsmith.gpu.catalog.stack_objects import OPERATOR
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import WHOLE, Need, Offer, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM761")
_HAS_NAMESPACES_FROM = "v25.10.1"
_HERE = ", nor does kustomize from 5.8 on, as is installed here"
_SWITCH, _DEFINITIONS, _OWN = "includeCRDs", "Definitions", "nvidia.com"


@kept_all
def _entries(view: LinkView) -> Iterator[tuple[Need, SetupObject, dict[str, Any]]]:
    for item in view.kustomizations:
        charts = item.data.get("helmCharts")
        for index, chart in enumerate(charts if isinstance(charts, list) else ()):
            if isinstance(chart, dict) and chart.get("name") in OPERATOR:
                pointer = f"/helmCharts/{index}/{_SWITCH if _SWITCH in chart else 'name'}"
                yield Need(kind=_DEFINITIONS, name=_OWN, locate=item.place, pointer=pointer), item, chart


def _offers(view: LinkView) -> Iterator[Offer]:
    if any(view.of_kind("CustomResourceDefinition")) or any(chart.get(_SWITCH) is True for *_, chart in _entries(view)):
        yield Offer(kind=_DEFINITIONS, name=_OWN)


DOMAINS = (Domain(_DEFINITIONS, lambda view: (need for need, *_ in _entries(view)), _offers, lambda _: WHOLE),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for need, item, chart in _entries(view):
        if names_of(view).verdict(need).state is State.UNDEFINED:
            yield Finding(
                message="kustomize leaves the chart's definitions out: nothing here brings ClusterPolicy and "
                "NVIDIADriver",
                place=need.place,
                help="write `includeCRDs: true` into this entry",
            )
        yield from _without_namespace(view, item, need.pointer.rpartition("/")[0], chart)


def _may_set_namespace(patch: dict[str, Any]) -> bool:
    """Whether a patch of many gives the accounts their namespace, or stands in a file of its own."""
    kinds = word(mapping(patch.get("target")).get("kind"))
    says = bool(patch.get("path")) or "/metadata/namespace" in word(patch.get("patch"))
    return says and ("ServiceAccount" in kinds or not kinds) and bool(patch.get("target"))


def _without_namespace(
    view: LinkView, item: SetupObject, at: str, chart: dict[str, Any]
) -> Iterator[Finding[Location]]:
    version, namespace, around = word(chart.get("version")), word(chart.get("namespace")), item.data.get("namespace")
    is_left = bool(holds(difference("namespace-of-inflated-charts"), view.engines)) and not any(
        view.of_kind("Application")
    )
    if namespace in ("", "default") or (around and not is_left) or not is_older(version, _HAS_NAMESPACES_FROM):
        return
    if any(map(_may_set_namespace, mappings(item.data.get("patches")))):
        return
    yield Finding(
        message=f"the chart of {version} gives its ServiceAccounts no namespace{_HERE if around else ''}: they go into "
        f"`default`, and its roles are bound to accounts of `{namespace}`",
        place=item.place(f"{at}/namespace"),
        help=f"take {_HAS_NAMESPACES_FROM} or later"
        if around
        else f"write `namespace: {namespace}` into the kustomization, or take {_HAS_NAMESPACES_FROM} or later",
    )
