"""A chart's entry filled in from values.

In a text, `${path}` is a value and `${@name}` a variable or definition; `entry_expressions` says in which forms. A text
that is nothing but a reference is left out when the value is false or empty, unless the reference ends in `!` and the
value is not null. Text of values is read back as Kubernetes would (`go_template`): what would leave its place is an
error. A definition that is a text is put into the texts that refer to it, as `include` does, and read back there.
A mapping may be one of:
`{$when, $then, $else}`  one of two, or nothing;
`{$when, $items}`        in a list: several items; the condition may be absent;
`{$each: path, $as}`     a list made of a list, whose items are `@item`;
`{$pairs: path, $as}`    a list made of a mapping by its sorted keys, with `@item.key` and `@item.value...`;
`{$without: [...], $of: path}`  a mapping without some of its keys, of which something must be left;
`{$merge: [...]}`        mappings laid on each other; also what `$pairs` makes;
`{$joined: path, $with: text}`  a text of a list, or of one text, without blanks around it; nothing of nothing;
`{$choose: path, $from: {text: node}, $else}`  the node whose key is the text of a value;
`{$json: node}`          a text of several lines with values in it, as JSON;
`{$sha256: [...]}`       the hash of lines as the template writes them; each line of a value is as far in as its own.

A condition is a list of terms that must all hold. A term is a path of values or a `@name` that is true as templates
see it, `!` before it for the opposite, `a|b` for either of them; or one path and a test: `a = text`, `a != text`,
`a contains text`, `a within b` of a list, `a is string`, `a is bool`, `a is set`, `a is null`, `a is other` than a
boolean or null, `a is untext` of what is no string nor null, `a is unlisted` of what is no list nor null, `a is worded`
of a string that is not blank, `a is single` of a mapping with one key, `a > number`.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.late import sha256_of
from poolsmith.core.pattern import pattern
from poolsmith.fleet.operands.chart.entry_expressions import (
    ITEM,
    NOTHING,
    REFERENCE,
    Pair,
    ValueScope,
    holds,
    reference,
)
from poolsmith.kubernetes.helm import go_template
from poolsmith.kubernetes.helm.go_template import (
    TemplateError,
    as_data,
    is_true,
    left_place,
    look_up,
    plain,
    printed,
    quoted,
)
from poolsmith.kubernetes.helm.to_yaml import to_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.fleet.operands.chart.entry_expressions import Reference


_BLANKS = pattern(" *")
_COLLECTIONS: dict[str, type] = {"map": dict, "list": list}
_AS_DATA = ("yaml", *_COLLECTIONS)


def fill(node: Any, scope: ValueScope) -> Any:
    """The node with its values, fresh; NOTHING where nothing is left of it. Raises TemplateError."""
    if isinstance(node, str):
        return _text(node, scope)
    if isinstance(node, list):
        return [kept for item in node for kept in _items(item, scope) if kept is not NOTHING]
    if not isinstance(node, dict):
        return node
    if not _SPECIAL.keys().isdisjoint(node):
        return next(make for word, make in _SPECIAL.items() if word in node)(node, scope)
    filled = {_key(key, scope): fill(value, scope) for key, value in node.items()}
    return {key: value for key, value in filled.items() if value is not NOTHING}


def value_of(path: str, scope: ValueScope) -> Any:
    """What a path of values, a `@name` or a quoted text stands for; null for nothing. Raises TemplateError."""
    if path.startswith("'"):
        return path[1:-1]
    if not path.startswith("@"):
        return scope.value(path)
    name, _, inner = path[1:].partition(".")
    if name in scope.variables:
        value = scope.variables[name]
        if isinstance(value, Pair):
            return _of_pair(value, inner)
        return value.get(inner) if inner and isinstance(value, dict) else value
    value = _defined(name, scope)
    return value.get(inner) if inner and isinstance(value, dict) else value


def _defined(name: str, scope: ValueScope) -> Any:
    """What a definition says, null for nothing; remembered where it can't depend on the item of a loop."""
    if ITEM in scope.variables:
        value = fill(scope.define[name], scope)
        return None if value is NOTHING else value
    if name not in scope.filled:
        value = fill(scope.define[name], scope)
        scope.filled[name] = None if value is NOTHING else value
    return scope.filled[name]


def _of_pair(pair: Pair, path: str) -> Any:
    """`key`, or a path below `value`. Raises TemplateError."""
    if not path:
        return pair
    name, _, inner = path.partition(".")
    return look_up(pair["value"], inner.split("."), pair.path) if inner else pair[name]


def _key(name: str, scope: ValueScope) -> str:
    if "${" not in name:
        return name
    text = _written(name, scope)
    return text if scope.typed else _kept(go_template.key, text, name, scope)


def _text(text: str, scope: ValueScope) -> Any:
    if "${" not in text:
        return text
    whole = REFERENCE.fullmatch(text)
    if whole is not None:
        return _value(reference(whole[1]), scope)
    written = _written(text, scope)
    if scope.typed:
        return written
    if text[0] == text[-1] == '"':
        return _kept(go_template.between_quotes, written[1:-1], text, scope)
    return _kept(go_template.bare, written, text, scope)


