"""`replacements` of a kustomization: a value of one object put into others.

Source: kustomize api/filters/replacement, kyaml/yaml/match.go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import copied, join
from poolsmith.core.sources.scalars import resolve_plain
from poolsmith.kubernetes.repository.delivered import Layer
from poolsmith.kubernetes.repository.kustomize.field_specs import steps_of
from poolsmith.kubernetes.repository.kustomize.item import Item, RefusedError, text_of
from poolsmith.kubernetes.repository.kustomize.kustomization_file import MissingError
from poolsmith.kubernetes.repository.kustomize.targets import is_marked, is_plain, is_source, selects_identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.kustomize.kustomization_file import FolderFiles, Place

_IDENTITY = ("group", "version", "kind", "name", "namespace")
_GONE: Any = object()
_MOST_LOOKS = 300_000


class Standing:
    """Objects in their places, found by each name that they ever had: so that many replacements end in time."""

    def __init__(self, items: list[Item]) -> None:
        self.items = list(items)
        self._looked = 0
        self._before: list[tuple[int, Item]] = []
        self._places: dict[str, dict[int, None]] = {}
        for at, item in enumerate(items):
            self._know(at, item)

    def replaced(self, items: list[Item], entry: Any, place: Place, pointer: str, files: FolderFiles) -> list[Item]:
        """All of them after one entry of `replacements`, which is done as a whole or not at all; `items` are those
        that stand here. Raises RefusedError and MissingError."""
        assert items is self.items
        before: list[tuple[int, Item]] = []
        self._before = before
        try:
            _replace(self, entry, place, pointer, files)
        except (RefusedError, MissingError):
            for at, item in reversed(before):
                items[at] = item
            raise
        return items

    def put(self, at: int, item: Item) -> None:
        self._before.append((at, self.items[at]))
        self.items[at] = item
        self._know(at, item)

    def named(self, selector: Mapping[str, Any]) -> list[int]:
        """In their order, the places of those that a selector's name can choose: all, where it may be an expression."""
        if self._looked > _MOST_LOOKS:
            raise MissingError(f"replacements that look at objects more than {_MOST_LOOKS:,} times")
        name = selector.get("name")
        is_any = not isinstance(name, str) or not name or not is_plain(name)
        found = list(range(len(self.items))) if is_any else sorted(self._places.get(str(name), ()))
        self._looked += len(found)
        return found

    def _know(self, at: int, item: Item) -> None:
        for identity in item.identities:
            self._places.setdefault(identity.name, {})[at] = None


def _replace(standing: Standing, entry: Any, place: Place, pointer: str, files: FolderFiles) -> None:
    path = mapping(entry).get("path")
    if not isinstance(path, str):
        _do(standing, mapping(entry), place.source, place.pointer(pointer))
        return
    document = files.documents(path)[0]
    is_list = isinstance(document.data, list)
    for index, replacement in enumerate(mappings(document.data if is_list else [document.data])):
        _do(standing, replacement, document.source, f"/{index}" if is_list else "")


def _do(standing: Standing, replacement: Mapping[str, Any], source: SourceFile, pointer: str) -> None:
    targets = replacement.get("targets")
    if not isinstance(targets, list) or ("sourceValue" in replacement) is isinstance(replacement.get("source"), dict):
        raise RefusedError("a replacement needs one source, and targets")
    if "sourceValue" in replacement:
        value: Any = text_of(replacement["sourceValue"])
        origin = Layer(source, value, f"{pointer}/sourceValue")
    else:
        value, origin = _source_value(standing, mapping(replacement.get("source")))
    for target in mappings(targets):
        for at in standing.named(_selection(target)):
            item = standing.items[at]
            if _is_target(target, item):
                standing.put(at, _put_into(item, target, value, origin))


def _selection(target: Mapping[str, Any]) -> Mapping[str, Any]:
    select = target.get("select")
    if not isinstance(select, dict):
        raise RefusedError("a target of a replacement selects nothing")
    return select


def _is_target(target: Mapping[str, Any], item: Item) -> bool:
    select = _selection(target)
    if not is_marked(select, item):
        return False
    identities = (item.identity, *item.previous)
    for reject in mappings(target.get("reject")):
        if (reject.get("labelSelector") or reject.get("annotationSelector")) and is_marked(reject, item):
            return False
        if any(reject.get(key) for key in _IDENTITY) and any(selects_identity(reject, one) for one in identities):
            return False
    return any(selects_identity(select, one) for one in identities)


def _put_into(item: Item, target: Mapping[str, Any], value: Any, origin: Layer) -> Item:
    options = mapping(target.get("options"))
    for path in words(target.get("fieldPaths")) or ("metadata.name",):
        put: list[tuple[str, Any]] = []
        body = _put(item.data, split_path(path), value, options, "", put)
        if not put:
            raise RefusedError(f"`{path[:60]}` is not in {item.object.name}")
        item = item.changed(body, tuple(Layer(origin.source, new, origin.pointer, where) for where, new in put))
    return item


