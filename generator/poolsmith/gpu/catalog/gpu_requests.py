"""How pods ask for GPUs: names of extended resources and device classes, and the words that undo isolation."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import containers_of, mapping, mappings, word
from poolsmith.core.sources.pointer import join, reach, reached

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


@record(kw_only=False)
class CustomPod:
    """The spec of pods that a controller makes of a custom resource, at a pointer in it; of what stands elsewhere, or
    by another name, `moved` has the pointer by the one in a spec."""

    at: str
    spec: Mapping[str, Any]
    moved: Mapping[str, str] = field(default_factory=dict)


def custom_pods(data: Mapping[str, Any], kind: str, group: str) -> Iterator[CustomPod]:
    for row in _custom_workloads().get((kind, group), ()):
        for at, spec in reached(data, row["at"]):
            if isinstance(spec, dict) and spec:
                yield _of_resources(data, at, spec, row) if "resources" in row else CustomPod(at, spec)


def _of_resources(data: Mapping[str, Any], at: str, held: Mapping[str, Any], row: Mapping[str, Any]) -> CustomPod:
    """Of one container's resources, and of fields of the pod above them."""
    spec: dict[str, Any] = {"containers": [{"resources": held.get(row["resources"])}]}
    moved = {"/containers/0/resources": join(at, row["resources"])}
    tops = [at.rsplit("/", steps)[0] if steps else at for steps in row.get("above", ())]
    holders = [(top, mapping(reach(data, top)[0])) for top in tops]
    is_patched = any(name in holder for _, holder in holders for name in _PATCHES)
    for top, above in () if is_patched else holders:
        for name in _OF_PODS:
            if name in above and name not in spec:
                spec[name], moved[f"/{name}"] = above[name], join(top, name)
    return CustomPod(at, spec, moved)


_OF_PODS = ("nodeSelector", "affinity", "tolerations", "schedulerName", "priorityClassName", "serviceAccountName")
_PATCHES = ("podSpecPatch", "templateDefaults")
"""Beside these, the pod has more than its fields say."""


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