def _value(asked: Reference, scope: ValueScope) -> Any:
    """Of a text that is one reference."""
    path, value = _first(asked.paths, scope)
    if asked.form == "rooted":
        return go_template.joined("/", printed(value))
    if asked.form == "written":
        return str(_kept(go_template.block, to_yaml(value), path, scope)).rstrip("\n")
    if not (value is not None if asked.always else is_true(value)):
        return NOTHING
    if asked.form in _COLLECTIONS and not isinstance(value, _COLLECTIONS[asked.form]):
        shown = scope.shown(path)
        raise TemplateError(f"at <.Values.{shown}>: what is to be a {asked.form} is none", shown)
    if asked.form in _AS_DATA and not scope.typed and not path.startswith("@"):
        return as_data(value, scope.shown(path))
    if asked.form in _AS_DATA or scope.typed or (path.startswith("@") and not _is_text(path, scope)):
        return copy.deepcopy(value)
    if asked.form == "quote":
        return quoted(value)
    if asked.form == "joined":
        return _in_form(value, asked)
    if asked.form == "stripped":
        return _stripped(value, path, scope)
    if asked.form in ("block", "json"):
        return _kept(go_template.block, _in_form(value, asked), path, scope) if asked.form == "block" else _json(value)
    if isinstance(value, str) and path.startswith("@"):
        return _kept(go_template.bare, value, path, scope)
    return plain(_in_form(value, asked) if asked.form else value, scope.shown(path))


def _first(paths: tuple[str, ...], scope: ValueScope) -> tuple[str, Any]:
    """The first path whose value is true, or the last one; of a definition that is a text, the text as written."""
    value: Any = None
    path = ""
    for path in paths:
        value = _definition_text(path, scope)
        if value is None:
            value = value_of(path, scope)
        if is_true(value):
            break
    return path, value


def _is_text(path: str, scope: ValueScope) -> bool:
    """Whether what a `@name` stands for is written as a text, and not as objects of the entry."""
    name, _, inner = path[1:].partition(".")
    if name in scope.variables:
        return name == ITEM or isinstance(scope.variables[name], str)
    if inner:
        return True
    return _definition_text(path, scope) is not None


def _definition_text(path: str, scope: ValueScope) -> str | None:
    """The text of a definition that is one, after its conditions; None for everything else."""
    name = path.removeprefix("@")
    if not path.startswith("@") or "." in name or name in scope.variables:
        return None
    node = scope.define[name]
    while isinstance(node, dict) and "$then" in node:
        node = node["$then"] if _applies(node, scope) else node.get("$else")
    if not isinstance(node, str):
        return None
    whole = REFERENCE.fullmatch(node)
    if whole is None:
        return _written(node, scope)
    value = _first(reference(whole[1]).paths, scope)[1]
    return value if isinstance(value, str) else None


def _written(text: str, scope: ValueScope) -> str:
    """The text as the template writes it, not read back."""

    def written(words: str) -> str:
        asked = reference(words)
        return _in_form(_first(asked.paths, scope)[1], asked)

    return REFERENCE.sub(lambda match: written(match[1]), text)


def _in_form(value: Any, asked: Reference) -> str:
    if asked.form == "quote":
        return json.dumps(printed(value), ensure_ascii=False)
    if asked.form in ("join", "joined"):
        items = value if isinstance(value, list) else [value]
        return ",".join(printed(item) for item in items if item is not None)
    return to_yaml(value) if asked.form == "written" else printed(value)


def _kept(read: Callable[[str], Any], written: str, text: str, scope: ValueScope) -> Any:
    """What is read back from the place of `text`. Raises TemplateError that names the value that would not stay."""
    try:
        return read(written)
    except go_template.LeavesPlace as error:
        raise left_place(error, _culprit(text, scope)) from None


def _culprit(text: str, scope: ValueScope) -> str:
    """Of the values in a text, the first that no place could hold, else the first one."""
    sources = list(_sources(text, scope))
    for path, written in sources:
        try:
            go_template.between_quotes(written)
            go_template.bare(written)
        except go_template.LeavesPlace:
            return path
    return sources[0][0] if sources else text


def _sources(text: str, scope: ValueScope) -> Iterator[tuple[str, str]]:
    words = [match[1] for match in REFERENCE.finditer(text)] or [text]
    for word in words:
        path, value = _first(reference(word).paths, scope)
        inner = scope.define.get(path.removeprefix("@"))
        if path.startswith("@") and isinstance(inner, str):
            yield from _sources(inner, scope)
        elif not path.startswith("'"):
            yield scope.shown(path), printed(value)


def _items(node: Any, scope: ValueScope) -> list[Any]:
    if not isinstance(node, dict) or "$items" not in node:
        return [fill(node, scope)]
    if not _applies(node, scope):
        return []
    items = fill(node["$items"], scope)
    if items is NOTHING:
        return []
    if not isinstance(items, list):
        path = _path_in(node["$items"], scope)
        raise TemplateError(f"at <.Values.{path}>: range can't iterate over it", path)
    return items