def _source_value(standing: Standing, selector: Mapping[str, Any]) -> tuple[Any, Layer]:
    among = (standing.items[at] for at in standing.named(selector))
    found = [item for item in among if any(is_source(selector, one) for one in item.identities)]
    if len(found) != 1:
        raise RefusedError(f"{len(found) or 'no'} objects are the source of a replacement")
    path = word(selector.get("fieldPath")) or "metadata.name"
    node: Any = found[0].data
    pointer = ""
    for step in split_path(path):
        keys = _keys(node, step)
        if len(keys) != 1:
            raise RefusedError(f"`{path[:60]}` is not in {found[0].object.name}")
        node, pointer = node[keys[0]], join(pointer, keys[0])
    if node in (None, {}, []):
        raise RefusedError(f"`{path[:60]}` is empty in {found[0].object.name}")
    options = mapping(selector.get("options"))
    if delimiter := word(options.get("delimiter")):
        if isinstance(node, (dict, list)):
            raise RefusedError("only a plain value has a delimiter")
        parts, index = text_of(node).split(delimiter), options.get("index", 0)
        if not isinstance(index, int) or not 0 <= index < len(parts):
            raise RefusedError("the index of a replacement's source is out of bounds")
        node = parts[index] if isinstance(node, str) else resolve_plain(parts[index])
    return node, Layer(found[0].object.source, node, pointer)


def split_path(path: str) -> tuple[str, ...]:
    """Steps with dots between them; brackets hold dots together."""
    result: list[str] = []
    open_: list[str] = []
    for step in steps_of(path, "."):
        if not open_ and (not step.startswith("[") or step.endswith("]")):
            result.append(step)
            continue
        open_.append(step)
        if step.endswith("]"):
            whole = ".".join(open_)
            result.append(whole if "=" in whole else whole.strip("[]"))
            open_ = []
    if open_:
        result.append(".".join(open_).strip("[]"))
    return tuple(result)


def _keys(node: Any, step: str) -> list[Any]:
    """The keys or indices that a step leads to."""
    if isinstance(node, dict):
        return [step] if step in node else []
    if not isinstance(node, list):
        return []
    if step == "*":
        return list(range(len(node)))
    if step.startswith("["):
        field, _, wanted = step[1:-1].partition("=")
        return [at for at, item in enumerate(node) if _is_item(item, field, wanted)]
    return [int(step)] if step.isdecimal() and int(step) < len(node) else []


def _is_item(item: Any, field: str, wanted: str) -> bool:
    """The wanted text is an expression, of which a part of the value may be an example."""
    if field:
        if not isinstance(item, dict) or field not in item:
            return False
        item = item[field]
    text = text_of(item)
    if re.fullmatch(r"[\w/-]*", wanted):
        return wanted in text
    from poolsmith.kubernetes.repository.kustomize.targets import searches  # on demand

    return searches(wanted, text)


def _put(
    node: Any,
    steps: tuple[str, ...],
    value: Any,
    options: Mapping[str, Any],
    pointer: str,
    put: list[tuple[str, Any]],
) -> Any:
    """A changed copy of the node; `put` is told what was put where."""
    if not steps:
        new = _part(node, value, options)
        put.append((pointer, new))
        return new
    if isinstance(node, str):
        raise MissingError("a replacement within a text")
    step, is_made = steps[0], options.get("create") is True
    keys = _keys(node, step)
    if not keys and is_made:
        return _made(node, steps, value, options, pointer, put)
    if not keys:
        return node
    result = dict(node) if isinstance(node, dict) else list(node)
    for key in keys:
        result[key] = _put(node[key], steps[1:], value, options, join(pointer, key), put)
    return result


def _made(
    node: Any,
    steps: tuple[str, ...],
    value: Any,
    options: Mapping[str, Any],
    pointer: str,
    put: list[tuple[str, Any]],
) -> Any:
    """With what the path lacks."""
    step = steps[0]
    if node is None or node is _GONE:
        node = [] if step.startswith("[") or step.isdecimal() or step == "*" else {}
    if isinstance(node, dict):
        below = _put(_GONE, steps[1:], value, options, join(pointer, step), put)
        return {**node, step: below}
    if not isinstance(node, list) or step == "*" or (step.isdecimal() and int(step) != len(node)):
        return node
    field, _, wanted = step[1:-1].partition("=") if step.startswith("[") else ("", "", "")
    item: Any = _GONE if step.isdecimal() else ({field: resolve_plain(wanted)} if field else resolve_plain(wanted))
    return [*node, _put(item, steps[1:], value, options, join(pointer, len(node)), put)]


def _part(old: Any, value: Any, options: Mapping[str, Any]) -> Any:
    """What stands there afterwards: a plain value keeps its kind."""
    if isinstance(old, (dict, list)) and (not word(options.get("delimiter"))):
        return copied(value)
    if delimiter := word(options.get("delimiter")):
        if isinstance(old, (dict, list)) or isinstance(value, (dict, list)):
            raise RefusedError("only a plain value has a delimiter")
        value = _with_part("" if old is _GONE else text_of(old), text_of(value), delimiter, options.get("index", 0))
    if isinstance(value, (dict, list)):
        if old is _GONE:
            return copied(value)
        raise RefusedError("a replacement puts a mapping or a list in the place of a plain value")
    text = text_of(value)
    if old is _GONE:
        return resolve_plain(text)
    if isinstance(old, str):
        return text
    new = resolve_plain(text)
    if type(new) is not type(old):
        raise RefusedError("a replacement puts a value of another kind")
    return new


def _with_part(old: str, new: str, delimiter: str, index: Any) -> str:
    parts = old.split(delimiter)
    if not isinstance(index, int):
        raise RefusedError("`index` is no number")
    if index < 0:
        parts = [new, *parts]
    elif index >= len(parts):
        parts = [*parts, new]
    else:
        parts[index] = new
    return delimiter.join(parts)
