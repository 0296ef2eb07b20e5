"""What a kustomization changes of the objects that it takes in, in kustomize's order, its `images` included.

Source: kustomize api/internal/target/kusttarget_configplugin.go and api/internal/builtins.

Source: kustomize api/filters/imagetag and api/internal/image.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.delivered import Layer, Unknown
from poolsmith.kubernetes.repository.kustomize.field_specs import (
    FieldSpec,
    around,
    changed,
    merged,
    specs_in,
    with_entries,
    with_text,
)
from poolsmith.kubernetes.repository.kustomize.item import Item, RefusedError, is_cluster_scoped, text_of
from poolsmith.kubernetes.repository.kustomize.kustomization_file import MissingError
from poolsmith.kubernetes.repository.kustomize.patches import operated, patched, patched_strategically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.kustomize.item import Identity
    from poolsmith.kubernetes.repository.kustomize.kustomization_file import FolderFiles, Place
    from poolsmith.kubernetes.repository.kustomize.transformer_config import TransformerConfig


_LISTS = ("containers", "initContainers")
_TAG = r"(?::[a-zA-Z0-9_.{}-]*)?"
_DIGEST = r"(?:@sha256:[a-zA-Z0-9_.{}-]*)?"
_PLAIN = pattern(r"[\w./:@-]*")
_ENDS = pattern(rf"{_TAG}{_DIGEST}")


def with_images(items: list[Item], entry: Any, specs: tuple[FieldSpec, ...], place: Place, pointer: str) -> list[Item]:
    """The items with one entry of `images` put on all their images. Raises RefusedError."""
    return [_with_image(item, entry, specs, place, pointer) for item in items]


def _with_image(item: Item, entry: Any, specs: tuple[FieldSpec, ...], place: Place, pointer: str) -> Item:
    fields = mapping(entry)
    for key in ("name", "newName", "newTag", "digest", "tagSuffix"):
        if not isinstance(fields.get(key, ""), str):
            raise RefusedError(f"`{key}` of an image is no text")
    if item.object.kind == "CustomResourceDefinition":
        return item
    layers: list[Layer] = []

    def change(image: Any, at: str) -> Any:
        if isinstance(image, (dict, list)):
            raise RefusedError("there is no plain value where an image is put")
        if not isinstance(image, str) or not is_matched(image, fields.get("name", "")):
            return image
        new = _changed_image(image, fields)
        layers.append(Layer(place.source, new, place.pointer(pointer), at))
        return image if new == image else new

    body = _everywhere(item.data, change, "")
    body = changed(body, specs, item.identity, change)
    return item.changed(body, tuple(layers))


def _everywhere(node: Any, change: Any, pointer: str) -> Any:
    """In every list of containers, wherever it stands."""
    if isinstance(node, dict):
        put: dict[str, Any] = {}
        for key, value in node.items():
            if not isinstance(value, (dict, list)):
                continue
            at = join(pointer, key)
            new = _everywhere(value, change, at)
            if key in _LISTS and isinstance(new, list):
                new = _in_containers(new, change, at)
            if new is not value:
                put[key] = new
        return {**node, **put} if put else node
    if isinstance(node, list):
        items = [_everywhere(item, change, join(pointer, at)) for at, item in enumerate(node)]
        return node if all(new is old for new, old in zip(items, node, strict=True)) else items
    return node


def _in_containers(containers: list[Any], change: Any, pointer: str) -> list[Any]:
    result = list(containers)
    for at, container in enumerate(containers):
        if isinstance(container, dict) and "image" in container:
            new = change(container["image"], join(pointer, at, "image"))
            if new is not container["image"]:
                result[at] = {**container, "image": new}
    return containers if all(new is old for new, old in zip(result, containers, strict=True)) else result


def is_matched(image: str, name: str) -> bool:
    """The name is an expression, which a tag and a digest may follow."""
    if image == name:
        return True
    if _PLAIN.fullmatch(name):
        return _plain(name).fullmatch(image) is not None
    from poolsmith.kubernetes.repository.kustomize.targets import matches  # on demand

    ends = {len(image), image.find("@sha256:"), *(found.start() for found in re.finditer(":", image))}
    return any(end >= 0 and _ENDS.fullmatch(image[end:]) and matches(name, image[:end]) for end in ends)


def _plain(name: str) -> re.Pattern[str]:
    return re.compile(re.escape(name).replace(r"\.", ".") + _TAG + _DIGEST)


def _changed_image(image: str, fields: Any) -> str:
    name, tag, digest = _split(image)
    name = fields.get("newName") or name
    new_tag, new_digest = fields.get("newTag", ""), fields.get("digest", "")
    if new_tag or new_digest:
        tag, digest = new_tag, new_digest
    elif fields.get("tagSuffix"):
        tag, digest = f"{tag}{fields['tagSuffix']}", ""
    return name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")


def _split(image: str) -> tuple[str, str, str]:
    """Name, tag and digest; a port of the registry is none of them."""
    slash = max(image.find("/"), 0)
    sign, colon = image.find("@", slash), image.find(":", slash)
    if sign >= 0 and (colon < 0 or sign < colon):
        return image[:sign], "", image[sign + 1 :]
    if colon < 0:
        return image, "", ""
    if sign >= 0:
        return image[:colon], image[colon + 1 : sign], image[sign + 1 :]
    return image[:colon], image[colon + 1 :], ""


_NOT_RENAMED = (("", "CustomResourceDefinition"), ("apiregistration.k8s.io", "APIService"), ("", "Namespace"))
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


@record
class Run:
    """What the transformers of one kustomization work with. `refused` are places at which kustomize would stop."""

    place: Place
    files: FolderFiles
    config: TransformerConfig
    unknown: list[Unknown]
    refused: list[Unknown]
    is_partial: bool = False
    """Objects are missing that may be meant."""

    def tried(self, items: list[Item], pointer: str, change: Callable[[list[Item]], list[Item]]) -> list[Item]:
        """The items changed, or as they are where that can't be done or can't be known."""
        try:
            return change(items)
        except RefusedError as error:
            told = stopped(self.place, pointer, error)
            if self.is_partial:
                told = Unknown(told.place, f"what comes of this: {error}, among the objects that are known")
            else:
                self.refused.append(told)
        except MissingError as error:
            told = Unknown(self.place.locate(pointer), f"what follows from {error}")
        self.unknown.append(told)
        return items


def stopped(place: Place, pointer: str, why: object) -> Unknown:
    """A place at which kustomize prints an error and nothing else; of a whole document where it begins."""
    first = next(iter(mapping(place.source.data)), "")
    return halted(place.locate(pointer or (f"/{first}" if first else "")), why)


def halted(where: Location, why: object) -> Unknown:
    return Unknown(where, f"what kustomize makes of this, because it stops here: {why}")


def transformed(items: list[Item], data: Mapping[str, Any], run: Run) -> list[Item]:
    """All transformers that have a field of their own."""
    place, files, config = run.place, run.files, run.config
    for pointer, entry in _entries(data, "patchesStrategicMerge"):
        change = partial(patched_strategically, entry=entry, place=place, pointer=pointer, files=files)
        items = run.tried(items, pointer, change)
    for pointer, entry in _entries(data, "patches"):
        items = run.tried(items, pointer, partial(patched, entry=entry, place=place, pointer=pointer, files=files))
    if namespace := text_of(data.get("namespace")):
        change = partial(in_namespace, namespace=namespace, specs=config.namespace, place=place)
        items = run.tried(items, "/namespace", change)
    for field, specs in (("namePrefix", config.name_prefix), ("nameSuffix", config.name_suffix)):
        if text := text_of(data.get(field)):
            items = run.tried(items, f"/{field}", partial(renamed, field=field, text=text, specs=specs))
    items = _labelled(items, data, run)
    pointer = "/commonAnnotations"
    if pairs := mapping(data.get("commonAnnotations")):
        change = partial(marked, pairs=pairs, specs=config.common_annotations, place=place, pointer=pointer)
        items = run.tried(items, pointer, change)
    for pointer, entry in _entries(data, "patchesJson6902"):
        change = partial(operated, entry=entry, place=place, pointer=pointer, files=files, key="patch")
        items = run.tried(items, pointer, change)
    for pointer, entry in _entries(data, "replicas"):
        change = partial(replicated, entry=entry, specs=config.replicas, place=place, pointer=pointer)
        items = run.tried(items, pointer, change)
    for field in ("images", "imageTags"):
        for pointer, entry in _entries(data, field):
            change = partial(with_images, entry=entry, specs=config.images, place=place, pointer=pointer)
            items = run.tried(items, pointer, change)
    if data.get("replacements"):
        from poolsmith.kubernetes.repository.kustomize.replacements import Standing  # on demand

        standing = Standing(items)
        for pointer, entry in _entries(data, "replacements"):
            change = partial(standing.replaced, entry=entry, place=place, pointer=pointer, files=files)
            items = run.tried(standing.items, pointer, change)
    return items


def _entries(data: Mapping[str, Any], field: str) -> Iterable[tuple[str, Any]]:
    listed = data.get(field)
    return [(f"/{field}/{index}", entry) for index, entry in enumerate(listed if isinstance(listed, list) else ())]


def put(
    item: Item,
    specs: Iterable[FieldSpec],
    change: Any,
    place: Place,
    pointer: str,
    value: Any,
    leaf: Any = None,
    identity: Identity | None = None,
) -> Item:
    """The item with fields changed; `value` is what stands at `pointer` and decides them."""
    where: list[str] = []

    def noted(node: Any, at: str) -> Any:
        new = change(node, at)
        if new is not node:
            where.append(at)
        return new

    body = changed(item.data, specs, identity or item.identity, noted, leaf)
    layers = tuple(Layer(place.source, value, place.pointer(pointer), at) for at in where)
    return item.changed(body, layers)


def in_namespace(
    items: list[Item],
    namespace: str,
    specs: tuple[FieldSpec, ...],
    place: Place,
    *,
    subjects: str = "defaultOnly",
    only_unset: bool = False,
    pointer: str = "/namespace",
) -> list[Item]:
    """All items in a namespace: objects without one, and subjects of bindings, have rules of their own."""
    result: list[Item] = []
    plain = with_text(namespace)

    def change(node: Any, at: str) -> Any:
        return node if only_unset and text_of(node) else plain(node, at)

    for old in items:
        item = old.remembered()
        own = item.identity
        if not is_cluster_scoped(own.api_version, own.kind):
            item = put(item, (FieldSpec("metadata/namespace", create=True),), change, place, pointer, namespace)
        rest = [
            spec
            for spec in specs
            if spec.path != "metadata/namespace"
            and (spec.path != "metadata/name" or own.api_version == "v1")
            and not (own.kind in _BINDINGS and spec.kind in _BINDINGS and spec.path == "subjects/namespace")
        ]
        item = put(item, rest, change, place, pointer, namespace)
        if own.kind in _BINDINGS and subjects != "none":
            item = _bound(item, change, subjects, place, pointer, namespace)
        result.append(item)
    seen: set[tuple[str, ...]] = set()
    for item in result:
        own = item.identity
        key = (*own[:4], own.place)
        if key in seen:
            raise RefusedError(f"two objects become {own.kind} `{own.name[:60]}` of the namespace `{namespace[:60]}`")
        seen.add(key)
    return result


def _bound(item: Item, change: Any, subjects: str, place: Place, pointer: str, namespace: str) -> Item:
    """With the namespace of those subjects of a binding that shall have it."""
    field, wanted = ("name", "default") if subjects == "defaultOnly" else ("kind", "ServiceAccount")
    listed = item.data.get("subjects")
    if not isinstance(listed, list):
        return item
    result, layers = list(listed), []
    for index, subject in enumerate(listed):
        if not isinstance(subject, dict) or text_of(subject.get(field)) != wanted:
            continue
        at = f"/subjects/{index}/namespace"
        new = change(subject.get("namespace"), at)
        if "namespace" not in subject or new is not subject["namespace"]:
            result[index] = {**subject, "namespace": new}
            layers.append(Layer(place.source, namespace, place.pointer(pointer), at))
    return item.changed({**item.data, "subjects": result}, tuple(layers)) if layers else item


def renamed(items: list[Item], field: str, text: str, specs: tuple[FieldSpec, ...]) -> list[Item]:
    is_prefix = field == "namePrefix"
    change = around(text, "") if is_prefix else around("", text)
    return [_renamed(item, text, change, specs, is_prefix=is_prefix) for item in items]


def _renamed(item: Item, text: str, change: Any, specs: tuple[FieldSpec, ...], *, is_prefix: bool) -> Item:
    first = item.first
    if any(kind == first.kind and group in ("", first.group) for group, kind in _NOT_RENAMED):
        return item
    for spec in specs:
        if not spec.is_for(first):
            continue
        if spec.path == "metadata/name":
            item = item.remembered()
            if is_prefix:
                item = replace(item, prefixes=(*item.prefixes, text))
            else:
                item = replace(item, suffixes=(*item.suffixes, text))
        item = item.changed(changed(item.data, (spec,), item.identity, change, None))
    return item


def _labelled(items: list[Item], data: Mapping[str, Any], run: Run) -> list[Item]:
    config = run.config
    for pointer, entry in _entries(data, "labels"):
        if not isinstance(entry, dict):
            continue
        specs = merged(tuple(specs_in(entry.get("fields"))), config.labels)
        if entry.get("includeSelectors") is True:
            specs = merged(specs, config.common_labels)
        else:
            if entry.get("includeTemplates") is True:
                specs = merged(specs, config.template_labels)
            specs = merged(specs, (FieldSpec("metadata/labels", create=True),))
        pairs, at = mapping(entry.get("pairs")), f"{pointer}/pairs"
        items = run.tried(items, pointer, partial(marked, pairs=pairs, specs=specs, place=run.place, pointer=at))
    if pairs := mapping(data.get("commonLabels")):
        specs = config.common_labels
        items = run.tried(
            items, "/commonLabels", partial(marked, pairs=pairs, specs=specs, place=run.place, pointer="/commonLabels")
        )
    return items


def marked(
    items: list[Item], pairs: Mapping[str, Any], specs: tuple[FieldSpec, ...], place: Place, pointer: str
) -> list[Item]:
    """With labels or annotations."""
    texts = {str(key): value for key, value in pairs.items()}
    if not all(isinstance(value, str) for value in texts.values()):
        raise RefusedError("a label or annotation is no text")
    if not texts:
        return items
    return [put(item, specs, with_entries(texts), place, pointer, texts, {}) for item in items]


def replicated(items: list[Item], entry: Any, specs: tuple[FieldSpec, ...], place: Place, pointer: str) -> list[Item]:
    name, count = word(mapping(entry).get("name")), mapping(entry).get("count", 0)
    if isinstance(count, bool) or not isinstance(count, int):
        raise RefusedError("`count` is no number")
    is_found = False
    result = list(items)
    for spec in specs:
        for at, item in enumerate(result):
            if any(own.name == name and spec.is_for(own) for own in item.identities):
                is_found = True
                result[at] = put(item, (spec,), lambda _node, _at: count, place, f"{pointer}/count", count)
    if not is_found:
        raise RefusedError(f"nothing that has replicas is named `{name[:60]}`")
    return result
