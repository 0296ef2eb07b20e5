"""What belongs to the GPU stack: by the groups of its kinds, and the names of its charts and objects.

Where none of its words is in a text (`stack_words`), nothing of it is: what is added here has to be found there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import WORKLOAD_KINDS, mapping, pod_template_of, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.gpu_requests import CLASSES, asks_for_gpus, custom_pods, device_requests, is_gpu_resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument


OPERATOR_GROUP = "nvidia.com"
GROUPS = (
    OPERATOR_GROUP,
    "resource.nvidia.com",
    "gpu.resource.nvidia.com",
    "nfd.k8s-sigs.io",
    "nfd.kubernetes.io",
    "mellanox.com",
    "configuration.net.nvidia.com",
    "confidentialcontainers.org",
    "sriovnetwork.openshift.io",
)
"""API groups, whose kinds are of the stack whatever they say."""
OPERATOR = ("gpu-operator", "nvidia-gpu-operator")
"""Names of the operator's chart: NVIDIA's own, and the one that mirrors like to give it."""
OLM_PACKAGE = "gpu-operator-certified"
DEVICE_PLUGIN_CHARTS = ("nvidia-device-plugin", "k8s-device-plugin")
DRA_DRIVER_CHARTS = ("nvidia-dra-driver-gpu", "k8s-dra-driver-gpu", "dra-driver-nvidia-gpu")
"""Names that the charts of one piece of software have, or had."""
CHART_OF = {
    **dict.fromkeys(DEVICE_PLUGIN_CHARTS, "nvidia-device-plugin"),
    **dict.fromkeys(DRA_DRIVER_CHARTS, "nvidia-dra-driver-gpu"),
    **dict.fromkeys(("network-operator", "nvidia-network-operator"), "network-operator"),
    "node-feature-discovery": "node-feature-discovery",
    "dcgm-exporter": "dcgm-exporter",
    "kata-deploy": "kata-deploy",
}
"""By each name that it has or had: the chart beside the operator's whose values are recorded (`data/stack_charts/`)."""
CHART_NAMES = {
    **CHART_OF,
    **dict.fromkeys(OPERATOR, OPERATOR[0]),
    "gpu-feature-discovery": "gpu-feature-discovery",
    "confidential-containers": "confidential-containers",
    "coco-operator": "coco-operator",
    "nvidia-mig-parted": "nvidia-mig-parted",
    "mig-manager": "mig-manager",
}
"""The same of all charts of the stack, recorded or not."""
CHARTS = frozenset(CHART_NAMES)
_IMAGES = pattern(r"nvidia|nvcr\.io|node-feature-discovery|dcgm|mellanox|kata-deploy")
_NAMES = pattern(
    r"(?:^|[-_.])(?:gpu-operator|nvidia|nfd|node-feature-discovery|dcgm|dcgm-exporter|network-operator|kata|coco"
    r"|mig|device-plugin|time-slicing)(?:$|[-_.])"
)
SHARED_NAMESPACES = frozenset(
    ("kube-system", "default", "flux-system", "argocd", "monitoring", "observability", "prometheus")
)
"""Namespaces that hold much besides, so that being in them says nothing."""
_ROLE_KINDS = ("Namespace", "ResourceQuota", "LimitRange", "RuntimeClass", "PriorityClass")


def own_namespaces(installed: Iterable[tuple[str, str | None]]) -> frozenset[str]:
    """Those that charts of the stack are installed in, and that are not there for everybody; `installed` are charts
    with their namespaces."""
    return frozenset(
        namespace
        for chart, namespace in installed
        if chart in CHARTS and namespace and namespace not in SHARED_NAMESPACES
    )


