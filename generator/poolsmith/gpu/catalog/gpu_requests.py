"""How pods ask for GPUs: names of extended resources and device classes, and the words that undo isolation."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import containers_of, mapping, mappings, word
from poolsmith.core.sources.pointer import reached

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


def resources_of(pod: Mapping[str, Any]) -> Iterator[str]:
    """The names of all that the containers of a pod ask for; some of them twice."""
    for container in containers_of(pod):
        resources = mapping(container.get("resources"))
        for part in ("limits", "requests"):
            yield from map(str, mapping(resources.get(part)))


def asks_for_gpus(pod: Mapping[str, Any]) -> bool:
    """By a resource, or by what brings all of them."""
    return any(map(is_gpu_resource, resources_of(pod))) or brings_gpus(pod)


def brings_gpus(pod: Mapping[str, Any]) -> bool:
    """Whether its runtime class does, or a variable that somebody writes by hand."""
    is_of_class = word(pod.get("runtimeClassName")).startswith("nvidia")
    listed = (item for container in containers_of(pod) for item in mappings(container.get("env")))
    return is_of_class or any(names_devices(item) for item in listed if item.get("name") == _VISIBLE)


def names_devices(variable: Mapping[str, Any]) -> bool:
    """Whether it is the variable that gives a container GPUs without a request."""
    return variable.get("name") == _VISIBLE and "value" in variable and str(variable["value"] or "") not in _NO_DEVICES


_VISIBLE, _NO_DEVICES = "NVIDIA_VISIBLE_DEVICES", ("", "void", "none")


def custom_pods(data: Mapping[str, Any], kind: str, group: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Specs of the pods that controllers make of a custom resource, each with the pointer to it; or what says a
    container's resources alone, with its field for them."""
    for row in _custom_workloads().get((kind, group), ()):
        for at, spec in reached(data, row["at"]):
            if isinstance(spec, dict) and spec:
                yield at, spec, row.get("resources", "")


@cache
def _custom_workloads() -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in store.table("named_objects.yaml")["workloads"]:
        found.setdefault((row["kind"], row["group"]), []).append(row)
    return found


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
