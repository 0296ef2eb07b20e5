"""Resources and products of GPUs that pods ask for, and that the device plugin beside them does not offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.gpu_requests import MIG
from poolsmith.gpu.catalog.node_labels import GPU_PRODUCT
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.plugin_offers import plugin_offers
from poolsmith.guard.rules.links.resource_links import Products, counted_needs, resource_needs
from poolsmith.guard.rules.links.selections import selections
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.links.plugin_offers import PluginOffers
    from poolsmith.guard.rules.names.need import Need, Verdict
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM757",
    name="resource-of-nobody",
    applies_to="manifest",
    what="A pod asks for a GPU resource that no configuration of the device plugin beside it offers (renamed by "
    "sharing, or by another MIG strategy), or selects a product as no node is called under that sharing or strategy; "
    "or a quota, a range of limits or a queue counts such a resource.",
    why="The scheduler finds no node: the pod stays Pending. Where GPUs are shared without another name, discovery "
    "adds `-SHARED` to the product; where they are renamed, `nvidia.com/gpu` is gone. A quota on it counts nothing.",
    fix="ask for what the configuration offers, or change the configuration",
    bad="# beside a plugin whose timeSlicing has renameByDefault: true\nlimits: {nvidia.com/gpu: 1}\n",
    good="# beside a plugin whose timeSlicing has renameByDefault: true\nlimits: {nvidia.com/gpu.shared: 1}\n",
    symptom="`Insufficient nvidia.com/gpu`; `node(s) didn't match Pod's node affinity/selector`",
    references=("NVIDIA/k8s-device-plugin@v0.17.4:internal/lm/resource.go, api/config/v1/replicas.go",),
)

_DOES = {"ClusterQueue": ("covers", ": it admits no pod that asks for it")}


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
