"""How pods ask for GPUs: names of extended resources and device classes, and the words that undo isolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import containers_of, mapping, mappings, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VENDOR = "nvidia.com"
GPU = "nvidia.com/gpu"
SHARED = ".shared"
MIG = "nvidia.com/mig-"
CLASSES = ("gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com")
"""Device classes of the DRA driver. Source: dra-driver-nvidia-gpu:deployments/helm, templates/deviceclass-*.yaml."""
_OTHERS = ("hostdev", "rdma", "sriov", "ib", "mlnx", "cx", "netdev", "shared_", "roce")
"""How resources of network adapters begin, which the vendor's other plugins give out under the same domain."""


def is_gpu_resource(name: str) -> bool:
    """Whether an extended resource is a GPU, a part of one, or a virtual one."""
    if not name.startswith(VENDOR):
        return False
    domain, _, rest = name.partition("/")
    return domain == VENDOR and not rest.lower().startswith(_OTHERS)


def gpu_resources(pod: Mapping[str, Any]) -> Iterator[str]:
    """The GPU resources that the containers of a pod ask for; some of them twice."""
    for container in containers_of(pod):
        resources = mapping(container.get("resources"))
        for part in ("limits", "requests"):
            for name in map(str, mapping(resources.get(part))):
                if is_gpu_resource(name):
                    yield name


def asks_for_gpus(pod: Mapping[str, Any]) -> bool:
    """By a resource, or by the runtime class that brings all of them."""
    return next(gpu_resources(pod), None) is not None or brings_gpus(pod)


def brings_gpus(pod: Mapping[str, Any]) -> bool:
    """Whether its runtime class does."""
    return word(pod.get("runtimeClassName")).startswith("nvidia")


def device_requests(claim: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Requests of a claim's spec, each with the pointer to it below the spec; alternatives too."""
    listed = mapping(claim.get("devices")).get("requests")
    for index, request in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(request, dict):
            continue
        at = f"/devices/requests/{index}"
        if isinstance(request.get("exactly"), dict):
            yield f"{at}/exactly", request["exactly"]
        elif isinstance(request.get("firstAvailable"), list):
            for number, item in enumerate(mappings(request["firstAvailable"])):
                yield f"{at}/firstAvailable/{number}", item
        else:
            yield at, request
