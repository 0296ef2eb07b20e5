"""`images` of a kustomization.

Source: kustomize api/filters/imagetag and api/internal/image.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.delivered import Layer
from poolsmith.kubernetes.repository.kustomize.field_specs import changed
from poolsmith.kubernetes.repository.kustomize.item import Item, RefusedError

if TYPE_CHECKING:
    from poolsmith.kubernetes.repository.kustomize.field_specs import FieldSpec
    from poolsmith.kubernetes.repository.kustomize.fields import Place

_LISTS = ("containers", "initContainers")
_TAG = r"(?::[a-zA-Z0-9_.{}-]*)?"
_DIGEST = r"(?:@sha256:[a-zA-Z0-9_.{}-]*)?"
_PLAIN = re.compile(r"[\w./:@-]*")
_ENDS = re.compile(rf"{_TAG}{_DIGEST}")


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
    from poolsmith.kubernetes.repository.kustomize.expression import matches  # on demand

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
