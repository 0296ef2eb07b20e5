"""Strategic merge patches as kustomize applies them, and the keys that tell the items of a merged list apart.

Source: kyaml/yaml/walk and kyaml/yaml/merge2. Items that a patch brings come first in a list that is merged; a list
that is merged is walked even where the patch says nothing of it, so that items with the same key become one.

Only the kinds that kustomize knows have such keys: `data/kustomize/merged_lists.yaml`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.kustomize.item import RefusedError, text_of

if TYPE_CHECKING:
    from collections.abc import Callable


@record(kw_only=False)
class Merged:
    """A field below which lists are merged. `keys` of a list: none where its items are plain texts."""

    type: str = ""
    """The type of the field, or of the items of the list; empty where no list below it is merged."""
    keys: tuple[str, ...] | None = None


_FILE = "kustomize/merged_lists.yaml"


@cache
def types() -> dict[str, dict[str, Merged]]:
    """By type and field."""
    return {
        name: {field: Merged(row.get("type", ""), _keys(row)) for field, row in fields.items()}
        for name, fields in store.table(_FILE)["types"].items()
    }


def _keys(row: dict[str, Any]) -> tuple[str, ...] | None:
    return tuple(row["keys"]) if "keys" in row else None


def type_of(api_version: str, kind: str) -> str:
    """Empty where all lists of a kind are replaced as a whole."""
    found: str = store.table(_FILE)["kinds"].get(api_version, {}).get(kind, "")
    return found


DIRECTIVE = "$patch"
_GONE: Any = object()
"""Not there, or not any more."""
_EMPTY: Any = object()
"""A null that is written as nothing, which kustomize takes out of what it walks; `null` and `~` stay."""
_NOTHING = (_GONE, _EMPTY, None)

Values = list[str]


def merge(base: dict[str, Any], patch: dict[str, Any], is_written: Callable[[str], bool]) -> dict[str, Any] | None:
    """`patch` on `base`, which stays as it is. None: the patch deletes it. Raises RefusedError.

    `is_written` says of a null in `base` whether the user wrote it out, by its pointer.
    """
    kind = type_of(text_of(base.get("apiVersion")), text_of(base.get("kind")))
    result = _walked(_with_empty(base, "", is_written), patch, kind)
    return result if isinstance(result, dict) else None


def _with_empty(node: Any, pointer: str, is_written: Callable[[str], bool]) -> Any:
    if isinstance(node, dict):
        put: dict[str, Any] = {}
        for key, value in node.items():
            if value is None:
                new = None if is_written(join(pointer, key)) else _EMPTY
            else:
                new = _with_empty(value, join(pointer, key), is_written) if isinstance(value, (dict, list)) else value
            if new is not value:
                put[key] = new
        return {**node, **put} if put else node
    if isinstance(node, list):
        items = [_with_empty(value, join(pointer, at), is_written) for at, value in enumerate(node)]
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node


def _settled(node: Any) -> Any:
    """What nothing is merged into, with the empty nulls of its mappings taken out."""
    if isinstance(node, dict):
        items = {key: _settled(value) for key, value in node.items() if value is not _EMPTY}
        return items if len(items) < len(node) or any(items[key] is not node[key] for key in items) else node
    return _restored(node) if isinstance(node, list) else node


def _restored(node: Any) -> Any:
    """A list that nobody walks, with its nulls."""
    if isinstance(node, dict):
        fields = {key: None if value is _EMPTY else _restored(value) for key, value in node.items()}
        return fields if any(fields[key] is not node[key] for key in fields) else node
    if isinstance(node, list):
        items = [_restored(value) for value in node]
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node


def _walked(dest: Any, origin: Any, kind: str, keys: tuple[str, ...] | None = None) -> Any:
    """`keys` of a list that is merged. Null where a null stays, _GONE where nothing does."""
    if origin is _GONE and not kind and not keys:
        return _GONE if dest is _EMPTY else _settled(dest)
    first = origin if dest in _NOTHING else dest
    if first in _NOTHING:
        return None if origin is _GONE and dest is None else _GONE
    for form in (dict, list):
        if isinstance(first, form):
            if not all(side in _NOTHING or isinstance(side, form) for side in (dest, origin)):
                raise RefusedError("a patch puts a value of another form")
            return _mapping(dest, origin, kind) if form is dict else _sequence(dest, origin, kind, keys)
    if isinstance(origin, (dict, list)):
        raise RefusedError("a patch puts a value of another form")
    if origin is _GONE:
        return dest
    return _GONE if origin is None else origin


def _mapping(dest: Any, origin: Any, kind: str) -> Any:
    directive = origin.get(DIRECTIVE) if isinstance(origin, dict) else None
    if directive is not None:
        if directive not in ("delete", "replace", "merge"):
            raise RefusedError(f"`{str(directive)[:20]}` is no directive of a patch")
        if directive == "delete":
            return _GONE
        origin = {key: value for key, value in origin.items() if key != DIRECTIVE}
    if dest in _NOTHING or directive == "replace":
        dest = origin
    elif origin is None:
        return _GONE
    patch = {} if origin is _GONE else origin
    fields = types().get(kind, {})
    result: dict[str, Any] = {}
    for key in dest if dest is patch else {**dest, **patch}:
        below = fields.get(key, _PLAIN)
        value = _walked(dest.get(key, _GONE), patch.get(key, _GONE), below.type, below.keys)
        if value is not _GONE:
            result[key] = value
    return result


_PLAIN = Merged()


def _sequence(dest: Any, origin: Any, kind: str, keys: tuple[str, ...] | None) -> Any:
    if keys is None:
        value = _restored(dest) if origin is _GONE else origin
        return _GONE if value in _NOTHING else value
    if dest in _NOTHING:
        dest = origin
    elif origin is None:
        return _GONE
    elif origin is not _GONE:
        first = next((item for item in origin if isinstance(item, dict) and DIRECTIVE in item), None)
        if first is not None and len(first) == 1:
            directive = first[DIRECTIVE]
            origin = [item for item in origin if not (isinstance(item, dict) and item.get(DIRECTIVE) == directive)]
            if directive == "delete":
                return _GONE
            if directive == "replace":
                dest = origin
    sides = [side for side in (origin, dest) if side not in _NOTHING]
    if not keys:
        return _texts(sides)
    return _items(dest, [] if origin in _NOTHING else origin, kind, keys)


def _texts(sides: list[list[Any]]) -> list[Any]:
    """Those of the patch, then those that it does not have."""
    found: dict[str, Any] = {}
    for side in sides:
        for item in side:
            found.setdefault(text_of(item), item)
    return list(found.values())


def _items(dest: list[Any], origin: list[Any], kind: str, keys: tuple[str, ...]) -> Any:
    listed = _all_values(origin, dest, keys)
    is_new, dest = dest is origin, list(dest)
    added: list[Any] = []
    valid: tuple[str, ...] = keys
    for values in listed:
        valid, own = _used(listed, values, keys)
        narrow_keys, narrow = _used([own], own, valid)
        at = _find(dest, narrow_keys, narrow)
        old = dest[at] if at is not None else _GONE
        from_patch = _find(origin, narrow_keys, narrow)
        new = origin[from_patch] if from_patch is not None else _GONE
        merged = _walked(old, new, kind) if isinstance(old, dict) or isinstance(new, dict) else _GONE
        if merged in _NOTHING or merged == {}:
            dest = _set(dest, _GONE, valid, own)
            continue
        if at is not None and (is_new or not (isinstance(new, dict) and new.get(DIRECTIVE) == "replace")):
            dest[at] = merged
        added = _set(added, merged, valid, own)
    return _appended(added, dest, valid) if listed else dest


def _all_values(origin: list[Any], dest: list[Any], keys: tuple[str, ...]) -> list[Values]:
    """The values of the keys of each item, each once, those of the patch first."""
    found: list[Values] = []
    seen: set[tuple[str, ...]] = set()
    for item in (*origin, *(() if dest is origin else dest)):
        if not isinstance(item, dict):
            raise RefusedError("an item of a list has no fields")
        values = [text_of(item.get(key)) for key in keys]
        if tuple(values) not in seen:
            seen.add(tuple(values))
            found.append(values)
    if len(keys) > 1 and any("" in values for values in found):
        _fill(found)
    return found


def _fill(found: list[Values]) -> None:
    """What one item leaves out, another one that is like it says."""
    for one in range(len(found)):
        for other in range(len(found)):
            pairs = list(zip(found[one], found[other], strict=True))
            if any(a != b and a and b for a, b in pairs) or not any(a == b for a, b in pairs):
                continue
            found[one] = found[other] = [a or b for a, b in pairs]


def _used(listed: list[Values], values: Values, keys: tuple[str, ...]) -> tuple[tuple[str, ...], Values]:
    """The keys that any of the items has, and its values of them."""
    used = [at for at in range(len(keys)) if any(len(other) > at and other[at] for other in listed)]
    if not used:
        return keys, values
    return tuple(keys[at] for at in used), [values[at] for at in used]


def _is_like(item: Any, keys: tuple[str, ...], values: Values) -> bool:
    """An empty value is like any that is there."""
    if not isinstance(item, dict):
        return False
    for at, key in enumerate(keys):
        if at >= len(values):
            return True
        if key not in item or (values[at] and text_of(item[key]) != values[at]):
            return False
    return True


def _find(items: list[Any], keys: tuple[str, ...], values: Values) -> int | None:
    return next((at for at, item in enumerate(items) if _is_like(item, keys, values)), None)


def _set(items: list[Any], element: Any, keys: tuple[str, ...], values: Values) -> list[Any]:
    """With `element` in the place of those that are like it, or at the end; _GONE: without them."""
    result: list[Any] = []
    is_found = False
    for item in items:
        if item in _NOTHING or item == {}:
            continue
        if not _is_like(item, keys, values):
            result.append(item)
            continue
        is_found = True
        if element is not _GONE:
            result.append(element)
    if element is not _GONE and not is_found:
        result.append(element)
    return result


def _appended(items: list[Any], dest: list[Any], keys: tuple[str, ...]) -> list[Any]:
    for item in dest:
        values: Values = []
        for key in keys:
            if item.get(key) is None:
                items = [*items, item]
            else:
                values.append(text_of(item[key]))
        if not values:
            continue
        if len(keys) > 1:
            items = _set(items, _GONE, keys, values)
        items = _set(items, item, keys, values)
    return items
