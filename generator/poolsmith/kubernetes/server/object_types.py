"""Whether an object has the types that Kubernetes takes, in the places that say what its pods and accounts may do.

An object of anybody's making is checked before anything reads it as one of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, containers_of, mapping, mappings, pod_template_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.live.snapshot import KubernetesObject


def wrong_type_in(body: KubernetesObject) -> str:
    """The first place that is not of the type that Kubernetes takes there, of those that say what may be done."""
    metadata = body["metadata"]
    if not isinstance(metadata.get("namespace") or "", str):
        return "metadata.namespace is no text"
    places = list(_text_maps(metadata, "metadata"))
    template = pod_template_of(body)
    if template is not None:
        pod = template.get("spec")
        if not isinstance(pod, dict) or not pod.get("containers"):
            return "it has no containers"
        places += _text_maps(mapping(template.get("metadata")), "metadata of its pods")
        places += _pod_places(pod)
    if body["kind"] in ("Role", "ClusterRole"):
        places += _objects(body, "rules")
        for rule in mappings(body.get("rules")):
            places += [(key, _is_list_of(rule.get(key), str)) for key in ("apiGroups", "resources", "verbs")]
    if body["kind"] in ("RoleBinding", "ClusterRoleBinding"):
        places += [("roleRef", isinstance(body.get("roleRef"), dict)), *_objects(body, "subjects")]
    return next((f"{place} is of another type" for place, sound in places if not sound), "")


def _pod_places(pod: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    for field in (*CONTAINER_FIELDS, "volumes", "tolerations", "imagePullSecrets", "hostAliases"):
        yield from _objects(pod, field)
    yield from ((field, isinstance(pod.get(field) or {}, dict)) for field in ("securityContext", "affinity"))
    yield "nodeSelector", _is_text_map(pod.get("nodeSelector"))
    for container in containers_of(pod):
        yield "name", isinstance(container.get("name"), str)
        for field in ("env", "envFrom", "volumeMounts", "volumeDevices", "ports"):
            yield from _objects(container, field)
        for field in ("command", "args"):
            yield field, _is_list_of(container.get(field), str)
        yield from ((field, isinstance(container.get(field) or {}, dict)) for field in ("securityContext", "resources"))
        for item in mappings(container.get("env")):
            yield "env", isinstance(item.get("name"), str) and isinstance(item.get("value") or "", str)
    for volume in mappings(pod.get("volumes")):
        yield (
            "volumes",
            isinstance(volume.get("name"), str)
            and all(isinstance(source, dict) for key, source in volume.items() if key != "name"),
        )


def _objects(node: Mapping[str, Any], field: str) -> list[tuple[str, bool]]:
    return [(field, _is_list_of(node.get(field), dict))]


def _text_maps(metadata: Mapping[str, Any], place: str) -> list[tuple[str, bool]]:
    return [(f"{place}: {key}", _is_text_map(metadata.get(key))) for key in ("labels", "annotations")]


def _is_list_of(node: Any, kind: type) -> bool:
    return node is None or (isinstance(node, list) and all(isinstance(item, kind) for item in node))


def _is_text_map(node: Any) -> bool:
    return node is None or (isinstance(node, dict) and all(isinstance(value, str) for value in node.values()))
