"""Resources and products of GPUs that pods ask for, and that the device plugin beside them does not offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import container_places, mapping
from poolsmith.core.sources.pointer import join, reached
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED, asks_for_gpus
from poolsmith.gpu.catalog.node_labels import GPU_PRODUCT, OF_A_SLICE
from poolsmith.gpu.catalog.node_labels import SHARED as SHARED_PRODUCT
from poolsmith.guard.rules.links.plugin_offers import plugin_offers
from poolsmith.guard.rules.links.selections import selected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.guard.rules.links.plugin_offers import PluginOffers
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM757",
    name="resource-of-nobody",
    applies_to="manifest",
    what="A pod asks for a GPU resource that no configuration of the device plugin beside it offers (renamed by "
    "sharing, or by another MIG strategy), or selects a product as no node is called under that sharing or strategy; "
    "or a quota, or a range of limits, counts such a resource.",
    why="The scheduler finds no node: the pod stays Pending. Where GPUs are shared without another name, discovery "
    "adds `-SHARED` to the product; where they are renamed, `nvidia.com/gpu` is gone. A quota on it counts nothing.",
    fix="ask for what the configuration offers, or change the configuration",
    bad="# beside a plugin whose timeSlicing has renameByDefault: true\nlimits: {nvidia.com/gpu: 1}\n",
    good="# beside a plugin whose timeSlicing has renameByDefault: true\nlimits: {nvidia.com/gpu.shared: 1}\n",
    symptom="`Insufficient nvidia.com/gpu`; `node(s) didn't match Pod's node affinity/selector`",
    references=("NVIDIA/k8s-device-plugin@v0.17.4:internal/lm/resource.go, api/config/v1/replicas.go",),
)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    pods = [pod for pod in view.pods if asks_for_gpus(pod.spec)]
    counted = [*view.of_kind("ResourceQuota", "LimitRange")]
    offers = plugin_offers(view) if pods or counted else None
    if offers is None:
        return
    for pod in pods:
        yield from _resources(pod, offers)
        yield from _products(pod, offers)
    for item in counted:
        yield from _counted(item, offers)


def _counted(item: SetupObject, offers: PluginOffers) -> Iterator[Finding[Location]]:
    """What a quota or a range of limits counts under a name that no pod can ask for. Nought forbids: no mistake."""
    found = [(at, name, amount) for at, name, amount in _amounts(item) if _is_of_the_plugin(name)]
    if any(offers.has(name) for _, name, _ in found):
        return
    for at, name, amount in found:
        if str(amount) != "0":
            yield Finding(
                message=f"{item.name} counts `{name}`, and the device plugin here offers {_there(offers)}: it limits "
                "nothing",
                place=item.place(at),
                help=_help(name, offers),
                related=(offers.place,),
            )


def _amounts(item: SetupObject) -> Iterator[tuple[str, str, object]]:
    for name, amount in mapping(item.spec.get("hard")).items():
        yield join("/spec/hard", str(name)), str(name).removeprefix("requests."), amount
    for path in (("limits", "*", "max"), ("limits", "*", "default"), ("limits", "*", "min")):
        for at, held in reached(item.spec, path):
            yield from ((join(f"/spec{at}", str(name)), str(name), amount) for name, amount in mapping(held).items())


def _there(offers: PluginOffers) -> str:
    return " and ".join(f"`{item}`" for item in sorted(offers.resources) if not item.endswith("*"))


def _resources(pod: LinkedPod, offers: PluginOffers) -> Iterator[Finding[Location]]:
    for field, index, container in container_places(pod.spec):
        limits = mapping(mapping(container.get("resources")).get("limits"))
        for name in limits:
            if not _is_of_the_plugin(str(name)) or offers.has(str(name)):
                continue
            yield Finding(
                message=f"{pod.owner.name} asks for `{name}`, and the device plugin here offers {_there(offers)}",
                place=pod.place(join("", field, index, "resources", "limits", str(name))),
                help=_help(str(name), offers),
                related=(offers.place,),
            )


def _is_of_the_plugin(name: str) -> bool:
    return name in (GPU, f"{GPU}{SHARED}") or name.startswith(MIG)


def _help(name: str, offers: PluginOffers) -> str:
    if name.startswith(MIG):
        return (
            "MIG devices have names of their own under `mig.strategy: mixed` alone; under `single` they are "
            "`nvidia.com/gpu`"
        )
    return f"ask for `{min(offers.resources)}`, or change `renameByDefault` of the configuration"


def _products(pod: LinkedPod, offers: PluginOffers) -> Iterator[Finding[Location]]:
    for item in selected(pod.spec, pod.place, pod.owner.name):
        if item.key == GPU_PRODUCT and item.values:
            reasons = [_why_not(value, offers) for value in item.values]
            if all(reasons):
                yield Finding(
                    message=f"{pod.owner.name} selects the product `{item.values[0]}`, and no node is called so: "
                    f"{reasons[0]}",
                    place=item.place,
                    help=f"write `{_right(item.values[0], offers)}`, or select by another label",
                    related=(offers.place,),
                )


def _why_not(product: str, offers: PluginOffers) -> str:
    """Why no node is called so; empty where one may be."""
    if OF_A_SLICE in product:
        is_single = not offers.strategies or offers.strategies & {"single", ""}
        return "" if is_single else f"under `mig.strategy: {min(offers.strategies)}` the product has no slice in it"
    if offers.is_shared is None or product.endswith(SHARED_PRODUCT) == offers.is_shared:
        return ""
    return "each configuration here shares GPUs" if offers.is_shared else "no configuration here shares GPUs"


def _right(product: str, offers: PluginOffers) -> str:
    whole = product.removesuffix(SHARED_PRODUCT).partition(OF_A_SLICE)[0]
    return f"{whole}{SHARED_PRODUCT}" if offers.is_shared else whole
