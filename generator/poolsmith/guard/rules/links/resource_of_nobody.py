"""Resources and products of GPUs that pods ask for, and that the device plugin beside them does not offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join, reached
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED, is_gpu_resource
from poolsmith.gpu.catalog.node_labels import GPU_PRODUCT, OF_A_SLICE
from poolsmith.gpu.catalog.node_labels import SHARED as SHARED_PRODUCT
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.plugin_offers import plugin_offers
from poolsmith.guard.rules.links.selections import selections
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import NODE_LABEL, OPEN, RESOURCE, Need, Offer, State, Supply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.guard.rules.links.plugin_offers import PluginOffers
    from poolsmith.guard.rules.names.need import Verdict
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM757")

_DOES = {"ClusterQueue": ("covers", ": it admits no pod that asks for it")}


@kept_all
def resource_needs(view: LinkView) -> Iterator[Need]:
    return (need for pod in view.gpu_pods for need in _of_pod(pod))


def _of_pod(pod: LinkedPod) -> Iterator[Need]:
    for at, container in pod.containers:
        for name in map(str, mapping(mapping(container.get("resources")).get("limits"))):
            if is_gpu_resource(name):
                pointer = join(at, "resources", "limits", name)
                yield Need(kind=RESOURCE, name=name, who=pod.owner.name, locate=pod.place, pointer=pointer)


def counted_needs(item: SetupObject) -> Iterator[tuple[Need, object]]:
    """Of a quota, or a range of limits: names that the plugin alone gives out, each with the amount."""
    for at, name, amount in _amounts(item):
        if _is_of_the_plugin(name):
            yield Need(kind=RESOURCE, name=name, who=item.name, locate=item.place, pointer=at), amount


def _amounts(item: SetupObject) -> Iterator[tuple[str, str, object]]:
    for name, amount in mapping(item.spec.get("hard")).items():
        yield join("/spec/hard", str(name)), str(name).removeprefix("requests."), amount
    for at, name in reached(item.spec, ("resourceGroups", "*", "coveredResources", "*")):
        yield f"/spec{at}", word(name), None
    for path in (("limits", "*", "max"), ("limits", "*", "default"), ("limits", "*", "min")):
        for at, held in reached(item.spec, path):
            yield from ((join(f"/spec{at}", str(name)), str(name), amount) for name, amount in mapping(held).items())


def resource_offers(view: LinkView) -> Iterator[Offer]:
    """Resources, and the name of the product under that sharing and strategy."""
    offers = plugin_offers(view)
    if offers is not None:
        yield from (Offer(kind=RESOURCE, name=name, via=offers) for name in sorted(offers.resources))
        yield Offer(kind=NODE_LABEL, name=GPU_PRODUCT, keys=Products(offers), via=offers)


def resource_supply(view: LinkView) -> Supply:
    offers = plugin_offers(view)
    if offers is None:
        return OPEN
    return Supply(known=offers, owns=lambda name: _is_of_the_plugin(name) or name in offers.unnamed)


def _is_of_the_plugin(name: str) -> bool:
    return name in (GPU, f"{GPU}{SHARED}") or name.startswith(MIG)


class Products:
    """Names of products that nodes may have."""

    def __init__(self, offers: PluginOffers) -> None:
        self._offers = offers

    def __contains__(self, product: object) -> bool:
        return not self.why_not(str(product))

    def why_not(self, product: str) -> str:
        """Why no node is called so; empty where one may be."""
        offers = self._offers
        if OF_A_SLICE in product:
            is_single = not offers.strategies or offers.strategies & {"single", ""}
            return "" if is_single else f"under `mig.strategy: {min(offers.strategies)}` the product has no slice in it"
        if offers.is_shared is None or product.endswith(SHARED_PRODUCT) == offers.is_shared:
            return ""
        return "each configuration here shares GPUs" if offers.is_shared else "no configuration here shares GPUs"

    def right(self, product: str) -> str:
        whole = product.removesuffix(SHARED_PRODUCT).partition(OF_A_SLICE)[0]
        return f"{whole}{SHARED_PRODUCT}" if self._offers.is_shared else whole


DOMAINS = (Domain(RESOURCE, resource_needs, resource_offers, resource_supply),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for need in resource_needs(view):
        verdict = names_of(view).verdict(need)
        if verdict.state in (State.UNDEFINED, State.NEAR):
            yield _lacking(view, verdict, "asks for", "")
    for need in (item for item in selections(view) if item.name == GPU_PRODUCT):
        verdict = names_of(view).verdict(need)
        if verdict.state is State.LACKS_KEY and verdict.offer is not None and isinstance(verdict.offer.keys, Products):
            yield _product(view, need, verdict.offer.keys)
    for item in view.of_kind("ResourceQuota", "LimitRange", "ClusterQueue"):
        yield from _counted(view, item)


def _counted(view: LinkView, item: SetupObject) -> Iterator[Finding[Location]]:
    """What is counted under a name that no pod can ask for, with no other. Nought forbids: no mistake."""
    found = [(names_of(view).verdict(need), amount) for need, amount in counted_needs(item)]
    if all(verdict.state is State.UNDEFINED for verdict, _ in found):
        for verdict, amount in found:
            if str(amount) != "0":
                yield _lacking(view, verdict, *_DOES.get(item.kind, ("counts", ": it limits nothing")))


def _lacking(view: LinkView, verdict: Verdict, does: str, then: str) -> Finding[Location]:
    need, offers = verdict.need, plugin_offers(view)
    assert offers is not None, "what is undefined is known not to be offered"
    there = " and ".join(f"`{item}`" for item in sorted(offers.resources) if not item.endswith("*"))
    return Finding(
        message=f"{need.who} {does} `{need.name}`, and the device plugin here offers {there}{then}",
        place=need.place,
        help=_help(need.name, offers) if verdict.offer is None else f"did you mean `{verdict.offer.name}`?",
        related=(offers.place,),
    )


def _help(name: str, offers: PluginOffers) -> str:
    if name.startswith(MIG):
        return (
            "MIG devices have names of their own under `mig.strategy: mixed` alone; under `single` they are "
            "`nvidia.com/gpu`"
        )
    return f"ask for `{min(offers.resources)}`, or change `renameByDefault` of the configuration"


def _product(view: LinkView, need: Need, products: Products) -> Finding[Location]:
    return Finding(
        message=f"{need.who} selects the product `{need.values[0]}`, and no node is called so: "
        f"{products.why_not(need.values[0])}",
        place=need.place,
        help=f"write `{products.right(need.values[0])}`, or select by another label",
        related=(cast("PluginOffers", plugin_offers(view)).place,),
    )
