"""GPU resources that pods ask for, and that quotas count, beside what the device plugin gives out."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import join, reached
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED, VENDOR, is_gpu_resource
from poolsmith.gpu.catalog.node_labels import GPU_PRODUCT, OF_A_SLICE
from poolsmith.gpu.catalog.node_labels import SHARED as SHARED_PRODUCT
from poolsmith.guard.rules.links.exporters import exporters
from poolsmith.guard.rules.links.plugin_offers import PluginOffers, plugin_offers
from poolsmith.guard.rules.names.need import NODE_LABEL, OPEN, RESOURCE, Need, Offer, Supply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

METRIC = "Metric"
"""A name of a resource, for whose pods the exporter asks the kubelet."""
NAMES_OF_RESOURCES = "NVIDIA_RESOURCE_NAMES"
PERMITTED = "HostDevice"
"""What KubeVirt's own list lets a machine ask for."""
MACHINES = {"VirtualMachine": ("spec", "template", "spec"), "VirtualMachineInstance": ("spec",)}
LISTS = {"pciHostDevices": "P_GPU_ALIAS", "mediatedDevices": "VGPU_ALIAS"}
"""The parts of that list, each with the plugin's variable for a name of one's own."""
PERMITTED_IN = ("configuration", "permittedHostDevices")


def resource_needs(view: LinkView) -> tuple[Need, ...]:
    return view.kept("resource needs", lambda: (need for pod in view.gpu_pods for need in _of_pod(pod)))


def _of_pod(pod: LinkedPod) -> Iterator[Need]:
    for at, container in pod.containers:
        for name in map(str, mapping(mapping(container.get("resources")).get("limits"))):
            if is_gpu_resource(name):
                pointer = join(at, "resources", "limits", name)
                yield Need(kind=RESOURCE, name=name, where="", who=pod.owner.name, locate=pod.place, pointer=pointer)


def counted_needs(item: SetupObject) -> Iterator[tuple[Need, object]]:
    """Of a quota, or a range of limits: names that the plugin alone gives out, each with the amount."""
    for at, name, amount in _amounts(item):
        if _is_of_the_plugin(name):
            yield Need(kind=RESOURCE, name=name, where="", who=item.name, locate=item.place, pointer=at), amount


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


def permitted_lists(view: LinkView) -> list[SetupObject]:
    return [item for item in view.of_kind("KubeVirt") if reached(item.spec, PERMITTED_IN)]


def permitted_names(item: SetupObject) -> Iterator[tuple[str, str, str]]:
    """The part of KubeVirt's list, the pointer below its spec, and the name."""
    for part in LISTS:
        for at, value in reached(item.spec, (*PERMITTED_IN, part, "*", "resourceName")):
            yield part, at, word(value)


def device_needs(view: LinkView) -> tuple[Need, ...]:
    """NVIDIA's devices that virtual machines ask for, which one KubeVirt here has to permit."""
    return view.kept("device needs", lambda: _device_needs(view))


def _device_needs(view: LinkView) -> Iterator[Need]:
    for item in view.of_kind(*MACHINES) if len(permitted_lists(view)) == 1 else ():
        for part in ("gpus", "hostDevices"):
            for at, value in reached(item.data, (*MACHINES[item.kind], "domain", "devices", part, "*", "deviceName")):
                if word(value).startswith(f"{VENDOR}/"):
                    yield Need(kind=PERMITTED, name=word(value), where="", who=item.name, locate=item.place, pointer=at)


def device_supply(view: LinkView) -> Supply:
    lists = permitted_lists(view)
    named = {name for item in lists for _, _, name in permitted_names(item)}
    return Supply(known=named, owns=lambda _: len(lists) == 1)


def metric_needs(view: LinkView) -> tuple[Need, ...]:
    """Names that the plugin gives to GPUs, and that an exporter knows only where it is told; its place is the
    namespace."""
    return view.kept("metric needs", lambda: _metric_needs(view))


def _metric_needs(view: LinkView) -> Iterator[Need]:
    told = list(_exporters(view))
    offers = plugin_offers(view) if told else None
    for name, chart, path in told if offers is not None else ():
        for resource in sorted(cast("PluginOffers", offers).resources):
            if resource != GPU and (not resource.startswith(MIG) or resource.endswith(SHARED)):
                yield Need(
                    kind=METRIC,
                    name=resource,
                    namespace=name,
                    where=path,
                    who=chart.name,
                    locate=chart.place,
                    pointer=path,
                )


def metric_offers(view: LinkView) -> Iterator[Offer]:
    for name, chart, path in _exporters(view) if metric_needs(view) else ():
        said = mappings(chart.known(path))
        texts = (str(item.get("value")) for item in said if item.get("name") == NAMES_OF_RESOURCES)
        yield from (Offer(kind=METRIC, name=word.strip(), namespace=name) for text in texts for word in text.split(","))


def metric_supply(_: LinkView) -> Supply:
    return Supply(owns=bool)


def _exporters(view: LinkView) -> Iterator[tuple[str, LinkedChart, str]]:
    for number, chart in enumerate(exporters(view)):
        if not chart.partial:
            yield f"{number}", chart, "dcgmExporter.env" if chart.is_operator else "extraEnv"


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
