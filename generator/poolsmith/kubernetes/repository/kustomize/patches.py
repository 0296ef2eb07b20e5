"""Patches of a kustomization applied to their targets, and JSON patches (RFC 6902) as kustomize applies them.

Of each JSON patch operation it is known which place of an object it decides.

Source: kustomize api/internal/builtins (PatchTransformer, PatchStrategicMergeTransformer, PatchJson6902Transformer).

Source: gopkg.in/evanphx/json-patch.v4: `replace` of a key that is not there adds it, and what stands before the first
slash of a path counts for nothing.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import copied, join, split
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.delivered import Layer
from poolsmith.kubernetes.repository.kustomize.item import (
    Item,
    RefusedError,
    has_old_words,
    identity_of,
    text_of,
    texts_of,
)
from poolsmith.kubernetes.repository.kustomize.strategic_merge import merge
from poolsmith.kubernetes.repository.kustomize.targets import selects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.kustomize.kustomization_file import FolderFiles, Place


_INDEX = pattern(r"[+-]?[0-9]{1,9}")
_GONE: Any = object()


@record(kw_only=False)
class Operation:
    """What the operation with `index` puts at a place of the object; `field` holds the value."""

    index: int
    at: str
    value: Any
    field: str = "value"


def apply(base: Any, operations: list[Any]) -> tuple[Any, list[Operation]]:
    """A changed copy of `base`, and what was put where. Raises RefusedError."""
    result = copied(base)
    put: list[Operation] = []
    for index, operation in enumerate(operations):
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise RefusedError("an operation has no path")
        put += _done(result, index, operation)
    return result, put


def _done(document: Any, index: int, operation: dict[str, Any]) -> Iterator[Operation]:
    path, kind = operation["path"], operation.get("op")
    if kind in ("move", "copy"):
        source = operation.get("from")
        if not isinstance(source, str):
            raise RefusedError(f"`{kind}` has no `from`")
        parent, key, _ = _found(document, source)
        value = _get(parent, key)
        if kind == "move":
            _remove(parent, key)
        value = None if value is _GONE else copied(value)
        yield Operation(index, _add(*_found(document, path), value), value, "path")
    elif kind == "add":
        value = copied(operation.get("value"))
        yield Operation(index, _add(*_found(document, path), value), value)
    elif kind == "replace":
        value = copied(operation.get("value"))
        yield Operation(index, _replace(document, path, value), value)
    elif kind == "remove":
        parent, key, _ = _found(document, path)
        _remove(parent, key)
    elif kind == "test":
        parent, key, _ = _found(document, path)
        value = _get(parent, key)
        if (None if value is _GONE else value) != operation.get("value"):
            raise RefusedError(f"`test` at {path[:60]} fails")
    else:
        raise RefusedError(f"`{str(kind)[:20]}` is no operation")


def _found(document: Any, path: str) -> tuple[Any, str, str]:
    """What holds the end of a path, the key or index in it, and the pointer to what holds it."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
    if len(steps) == 1:
        raise RefusedError(f"`{path[:60]}` is no path of an operation")
    node, at = document, ""
    for step in steps[1:-1]:
        index = _index(node, step) if isinstance(node, list) else None
        node = _get(node, step)
        if not isinstance(node, (dict, list)):
            raise RefusedError(f"there is no {path[:60]}")
        at = join(at, step if index is None else index)
    return node, steps[-1], at


def _index(items: list[Any], step: str, *, more: int = 0) -> int:
    """Negative ones count from the end. `more` may be added there."""
    if not _INDEX.fullmatch(step):
        raise RefusedError(f"`{step[:60]}` is no index of a list")
    index = int(step)
    size = len(items) + more
    if not -size <= index < size:
        raise RefusedError(f"the index {step[:60]} is out of bounds")
    return index + size if index < 0 else index


def _get(node: Any, step: str) -> Any:
    return node[_index(node, step)] if isinstance(node, list) else node.get(step, _GONE)


def _add(parent: Any, step: str, at: str, value: Any) -> str:
    if isinstance(parent, dict):
        parent[step] = value
        return join(at, step)
    index = len(parent) if step == "-" else _index(parent, step, more=1)
    parent.insert(index, value)
    return join(at, index)


