"""Pods and pod templates with all that the API server fills into them, and how it reads the names of images.

Source of what is no constant of the table: kubernetes/kubernetes@v1.34.1:pkg/apis/core/v1/{defaults,conversion}.go,
pkg/util/parsers/parsers.go, and distribution/reference@v0.6.0, which that calls.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, mapping, mappings, pod_template_of, word
from poolsmith.core.sources.pointer import copied
from poolsmith.kubernetes.server.defaults import ITEM, is_of_pods_alone, pod_values
from poolsmith.kubernetes.server.kubernetes_types import has_zero, kubernetes_types, named_struct
from poolsmith.kubernetes.server.normalise import as_stored, minor_of

if TYPE_CHECKING:
    from collections.abc import Mapping

Tree = dict[str, Any]
_POD_SPEC = "core/v1.PodSpec"
_PORTS_STAY = 28
"""From here on ports of pods in the node's network are opened when the pod is made, not in the template."""
_REQUESTING = ("initContainers", "containers")


@record
class _Default:
    """One field. `zero`: its type has no null, so that the empty value counts as absent."""

    value: Any
    zero: bool

    def is_missing(self, found: Any) -> bool:
        return found is None or (self.zero and type(found) is type(self.value) and not found)


def stored_template(workload: Mapping[str, Any], kubernetes: str = "") -> dict[str, Any]:
    """Metadata and spec of the pods of a workload, as `kubernetes` (1.34; unknown: the newest) stores them.

    Two that are stored alike restart no pod. Empty fields are gone, and quantities are canonical.
    """
    found = pod_template_of(as_stored(workload, kubernetes))
    template: dict[str, Any] = copied(dict(found)) if found is not None else {}
    metadata = template.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("creationTimestamp", None)
    pod = template.get("spec")
    if isinstance(pod, dict):
        _fill(pod, _tree(minor_of(kubernetes), alone=False))
        _fill_by_rule(pod)
        if minor_of(kubernetes) < _PORTS_STAY:
            _open_on_host(pod)
    return template


def fill_pod(pod: dict[str, Any], kubernetes: str = "") -> None:
    """The spec of a pod itself, in place: it has to be a fresh copy.

    Fields of the wrong type are left alone: the API server takes no such object.
    """
    _fill(pod, _tree(minor_of(kubernetes), alone=True))
    _fill_by_rule(pod)
    for field in _REQUESTING:
        for container in mappings(pod.get(field)):
            _fill_requests(container["resources"])
    _open_on_host(pod)


@lru_cache(maxsize=32)
def _tree(minor: int, *, alone: bool) -> Tree:
    """What is always the same, as a tree of fields; `alone` also what only pods get."""
    tree: Tree = {}
    types = kubernetes_types(minor)
    for path, value in pod_values().items():
        if value is None or "emptyDir" in path or (is_of_pods_alone(path) and not alone):
            continue
        struct, code = _POD_SPEC, ""
        for step in path:
            if step != ITEM:
                code = types.fields(struct).get(step, "")
                struct = named_struct(code) or struct
            if not code:
                break
        if code:
            branch = tree
            for step in path[:-1]:
                branch = branch.setdefault(step, {})
            branch[path[-1]] = _Default(value=value, zero=has_zero(code))
    return tree


def _fill(node: Any, tree: Tree) -> None:
    if isinstance(node, list):
        for item in node:
            _fill(item, tree.get(ITEM, {}))
    elif isinstance(node, dict):
        for key, below in tree.items():
            found = node.get(key)
            if not isinstance(below, _Default):
                _fill(found, below)
            elif below.is_missing(found):
                node[key] = copied(below.value)


def _fill_by_rule(pod: dict[str, Any]) -> None:
    """What depends on other fields of the pod."""
    account = word(pod.get("serviceAccountName")) or word(pod.get("serviceAccount"))
    if account:
        pod["serviceAccountName"] = pod["serviceAccount"] = account
    for volume in mappings(pod.get("volumes")):
        if all(volume[key] is None for key in volume if key != "name"):
            volume["emptyDir"] = {}
        _fill_policy(volume.get("image"), "pullPolicy", "reference")
    for field in CONTAINER_FIELDS:
        for container in mappings(pod.get(field)):
            _fill_policy(container, "imagePullPolicy", "image")
            if container.get("resources") is None:
                container["resources"] = {}


def _fill_policy(holder: Any, field: str, image: str) -> None:
    if isinstance(holder, dict) and not holder.get(field):
        holder[field] = pull_policy(word(holder.get(image)))


def _fill_requests(resources: Any) -> None:
    """What is limited and not requested, is requested as much."""
    limits = mapping(resources).get("limits")
    if not isinstance(limits, dict) or not limits:
        return
    requests = resources.get("requests")
    if requests is None:
        requests = resources["requests"] = {}
    if isinstance(requests, dict):
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def _open_on_host(pod: dict[str, Any]) -> None:
    """In the host's network a port of the container is one of the host."""
    if pod.get("hostNetwork") is not True:
        return
    for field in _REQUESTING:
        for container in mappings(pod.get(field)):
            for port in mappings(container.get("ports")):
                if not port.get("hostPort") and isinstance(port.get("containerPort"), int):
                    port["hostPort"] = port["containerPort"]


_HUB, _LIBRARY = "docker.io", "library/"
_LONGEST_PATH = 255
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = pattern(
    rf"{_HOST}/(?P<path>{_PART}(?:/{_PART})*)(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>\w+:[0-9a-f]+))?",
    re.ASCII,
)
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}
_IDENTIFIER = pattern(r"[a-f0-9]{64}")


def pull_policy(image: str) -> str:
    """Of a container, or a volume, that says none: `Always` for the tag `latest`, also where a digest stands behind it,
    and where there is no tag and no digest. A name that the server can't read has no tag to it."""
    return "Always" if _tag(image) == "latest" else "IfNotPresent"


def _tag(image: str) -> str:
    if _IDENTIFIER.fullmatch(image):
        return ""
    host, slash, rest = image.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost" or host.lower() != host):
        host, rest = _HUB, image
    if host == _HUB and "/" not in rest:
        rest = _LIBRARY + rest
    found = _IMAGE.fullmatch(f"{host}/{rest}")
    if found is None or len(found["path"]) > _LONGEST_PATH or not _is_digest(found["digest"]):
        return ""
    return found["tag"] or ("" if found["digest"] else "latest")


def _is_digest(digest: str | None) -> bool:
    algorithm, _, encoded = (digest or "").partition(":")
    return digest is None or len(encoded) == _DIGESTS.get(algorithm)
