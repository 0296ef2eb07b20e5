"""`replacements` of a kustomization: a value of one object put into others.

Source: kustomize api/filters/replacement.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from poolsmith.repository.delivered import Delivered, Layer, Unknown, delivered
from poolsmith.repository.kustomize.names import PREVIOUS
from poolsmith.repository.kustomize.patches import selects
from poolsmith.sources.nested import copied
from poolsmith.sources.pod_template import mapping, mappings, word, words
from poolsmith.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.repository.kustomize.fields import Place
    from poolsmith.repository.repository_files import RepositoryFiles

_STEP = re.compile(r"((?:[^.\\\[]|\\.)+|\[[^\]]*\])\.?")


def replaced(
    objects: list[Delivered],
    data: Mapping[str, Any],
    place: Place,
    files: RepositoryFiles,
    folder: str,
    unknown: list[Unknown],
) -> list[Delivered]:
    """The objects with the replacements done; one that can't be done is unknown."""
    listed = data.get("replacements")
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        for replacement in _entries(entry, files, folder):
            try:
                objects = _done(objects, replacement, place, f"/replacements/{index}")
            except LookupError as error:
                unknown.append(Unknown(place.locate(f"/replacements/{index}"), f"what a replacement brings: {error}"))
    return objects


def _entries(entry: Any, files: RepositoryFiles, folder: str) -> Iterator[Mapping[str, Any]]:
    path = mapping(entry).get("path")
    if not isinstance(path, str):
        yield mapping(entry)
        return
    for document in files.documents(posixpath.normpath(posixpath.join(folder, path))):
        yield from mappings(document.data if isinstance(document.data, list) else [document.data])


def _done(objects: list[Delivered], replacement: Mapping[str, Any], place: Place, pointer: str) -> list[Delivered]:
    source = mapping(replacement.get("source"))
    if "sourceValue" in replacement:
        value: Any = replacement["sourceValue"]
        origin: Layer | None = None
    else:
        value, origin = _source_value(objects, source)
    result = list(objects)
    for target in mappings(replacement.get("targets")):
        options = mapping(target.get("options"))
        for at, item in enumerate(result):
            if not _selects(mapping(target.get("select")), item) or any(
                _selects(reject, item) for reject in mappings(target.get("reject"))
            ):
                continue
            for path in words(target.get("fieldPaths")) or ("metadata.name",):
                body = copied(item.data)
                put = list(_put(body, _steps(path), value, options, ""))
                if not put:
                    if options.get("create"):
                        continue
                    raise LookupError(f"`{path[:60]}` is not in {item.name}")
                layers = tuple(
                    Layer(
                        origin.source if origin else place.source,
                        new,
                        origin.pointer if origin else place.pointer(pointer),
                        where,
                    )
                    for where, new in put
                )
                item = result[at] = delivered(item, body, layers)  # noqa: PLW2901 - the next path is put on it
    return result


def _source_value(objects: list[Delivered], source: Mapping[str, Any]) -> tuple[Any, Layer]:
    found = [item for item in objects if _selects(source, item)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} objects are its source")
    path = word(source.get("fieldPath")) or "metadata.name"
    node: Any = found[0].data
    pointer = ""
    for step in _steps(path):
        key = _key(node, step)
        if key is None:
            raise LookupError(f"`{path[:60]}` is not in {found[0].name}")
        node, pointer = node[key], join(pointer, key)
    options = mapping(source.get("options"))
    if delimiter := word(options.get("delimiter")):
        parts, index = str(node).split(delimiter), options.get("index", 0)
        if not isinstance(index, int) or not 0 <= index < len(parts):
            raise LookupError("its index is out of bounds")
        node = parts[index]
    return node, Layer(found[0].source, node, pointer)


def _selects(selector: Mapping[str, Any], item: Delivered) -> bool:
    plain = {key: selector[key] for key in ("group", "version", "kind", "name", "namespace") if selector.get(key)}
    present = {
        "group": (item.api_version.rpartition("/")[0],),
        "version": (item.api_version.rpartition("/")[2],),
        "kind": (item.kind,),
        "name": (item.metadata.get("name"), *item.metadata.get(PREVIOUS, ())),
        "namespace": (item.metadata.get("namespace"),),
    }
    rest = {key: selector[key] for key in ("labelSelector", "annotationSelector") if selector.get(key)}
    return all(value in present[key] for key, value in plain.items()) and selects(rest, item)


def _steps(path: str) -> list[str]:
    return [match[1].replace("\\.", ".") for match in _STEP.finditer(path)]


def _key(node: Any, step: str) -> Any:
    """Key or index of a step; None where there is none. `[name=x]` chooses an item by one of its fields."""
    if isinstance(node, dict):
        return step if step in node else None
    if not isinstance(node, list):
        return None
    if step.startswith("["):
        field, _, value = step[1:-1].partition("=")
        return next((at for at, item in enumerate(node) if str(mapping(item).get(field)) == value), None)
    return int(step) if step.isdecimal() and int(step) < len(node) else None


def _put(
    node: Any, steps: list[str], value: Any, options: Mapping[str, Any], pointer: str
) -> Iterator[tuple[str, Any]]:
    """Puts the value in, and tells where."""
    step = steps[0]
    if step == "*" and isinstance(node, list):
        keys: list[Any] = list(range(len(node)))
    else:
        key = _key(node, step)
        if key is None and options.get("create") and isinstance(node, dict) and not step.startswith("["):
            node[step] = {} if len(steps) > 1 else None
            key = step
        keys = [] if key is None else [key]
    for key in keys:
        where = join(pointer, key)
        if len(steps) > 1:
            yield from _put(node[key], steps[1:], value, options, where)
            continue
        node[key] = _part(node[key], value, options)
        yield where, node[key]


def _part(old: Any, value: Any, options: Mapping[str, Any]) -> Any:
    delimiter = word(options.get("delimiter"))
    if not delimiter:
        return copied(value)
    parts, index = str(old).split(delimiter), options.get("index", 0)
    if isinstance(index, int) and 0 <= index < len(parts):
        parts[index] = str(value)
    elif isinstance(index, int):
        parts = [str(value), *parts] if index < 0 else [*parts, str(value)]
    return delimiter.join(parts)