def _replace(document: Any, path: str, value: Any) -> str:
    if not path:
        if not isinstance(value, dict):
            raise RefusedError("an object is replaced by none")
        document.clear()
        document.update(value)
        return ""
    parent, step, at = _found(document, path)
    if isinstance(parent, dict):
        parent[step] = value
        return join(at, step)
    index = _index(parent, step)
    parent[index] = value
    return join(at, index)


def _remove(parent: Any, step: str) -> None:
    if isinstance(parent, list):
        del parent[_index(parent, step)]
    elif step not in parent:
        raise RefusedError(f"there is no `{step[:60]}` to remove")
    else:
        del parent[step]


@record(kw_only=False)
class _Patch:
    """One document of a patch: a fragment of an object, or a list of operations."""

    data: Any
    source: SourceFile


def patched(items: list[Item], entry: Any, place: Place, pointer: str, files: FolderFiles) -> list[Item]:
    """One entry of `patches` put on the items. Raises RefusedError, and MissingError where its file is not there."""
    if not isinstance(entry, dict):
        raise RefusedError("an entry of `patches` is no mapping")
    text, path = word(entry.get("patch")).strip(), word(entry.get("path"))
    if bool(text) == bool(path):
        raise RefusedError("a patch needs either `patch` or `path`")
    documents = _inline(word(entry.get("patch")), place, f"{pointer}/patch") if text else _of_file(path, files)
    target = entry.get("target")
    operations = [patch for patch in documents if isinstance(patch.data, list)]
    if operations:
        if not isinstance(target, dict):
            raise RefusedError("a patch of operations needs a target")
        return _operated(items, operations[:1], target)
    if isinstance(target, dict) and len(documents) > 1:
        raise RefusedError("several patches in one text can't have a target")
    options = mapping(entry.get("options"))
    for patch in documents:
        items = _merged(items, patch, target, options)
    return items


def patched_strategically(items: list[Item], entry: Any, place: Place, pointer: str, files: FolderFiles) -> list[Item]:
    """One entry of `patchesStrategicMerge`: a file, or the patch itself."""
    if not isinstance(entry, str):
        raise RefusedError("an entry of `patchesStrategicMerge` is no text")
    is_inline = "\n" in entry or entry.lstrip().startswith("{") or ": " in entry
    for patch in _inline(entry, place, pointer) if is_inline else _of_file(entry, files):
        if not isinstance(patch.data, dict):
            raise RefusedError("a strategic merge patch is no mapping")
        items = _merged(items, patch, None, {})
    return items


def operated(items: list[Item], entry: Any, place: Place, pointer: str, files: FolderFiles, key: str) -> list[Item]:
    """One entry of `patchesJson6902`; the text stands in the field `key`."""
    target = mapping(mapping(entry).get("target"))
    if not target.get("name"):
        raise RefusedError("a patch of `patchesJson6902` needs the name of its target")
    text, path = word(mapping(entry).get(key)), word(mapping(entry).get("path"))
    if bool(text) == bool(path):
        raise RefusedError(f"a patch needs either `{key}` or `path`")
    documents = _inline(text, place, f"{pointer}/{key}") if text else _of_file(path, files)
    if not documents or not isinstance(documents[0].data, list):
        raise RefusedError("a JSON patch is no list of operations")
    return _operated(items, documents[:1], target, remember=False)


def _inline(text: str, place: Place, at: str) -> list[_Patch]:
    try:
        documents = read_documents(text, [])
    except YamlProblem as problem:
        raise RefusedError(f"a patch is no YAML: {problem.message[:80]}") from None
    found = [
        _Patch(data, InnerText(place.source, place.pointer(at), text, data, document=index))
        for index, data in enumerate(documents)
        if data not in (None, {})
    ]
    return _checked(found, text)


def _of_file(path: str, files: FolderFiles) -> list[_Patch]:
    documents = files.documents(path)
    return _checked([_Patch(document.data, document.source) for document in documents], documents[0].text)


