"""Fields that the API server fills in before policies are asked, so that nobody can tell offline what they are.

`object.spec.restartPolicy` is there in the cluster even where the manifest says nothing.

What the API server fills into a pod that leaves it out.

Rules: kubernetes/kubernetes:pkg/apis/core/v1/defaults.go. The pod is changed in place; it has to be a fresh copy.
Fields of the wrong type are left alone: the API server takes no such object.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, mapping, mappings, pod_template_pointer, word
from poolsmith.kubernetes.pods.pod import HOOKS, PROBES
from poolsmith.kubernetes.server.kubernetes_types import defaulted_fields

Path = tuple[str, ...]
ITEM = "*"
"""Stands for any item of a list or a mapping."""

_METADATA = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
_BY_SERVER = {
    "Pod": (
        "spec.imagePullSecrets", "spec.overhead", "spec.preemptionPolicy", "spec.priority", "spec.serviceAccount",
        "spec.serviceAccountName", "spec.tolerations", "spec.containers.*.resources.limits",
        "spec.initContainers.*.resources.limits",
    ),
    "PersistentVolumeClaim": ("spec.storageClassName",),
    "Ingress": ("spec.ingressClassName",),
    "Job": ("spec.selector", "spec.template.metadata.labels"),
    "ReplicationController": ("metadata.labels", "spec.selector"),
    "Service": ("spec.clusterIP", "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy"),
}  # fmt: skip
"""What plugins that are on in every cluster, allocators and strategies fill in: accounts, priorities, limits ..."""

EMPTY_OBJECTS = frozenset(("securityContext", "emptyDir", "namespaceSelector", "objectSelector"))
"""Objects that are filled in without anything in them: only whether they are there depends on it."""


@lru_cache(maxsize=256)
def defaulted_paths(kind: str) -> frozenset[Path]:
    """Paths in an object of a native kind; of another kind only what each object gets in its metadata."""
    fields = defaulted_fields()
    found = [*fields["kinds"].get(kind, ()), *_BY_SERVER.get(kind, ()), *(f"metadata.{name}" for name in _METADATA)]
    pointer = pod_template_pointer({"kind": kind})
    if pointer is not None:
        prefix = ".".join((*pointer.split("/")[1:], "spec."))
        found += [prefix + path for path in fields["pod"]]
        found += [f"{prefix}{field}.*.{path}" for field in CONTAINER_FIELDS for path in fields["container"]]
    return frozenset(tuple(path.split(".")) for path in found)


def depends_on_defaulting(kind: str, path: Path) -> bool:
    """Whether an expression that reads `path` reads what is filled in: such a field, or something in it.

    ITEM in `path` stands for any item. A path that ends above (`spec`) reads no such field by itself.
    """
    return any(_is_at_or_below(path, defaulted) for defaulted in defaulted_paths(kind))


def _is_at_or_below(path: Path, defaulted: Path) -> bool:
    if len(path) < len(defaulted) or (len(path) > len(defaulted) and defaulted[-1] in EMPTY_OBJECTS):
        return False
    return all(ITEM in (step, known) or step == known for step, known in zip(path, defaulted, strict=False))


_POD = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
}
_CONTAINER = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_MODE = 0o644
_MODES = ("secret", "configMap", "downwardAPI", "projected")
_TOKEN_SECONDS = 3600


def fill_pod(pod: dict[str, Any]) -> None:
    """Defaults of a pod specification, its containers and its volumes."""
    _fill(pod, _POD)
    if pod.get("securityContext") is None:
        pod["securityContext"] = {}
    on_host = pod.get("hostNetwork") is True
    for field in CONTAINER_FIELDS:
        for container in mappings(pod.get(field)):
            fill_container(container)
            if field != "ephemeralContainers":
                _fill_requests(container)
                if on_host:
                    _open_on_host(container)
    for volume in mappings(pod.get("volumes")):
        _fill_volume(volume)


def fill_container(container: dict[str, Any]) -> None:
    _fill(container, _CONTAINER)
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = "Always" if _is_latest(word(container.get("image"))) else "IfNotPresent"
    if container.get("resources") is None:
        container["resources"] = {}
    for port in mappings(container.get("ports")):
        _fill(port, {"protocol": "TCP"})
    for variable in mappings(container.get("env")):
        _fill_field_reference(mapping(variable.get("valueFrom")).get("fieldRef"))
    for name in PROBES:
        probe = container.get(name)
        if isinstance(probe, dict):
            _fill(probe, _PROBE)
            _fill_handler(probe)
    lifecycle = mapping(container.get("lifecycle"))
    for name in HOOKS:
        _fill_handler(lifecycle.get(name))


def _fill(node: dict[str, Any], defaults: dict[str, Any]) -> None:
    for key, value in defaults.items():
        if node.get(key) is None or (isinstance(value, str) and node[key] == ""):
            node[key] = value


def _fill_handler(handler: Any) -> None:
    """Of a probe or a lifecycle hook."""
    request = mapping(handler).get("httpGet")
    if isinstance(request, dict):
        _fill(request, {"path": "/", "scheme": "HTTP"})
    call = mapping(handler).get("grpc")
    if isinstance(call, dict) and call.get("service") is None:
        call["service"] = ""


def _fill_requests(container: dict[str, Any]) -> None:
    """What is limited and not requested, is requested as much."""
    resources = container["resources"]
    limits = mapping(resources).get("limits")
    if not isinstance(limits, dict) or not limits:
        return
    requests = resources.get("requests")
    if requests is None:
        requests = resources["requests"] = {}
    if isinstance(requests, dict):
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def _open_on_host(container: dict[str, Any]) -> None:
    """In the host's network a port of the container is one of the host."""
    for port in mappings(container.get("ports")):
        if not port.get("hostPort") and isinstance(port.get("containerPort"), int):
            port["hostPort"] = port["containerPort"]


def _fill_volume(volume: dict[str, Any]) -> None:
    sources = [key for key in volume if key != "name" and volume[key] is not None]
    if not sources:
        volume["emptyDir"] = {}
    for source in _MODES:
        if isinstance(volume.get(source), dict):
            _fill(volume[source], {"defaultMode": _MODE})
    path = volume.get("hostPath")
    if isinstance(path, dict) and path.get("type") is None:
        path["type"] = ""
    for item in mappings(mapping(volume.get("downwardAPI")).get("items")):
        _fill_field_reference(item.get("fieldRef"))
    for part in mappings(mapping(volume.get("projected")).get("sources")):
        token = part.get("serviceAccountToken")
        if isinstance(token, dict):
            _fill(token, {"expirationSeconds": _TOKEN_SECONDS})
        for item in mappings(mapping(part.get("downwardAPI")).get("items")):
            _fill_field_reference(item.get("fieldRef"))
    template = mapping(mapping(volume.get("ephemeral")).get("volumeClaimTemplate")).get("spec")
    if isinstance(template, dict):
        _fill(template, {"volumeMode": "Filesystem"})


def _fill_field_reference(reference: Any) -> None:
    if isinstance(reference, dict):
        _fill(reference, {"apiVersion": "v1"})


def _is_latest(image: str) -> bool:
    name, _, digest = image.partition("@")
    _, _, tag = name.rpartition("/")[2].partition(":")
    return tag == "latest" or (not tag and not digest)
