"""What a kustomization changes of the objects that it takes in, in kustomize's order.

Source: kustomize api/internal/target/kusttarget_configplugin.go: patches, namespace, prefix, suffix, labels,
annotations, patches of the older field, replicas, images, replacements.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.repository.delivered import Delivered, Layer, Unknown, delivered
from poolsmith.repository.kustomize.names import CLUSTER_SCOPED, PREVIOUS
from poolsmith.repository.kustomize.patches import patched
from poolsmith.repository.kustomize.replacements import replaced
from poolsmith.sources.nested import copied
from poolsmith.sources.pod_template import mapping, mappings, pod_template_pointer, word
from poolsmith.sources.pointer import join, split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poolsmith.repository.kustomize.fields import Place
    from poolsmith.repository.repository_files import RepositoryFiles

_NOT_RENAMED = frozenset(("CustomResourceDefinition", "APIService", "Namespace"))
_SELECTED = {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"}
_REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
_IMAGE = re.compile(r"(?P<name>.*?)(?::(?P<tag>[A-Za-z0-9_.-]{1,128}))?(?:@(?P<digest>.+))?")


def transformed(
    objects: list[Delivered],
    data: Mapping[str, Any],
    place: Place,
    files: RepositoryFiles,
    folder: str,
    unknown: list[Unknown],
) -> list[Delivered]:
    """The objects as they are afterwards; those that change are new ones."""
    result = patched(objects, data, place, files, folder, unknown, ("patchesStrategicMerge", "patches"))
    if namespace := word(data.get("namespace")):
        layer = _scalar(place, "/namespace", "/metadata/namespace", namespace)
        result = [_in_namespace(item, namespace, layer) for item in result]
    prefix, suffix = word(data.get("namePrefix")), word(data.get("nameSuffix"))
    if prefix or suffix:
        result = [_renamed(item, prefix, suffix) for item in result]
    result = _labelled(result, data, place)
    annotations = mapping(data.get("commonAnnotations"))
    if annotations:
        result = [_annotated(item, annotations, place) for item in result]
    result = patched(result, data, place, files, folder, unknown, ("patchesJson6902",))
    for index, entry in enumerate(mappings(data.get("replicas"))):
        result = [_replicated(item, entry, place, f"/replicas/{index}/count") for item in result]
    images = list(mappings(data.get("images")))
    if images:
        result = [_with_images(item, images, place) for item in result]
    return replaced(result, data, place, files, folder, unknown)


def _scalar(place: Place, pointer: str, at: str, value: Any) -> Layer:
    return Layer(place.source, value, place.pointer(pointer), at)


def _changed(item: Delivered, change: Callable[[dict[str, Any]], None], layers: tuple[Layer, ...] = ()) -> Delivered:
    body = copied(item.data)
    change(body)
    return delivered(item, body, layers) if body != item.data else item


def _in_namespace(item: Delivered, namespace: str, layer: Layer) -> Delivered:
    def change(body: dict[str, Any]) -> None:
        metadata = body.setdefault("metadata", {})
        if body.get("kind") == "Namespace":
            return
        if isinstance(metadata, dict) and body.get("kind") not in CLUSTER_SCOPED:
            metadata["namespace"] = namespace
        if body.get("kind") in ("RoleBinding", "ClusterRoleBinding"):
            for subject in mappings(body.get("subjects")):
                if subject.get("kind") == "ServiceAccount" and subject.get("name") == "default":
                    subject["namespace"] = namespace

    return _changed(item, change, (layer,))


def _renamed(item: Delivered, prefix: str, suffix: str) -> Delivered:
    if item.kind in _NOT_RENAMED:
        return item

    def change(body: dict[str, Any]) -> None:
        metadata = body.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
            metadata[PREVIOUS] = [*metadata.get(PREVIOUS, ()), metadata["name"]]
            metadata["name"] = f"{prefix}{metadata['name']}{suffix}"

    return _changed(item, change)


def _labelled(objects: list[Delivered], data: Mapping[str, Any], place: Place) -> list[Delivered]:
    entries = [(entry, f"/labels/{index}/pairs") for index, entry in enumerate(mappings(data.get("labels")))]
    if isinstance(data.get("commonLabels"), dict):
        everywhere = {"pairs": data["commonLabels"], "includeSelectors": True}
        entries.append((everywhere, "/commonLabels"))
    for entry, pointer in entries:
        pairs = mapping(entry.get("pairs"))
        selectors = entry.get("includeSelectors") is True
        templates = selectors or entry.get("includeTemplates") is True
        layer = _scalar(place, pointer, "/metadata/labels", dict(pairs))
        objects = [_with_labels(item, pairs, layer, selectors=selectors, templates=templates) for item in objects]
    return objects


def _with_labels(
    item: Delivered, pairs: Mapping[str, Any], layer: Layer, *, selectors: bool, templates: bool
) -> Delivered:
    def change(body: dict[str, Any]) -> None:
        _put(body, "/metadata/labels", pairs)
        template = pod_template_pointer(body)
        if templates and template and body.get("kind") != "Pod":
            _put(body, f"{template}/metadata/labels", pairs)
        if selectors:
            if body.get("kind") in _SELECTED:
                _put(body, "/spec/selector/matchLabels", pairs)
            elif body.get("kind") == "Service" and mapping(body.get("spec")).get("selector"):
                _put(body, "/spec/selector", pairs)

    return _changed(item, change, (layer,))


def _annotated(item: Delivered, pairs: Mapping[str, Any], place: Place) -> Delivered:
    def change(body: dict[str, Any]) -> None:
        _put(body, "/metadata/annotations", pairs)
        template = pod_template_pointer(body)
        if template and body.get("kind") != "Pod":
            _put(body, f"{template}/metadata/annotations", pairs)

    layer = _scalar(place, "/commonAnnotations", "/metadata/annotations", dict(pairs))
    return _changed(item, change, (layer,))


def _put(body: dict[str, Any], pointer: str, pairs: Mapping[str, Any]) -> None:
    node: Any = body
    for step in split(pointer):
        below = node.get(step)
        if not isinstance(below, dict):
            below = node[step] = {}
        node = below
    node.update(pairs)


def _replicated(item: Delivered, entry: Mapping[str, Any], place: Place, pointer: str) -> Delivered:
    names = (item.metadata.get("name"), *item.metadata.get(PREVIOUS, ()))
    if item.kind not in _REPLICATED or entry.get("name") not in names:
        return item
    layer = _scalar(place, pointer, "/spec/replicas", entry.get("count"))
    return _changed(item, lambda body: mapping(body.get("spec")).update(replicas=entry.get("count")), (layer,))  # type: ignore[attr-defined]  # a mapping of the copy is a dict


def _with_images(item: Delivered, images: list[dict[str, Any]], place: Place) -> Delivered:
    layers: list[Layer] = []

    def change(node: Any, pointer: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("containers", "initContainers") and isinstance(value, list):
                    for index, container in enumerate(value):
                        if isinstance(container, dict) and isinstance(container.get("image"), str):
                            _set_image(container, images, place, join(pointer, key, index, "image"), layers)
                change(value, join(pointer, key))
        elif isinstance(node, list):
            for index, value in enumerate(node):
                change(value, join(pointer, index))

    body = copied(item.data)
    change(body, "")
    return delivered(item, body, tuple(layers)) if layers else item


def _set_image(
    container: dict[str, Any], images: list[dict[str, Any]], place: Place, at: str, layers: list[Layer]
) -> None:
    for index, entry in enumerate(images):
        match = _IMAGE.fullmatch(container["image"])
        if match is None or match["name"] != entry.get("name"):
            continue
        name = word(entry.get("newName")) or match["name"]
        tag, digest = entry.get("newTag"), word(entry.get("digest"))
        old = (f":{match['tag']}" if match["tag"] else "") + (f"@{match['digest']}" if match["digest"] else "")
        container["image"] = (
            name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "") if tag or digest else name + old
        )
        layers.append(_scalar(place, f"/images/{index}", at, container["image"]))