def _applies(node: dict[str, Any], scope: ValueScope) -> bool:
    return holds(node.get("$when", []), lambda path: _asked(path, scope))


def _asked(path: str, scope: ValueScope) -> Any:
    """What a condition looks at: a text before it is read back, which is true even if it says `false`."""
    text = None if scope.typed else _definition_text(path, scope)
    return value_of(path, scope) if text is None else text


def _when(node: dict[str, Any], scope: ValueScope) -> Any:
    if _applies(node, scope):
        return fill(node["$then"], scope)
    return fill(node["$else"], scope) if "$else" in node else NOTHING


def _each(node: dict[str, Any], scope: ValueScope) -> Any:
    items = value_of(node["$each"], scope)
    path = scope.shown(node["$each"])
    if not is_true(items):
        return NOTHING
    if not isinstance(items, list):
        raise TemplateError(f"at <.Values.{path}>: range can't iterate over it", path)
    made = (fill(node["$as"], scope.with_item(item, f"{path}.{index}")) for index, item in enumerate(items))
    return [item for item in made if item is not NOTHING]


def _pairs(node: dict[str, Any], scope: ValueScope) -> Any:
    """As `range $key, $value` goes through a mapping, or through a list by its indexes."""
    items = value_of(node["$pairs"], scope)
    path = scope.shown(node["$pairs"])
    if items is None:
        return NOTHING
    if not isinstance(items, dict | list):
        raise TemplateError(f"at <.Values.{path}>: range can't iterate over it", path)
    pairs = sorted(items.items()) if isinstance(items, dict) else enumerate(items)
    found = (Pair(key, value, f"{path}.{key}") for key, value in pairs)
    filled = [fill(node["$as"], scope.with_item(pair, pair.path)) for pair in found]
    return [item for item in filled if item is not NOTHING] or NOTHING


def _without(node: dict[str, Any], scope: ValueScope) -> dict[str, Any]:
    """As `toYaml (omit ...)` among other keys: an empty rest would be written as `{}`, which is no key."""
    path = node["$of"]
    value = value_of(path, scope)
    if not isinstance(value, dict):
        raise TemplateError(f"at <.Values.{path}>: omit takes a map", path)
    rest = {key: copy.deepcopy(item) for key, item in value.items() if key not in node["$without"]}
    if not rest:
        raise TemplateError(f"at <.Values.{path}>: an empty map is no YAML among other keys", path)
    return rest


def _merge(node: dict[str, Any], scope: ValueScope) -> Any:
    merged: dict[str, Any] = {}
    parts = node["$merge"]
    for part in parts if isinstance(parts, list) else [parts]:
        filled = fill(part, scope)
        if isinstance(filled, list):
            filled = {key: value for item in filled for key, value in item.items()}
        if isinstance(filled, dict):
            merged |= filled
        elif filled is not NOTHING:
            path = _path_in(part, scope)
            raise TemplateError(f"at <.Values.{path}>: what is to be a map is none", path)
    return merged or NOTHING


def _path_in(node: Any, scope: ValueScope) -> str:
    """The value path that a node is made of; empty where it is none."""
    whole = REFERENCE.fullmatch(node) if isinstance(node, str) else None
    return scope.shown(reference(whole[1]).paths[0]) if whole else ""


def _stripped(value: Any, path: str, scope: ValueScope) -> str:
    shown = scope.shown(path)
    if not isinstance(value, str):
        raise TemplateError(f"at <.Values.{shown}>: indent takes a string", shown)
    read: str = _kept(go_template.block, value, path, scope)
    return read.rstrip("\n")


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _text_of(node: dict[str, Any], scope: ValueScope) -> str:
    return _json(fill(node["$json"], scope))


def _joined(node: dict[str, Any], scope: ValueScope) -> Any:
    items = value_of(node["$joined"], scope)
    if isinstance(items, dict):
        path = scope.shown(node["$joined"])
        raise TemplateError(f"at <.Values.{path}>: what is to be a list is none", path)
    listed = items if isinstance(items, list) else [items]
    return node["$with"].join(printed(item) for item in listed if item is not None).strip() or NOTHING


def _choose(node: dict[str, Any], scope: ValueScope) -> Any:
    chosen = node["$from"].get(printed(value_of(node["$choose"], scope)), node.get("$else", NOTHING))
    return NOTHING if chosen is NOTHING else fill(chosen, scope)


def _sha256(node: dict[str, Any], scope: ValueScope) -> str:
    lines = [(line, _BLANKS.match(line)) for line in node["$sha256"]]
    written = [_written(line, scope).replace("\n", "\n" + (blanks[0] if blanks else "")) for line, blanks in lines]
    return sha256_of("\n".join(written).encode())


_SPECIAL: dict[str, Callable[[dict[str, Any], ValueScope], Any]] = {
    "$when": _when,
    "$each": _each,
    "$pairs": _pairs,
    "$without": _without,
    "$merge": _merge,
    "$json": _text_of,
    "$joined": _joined,
    "$choose": _choose,
    "$sha256": _sha256,
}