def _checked(found: list[_Patch], text: str) -> list[_Patch]:
    if text.startswith("["):
        try:
            json.loads(text)
        except ValueError:
            raise RefusedError("what begins with a bracket has to be JSON") from None
    if has_old_words(text):
        texts = [
            patch if isinstance(patch.data, list) else _Patch(texts_of(patch.data, patch.source), patch.source)
            for patch in found
        ]
        found = texts
    for patch in found:
        if isinstance(patch.data, list):
            continue
        metadata = mapping(mapping(patch.data).get("metadata"))
        if not isinstance(patch.data, dict) or not patch.data.get("kind") or not metadata.get("name"):
            raise RefusedError("a patch has no kind, or no name in its metadata")
    return found


def _merged(items: list[Item], patch: _Patch, target: Any, options: Mapping[str, Any]) -> list[Item]:
    if isinstance(target, dict):
        chosen = {at for at, item in enumerate(items) if selects(target, item)}
    else:
        wanted = identity_of(patch.data)
        chosen = {at for at, item in enumerate(items) if any(wanted.is_same(own) for own in item.identities)}
        if len(chosen) != 1:
            what = "no object" if not chosen else "more than one object"
            raise RefusedError(f"the patch of {wanted.kind} `{wanted.name[:60]}` is for {what}")
    result = [_merged_item(item, patch, options) if at in chosen else item for at, item in enumerate(items)]
    return [item for item in result if item is not None]


def _merged_item(item: Item, patch: _Patch, options: Mapping[str, Any]) -> Item | None:
    """None: the patch deletes the object."""
    names, kinds = options.get("allowNameChange") is True, options.get("allowKindChange") is True
    if names or kinds:
        item = item.remembered()
    base = item.data
    change = {**patch.data, "apiVersion": base.get("apiVersion")}
    body = merge(base, change, lambda pointer: _is_written(item, pointer))
    if not body:
        return None
    if not kinds:
        body["kind"] = base.get("kind")
    metadata = dict(mapping(body.get("metadata")))
    own = mapping(base.get("metadata"))
    for key in ("namespace",) if names else ("name", "namespace"):
        if key in own:
            metadata[key] = own[key]
        else:
            metadata.pop(key, None)
    body["metadata"] = metadata
    return item.changed(body, (Layer(patch.source, patch.data),))


def _is_written(item: Item, pointer: str) -> bool:
    """Whether a null is a word: where no such key ends its line, nobody has to look for the one that is meant."""
    key = re.escape(split(pointer)[-1])
    if not re.search(rf"{key}[\"']?[ \t]*:[ \t]*(?:[#,}}\]]|\r?$)", item.object.text, re.MULTILINE):
        return True
    return item.object.source.written(pointer) != ""


def _operated(
    items: list[Item], patches: list[_Patch], target: Mapping[str, Any], *, remember: bool = True
) -> list[Item]:
    result: list[Item] = []
    for item in items:
        if not selects(target, item):
            result.append(item)
            continue
        changed = item.remembered() if remember else item
        for patch in patches:
            body, put = apply(changed.data, _read_ones(patch.data, changed.data))
            layers = tuple(Layer(patch.source, one.value, f"/{one.index}/{one.field}", one.at) for one in put)
            changed = changed.changed(_with_texts(body), layers)
        result.append(changed)
    return result


def _read_ones(operations: list[Any], body: Any) -> list[Any]:
    """What reaches into the schemas of a definition of which none was read does nothing."""
    versions = mappings(mapping(mapping(body).get("spec")).get("versions"))
    if mapping(body).get("kind") != _DEFINITION or any("schema" in version for version in versions):
        return operations
    nothing = {"op": "test", "path": "/kind", "value": _DEFINITION}
    return [nothing if _INTO_SCHEMAS.match(word(mapping(item).get("path"))) else item for item in operations]


_DEFINITION = "CustomResourceDefinition"
_INTO_SCHEMAS = pattern(r"/spec/(?:versions/[^/]+/schema|validation)/")


def _with_texts(body: Any) -> Any:
    """After operations annotations are texts; a number among them is as JSON has it."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    annotations = mapping(metadata).get("annotations")
    if isinstance(annotations, dict) and isinstance(metadata, dict):
        metadata["annotations"] = {key: text_of(value) for key, value in annotations.items()}
    return body
