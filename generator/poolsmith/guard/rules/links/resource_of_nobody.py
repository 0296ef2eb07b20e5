"""Resources and products of GPUs that pods ask for, and that the device plugin beside them does not offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import container_places, mapping, mappings, words
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED, asks_for_gpus
from poolsmith.guard.rules.links.plugin_offers import SHARED_PRODUCT, plugin_offers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.guard.rules.links.plugin_offers import PluginOffers

RULE = RuleInfo(
    code="PSM757",
    name="resource-of-nobody",
    applies_to="manifest",
    what="A pod asks for a GPU resource that no configuration of the device plugin beside it offers (renamed by "
    "sharing, or by another MIG strategy), or selects a product as no node is called under that sharing.",
    why="The scheduler finds no node: the pod stays Pending. Where GPUs are shared without another name, discovery "
    "adds `-SHARED` to the product; where they are renamed, `nvidia.com/gpu` is gone.",
    fix="ask for what the configuration offers, or change the configuration",
    bad="# beside a plugin whose timeSlicing has renameByDefault: true\nlimits: {nvidia.com/gpu: 1}\n",
    good="# beside a plugin whose timeSlicing has renameByDefault: true\nlimits: {nvidia.com/gpu.shared: 1}\n",
    symptom="`Insufficient nvidia.com/gpu`; `node(s) didn't match Pod's node affinity/selector`",
    references=("NVIDIA/k8s-device-plugin@v0.17.4:internal/lm/resource.go, api/config/v1/replicas.go",),
)
_PRODUCT = "nvidia.com/gpu.product"
_TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    pods = [pod for pod in view.pods if asks_for_gpus(pod.spec)]
    offers = plugin_offers(view) if pods else None
    for pod in pods if offers is not None else ():
        assert offers is not None
        yield from _resources(pod, offers)
        yield from _products(pod, offers)


def _resources(pod: LinkedPod, offers: PluginOffers) -> Iterator[Finding[Location]]:
    for field, index, container in container_places(pod.spec):
        limits = mapping(mapping(container.get("resources")).get("limits"))
        for name in limits:
            if not _is_of_the_plugin(str(name)) or offers.has(str(name)):
                continue
            there = [item for item in sorted(offers.resources) if not item.endswith("*")]
            yield Finding(
                message=f"{pod.owner.name} asks for `{name}`, and the device plugin here offers "
                f"{' and '.join(f'`{item}`' for item in there)}",
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
    if offers.is_shared is None:
        return
    for at, product in _selected(pod):
        if product.endswith(SHARED_PRODUCT) == offers.is_shared or "MIG" in product:
            continue
        right = f"{product}{SHARED_PRODUCT}" if offers.is_shared else product.removesuffix(SHARED_PRODUCT)
        why = "each configuration here shares GPUs" if offers.is_shared else "no configuration here shares GPUs"
        yield Finding(
            message=f"{pod.owner.name} selects the product `{product}`, and no node is called so: {why}",
            place=pod.place(at),
            help=f"write `{right}`, or select by another label",
            related=(offers.place,),
        )


def _selected(pod: LinkedPod) -> Iterator[tuple[str, str]]:
    """Products of which one has to be there, each with its pointer below the pod's spec."""
    selector = mapping(pod.spec.get("nodeSelector"))
    if isinstance(selector.get(_PRODUCT), str):
        yield join("/nodeSelector", _PRODUCT), selector[_PRODUCT]
    terms = value_at(pod.spec, _TERMS)
    if not isinstance(terms, list) or len(terms) != 1:
        return
    for index, item in enumerate(mappings(mapping(terms[0]).get("matchExpressions"))):
        values = words(item.get("values"))
        if item.get("key") == _PRODUCT and item.get("operator") == "In" and len(values) == 1:
            yield join("", *_TERMS, 0, "matchExpressions", index, "values", 0), values[0]