def is_of_stack(document: CheckedDocument, namespaces: frozenset[str] = frozenset()) -> bool:
    """Whether an object is part of the stack. `namespaces` are those that its charts are installed in."""
    data = mapping(document.data)
    group = document.api_version.rpartition("/")[0]
    if _is_own_group(group):
        return True
    metadata = document.metadata
    name, namespace = word(metadata.get("name")), word(metadata.get("namespace"))
    if document.kind == "Namespace":
        return name in namespaces or _NAMES.search(name) is not None
    if _chart_of(document) in CHARTS:
        return True
    if document.kind in WORKLOAD_KINDS:
        return namespace in namespaces or _is_workload_of_stack(document)
    if document.kind in _COUNTING and any(map(_is_counted_gpu, _words_of(data.get("spec")))):
        return True
    if document.kind == "DeviceClass":
        return CLASSES[0] in str(data.get("spec"))
    if group == "resource.k8s.io":
        return _asks_for_devices(data)
    if any(asks_for_gpus(pod.spec) for pod in custom_pods(data, document.kind, group)):
        return True
    if document.kind in ("ConfigMap", "Secret", "ServiceAccount", "Role", "RoleBinding", *_ROLE_KINDS):
        return namespace in namespaces or _NAMES.search(name) is not None
    if document.kind in ("ClusterRole", "ClusterRoleBinding"):
        return _NAMES.search(name) is not None
    return False


@lru_cache
def _is_own_group(group: str) -> bool:
    return any(group == own or group.endswith(f".{own}") for own in GROUPS)


def _chart_of(document: CheckedDocument) -> str:
    """The chart that an object of a delivery engine is for, by what it says or by its own name."""
    spec = mapping(mapping(document.data).get("spec"))
    name = word(document.metadata.get("name"))
    if document.kind in ("HelmRelease", "HelmChart", "HelmChartConfig", "OCIRepository", "HelmRepository"):
        from poolsmith.kubernetes.repository.flux_releases import named  # on demand

        said = value_at(spec, ("chart", "spec", "chart")) or spec.get("chart") or spec.get("url") or ""
        chart = named(said)[0] if isinstance(said, str) else ""
        return chart if chart in CHARTS else name
    if document.kind in ("Application", "ApplicationSet"):
        inner = mapping(value_at(spec, ("template", "spec"))) if document.kind == "ApplicationSet" else spec
        sources = [inner.get("source"), *(inner.get("sources") or ())]
        charts = [word(mapping(source).get("chart")).rpartition("/")[2] for source in sources]
        return next((chart for chart in charts if chart in CHARTS), name)
    if document.kind == "Kustomization":
        return name
    return ""


_COUNTING = ("ResourceQuota", "LimitRange", "ClusterQueue", "VirtualMachine", "VirtualMachineInstance")
_OF_CLASS = ".deviceclass.resource.k8s.io/devices"
_DEEPEST = 16


def _words_of(node: Any, depth: int = 0) -> Iterator[str]:
    """Keys and texts of a tree."""
    if isinstance(node, dict) and depth < _DEEPEST:
        for key, value in node.items():
            yield str(key)
            yield from _words_of(value, depth + 1)
    elif isinstance(node, list) and depth < _DEEPEST:
        for value in node:
            yield from _words_of(value, depth + 1)
    elif isinstance(node, str):
        yield node


def _is_counted_gpu(name: str) -> bool:
    """Whether GPUs are counted by the name, or are meant to."""
    return is_gpu_resource(name.removeprefix("requests.").removeprefix("limits.")) or (
        name.endswith(_OF_CLASS) and name.removesuffix(_OF_CLASS) in CLASSES
    )


def _asks_for_devices(data: Any) -> bool:
    spec = mapping(data.get("spec"))
    claim = mapping(spec.get("spec")) if data.get("kind") == "ResourceClaimTemplate" else spec
    asked = [word(request.get("deviceClassName")) for _, request in device_requests(claim)]
    return any(name in CLASSES or _NAMES.search(name) is not None for name in asked)


def _is_workload_of_stack(document: CheckedDocument) -> bool:
    """By an image, or by what its pods ask for."""
    if any(_IMAGES.search(word(container.get("image"))) for _, container in document.containers):
        return True
    return asks_for_gpus(mapping(mapping(pod_template_of(document.data)).get("spec")))
