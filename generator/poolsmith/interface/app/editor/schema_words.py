"""What may be written at a place of a document, and what a field means: from the JSON Schemas that editors get, too.

While somebody types, the text is rarely whole: a word stands in for the one at the cursor, and where what follows can't
be read, what stands before it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Position
from poolsmith.core.diagnostics.message_text import joined
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.json_schema import schema_of
from poolsmith.core.shape.kind_places import PLACES
from poolsmith.core.sources.input_tree import MAX_PROFILE_BYTES
from poolsmith.core.sources.pointer import dotted_pointer, parent, reach, split, value_at
from poolsmith.core.sources.yaml_places import Marks
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.core.sources.yaml_writer import scalar_text
from poolsmith.interface.app.schemas import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_STANDS_IN = "zz-stands-in"
_TYPED = pattern(r"[^\s,\[\]{}#\"']*$")
_REST = pattern(r"[^\s,\[\]{}#\"':]*")
_BEFORE_VALUE = pattern(r"(:[ \t]+|\[[ \t]*|\[[^\[\]]*,[ \t]*)[\"']?$")
_VALUES = ("spec", "stack", "values")
_RELEASE = ("spec", "stack", "release")
_FEW = 12


@record
class Word:
    """`text` is what to write in the place of what stands between `start` and `end`, on the cursor's line."""

    label: str
    text: str
    is_field: bool
    about: str
    start: int
    end: int


@record
class _Cursor:
    """A text with a word in the place of the one that is typed, and where that stands."""

    text: str
    place: Position
    end: int
    is_quoted: bool
    has_colon: bool


def words_at(path: str, text: str, place: Position, more: Callable[[str], Iterable[str]]) -> tuple[Word, ...]:
    """What may stand there; `more` gives names of the project for the field that takes them."""
    for cursor in _cursors(text, place):
        if (found := _found(cursor.text, cursor.place)) is not None:
            data, pointer, is_field = found
            if words := tuple(_words(path, data, pointer, cursor, more, is_field=is_field)):
                return words
    return ()


def field_at(path: str, text: str, place: Position) -> tuple[str, str] | None:
    """The pointer of the field at a place, and what it means, in Markdown."""
    found = _found(text, place)
    if found is None:
        return None
    data, pointer, _ = found
    field = _at(path, data, split(pointer))
    offered = field.words
    if not field.about and not offered:
        return None
    such = f"Such as {joined((f'`{word}`' for word in offered), _FEW)}." if offered else ""
    return pointer, "\n\n".join(filter(None, (f"`{dotted_pointer(pointer)}`", field.about, such)))


def offered_for(kind: str, way: Iterable[str]) -> list[str]:
    """The words that the schema of a kind names for a field of its spec."""
    return _at("", {"kind": kind}, ("spec", *way)).words


def kinds_at(path: str) -> list[str]:
    """The kinds of documents that are looked for in this file: the one of its name, else those of its folder."""
    own = [kind for kind, place in PLACES.items() if kind in KINDS and _place(place).fullmatch(path)]
    folder = path.partition("/")[0]
    return own[:1] or [kind for kind in KINDS if PLACES.get(kind, "").startswith(f"{folder}/")]


def _place(place: str) -> re.Pattern[str]:
    return re.compile(re.sub("<[a-z]+>", "[^/_][^/]*", re.escape(place)))


def _cursors(text: str, place: Position) -> Iterator[_Cursor]:
    lines = text.split("\n")
    if not 0 < place.line <= len(lines):
        return
    row = lines[place.line - 1].rstrip("\r")
    before, after = row[: place.column - 1], row[place.column - 1 :]
    typed = _TYPED.search(before)
    assert typed is not None, "it may be empty"
    head, rest = before[: typed.start()], _REST.match(after)
    tail = after[rest.end() :] if rest is not None else after
    end = len(row) - len(tail) + 1
    quote = head[-1:] if head[-1:] in ('"', "'") else ""
    has_colon = tail.lstrip().startswith(":")
    as_field = _STANDS_IN + ("" if has_colon else ": ")
    as_value = _STANDS_IN + ("" if tail.startswith(quote) else quote)
    order = (as_value, as_field) if _BEFORE_VALUE.search(head) else (as_field, as_value)
    at = Position(place.line, len(head) + 1)
    for word in order:
        for rows in (
            [*lines[: place.line - 1], head + word + tail, *lines[place.line :]],
            [*lines[: place.line - 1], head + word + _closing(head)],
        ):
            yield _Cursor(text="\n".join(rows), place=at, end=end, is_quoted=bool(quote), has_colon=has_colon)


def _closing(head: str) -> str:
    """The brackets and braces that are open."""
    opened: list[str] = []
    for char in head:
        if char in "[{":
            opened.append("]" if char == "[" else "}")
        elif opened and char == opened[-1]:
            opened.pop()
    return "".join(reversed(opened))


def _found(text: str, place: Position) -> tuple[Any, str, bool] | None:
    """The document at a place, the pointer there, and whether it is the one of a key."""
    if len(text) > MAX_PROFILE_BYTES:
        return None
    for index, data in enumerate(read_if_yaml(text, [])):
        if (found := Marks(text, index).at(place)) is not None:
            return data, *found
    return None


def _words(
    path: str, data: Any, pointer: str, cursor: _Cursor, more: Callable[[str], Iterable[str]], *, is_field: bool
) -> Iterator[Word]:
    start, end, steps = cursor.place.column, cursor.end, split(pointer)
    if is_field:
        beside, _ = reach(data, parent(pointer))
        for name, field in _at(path, data, steps[:-1]).fields().items():
            if name not in beside and not field.is_past:
                text = name if cursor.has_colon else f"{name}:" if field.is_nested else f"{name}: "
                yield Word(label=name, text=text, is_field=True, about=field.about, start=start, end=end)
        return
    name = next((step for step in reversed(steps) if not step.isdecimal()), "")
    given = kinds_at(path) if steps == ("kind",) else more(name)
    for value in dict.fromkeys((*given, *_at(path, data, steps).offered())):
        text = _shown(value)
        written = scalar_text(value) if isinstance(value, str) and not cursor.is_quoted else text
        yield Word(label=text, text=written, is_field=False, about="", start=start, end=end)


@record(kw_only=False)
class _Schema:
    """What a schema says of one place: the parts of it that hold there."""

    root: Mapping[str, Any]
    parts: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, root: Mapping[str, Any], *nodes: Any) -> _Schema:
        return cls(root, tuple(part for node in nodes for part in _parts(root, node)))

    def below(self, step: str) -> _Schema:
        return self.of(self.root, *(_below(part, step) for part in self.parts))

    def fields(self) -> dict[str, _Schema]:
        names = dict.fromkeys(name for part in self.parts for name in part.get("properties", ()))
        return {name: self.below(name) for name in names}

    def offered(self) -> Iterator[str | bool | int | float]:
        """Scalars that it names."""
        for part in self.parts:
            words = [part[key] for key in ("const", "default") if key in part]
            words += [*part.get("enum", ()), *part.get("examples", ())]
            words += [True, False] if "boolean" in _types(part) else []
            yield from (word for word in words if isinstance(word, str | bool | int | float))

    @property
    def words(self) -> list[str]:
        return [_shown(word) for word in dict.fromkeys(self.offered())]

    @property
    def about(self) -> str:
        return next((part["description"] for part in self.parts if "description" in part), "")

    @property
    def is_past(self) -> bool:
        """Whether it is there to be told that it has no effect."""
        return any("deprecationMessage" in part for part in self.parts)

    @property
    def is_nested(self) -> bool:
        return any(not {"object", "array"}.isdisjoint(_types(part)) for part in self.parts)


def _at(path: str, data: Any, steps: Sequence[str]) -> _Schema:
    """Of a document, by its kind; where it has none yet, by its place."""
    kind = data.get("kind") if isinstance(data, dict) else None
    names = [kind] if isinstance(kind, str) and kind in KINDS else kinds_at(path)[:1]
    found = _Schema({}, ())
    for name in names:
        root, way = _schema_of(name, data, tuple(steps))
        found = _Schema.of(root, root)
        for step in way:
            found = found.below(step)
    return found


def _schema_of(kind: str, data: Any, steps: tuple[str, ...]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Of the kind; below the Helm values of a cluster, that of the release's chart."""
    depth = len(_VALUES)
    if kind == "Cluster" and steps[:depth] == _VALUES:
        from poolsmith.gpu.catalog.value_paths import value_paths  # on demand
        from poolsmith.gpu.values.values_schema import values_schema  # on demand

        release = value_paths().release(str(value_at(data, _RELEASE)))
        if release is not None:
            return values_schema(release), steps[depth:]
    return schema_of(KINDS[kind]), steps


def _parts(root: Mapping[str, Any], node: Any) -> Iterator[Mapping[str, Any]]:
    """A schema, and those that it refers to or is made of."""
    if not isinstance(node, dict):
        return
    yield node
    if isinstance(reference := node.get("$ref"), str):
        yield from _parts(root, root["$defs"][reference.rpartition("/")[2]])
    for key in ("anyOf", "oneOf", "allOf"):
        for child in node.get(key, ()):
            yield from _parts(root, child)
    for key in ("then", "else"):
        yield from _parts(root, node.get(key))


def _below(part: Mapping[str, Any], step: str) -> Any:
    properties = part.get("properties", {})
    if step in properties:
        return properties[step]
    return part["items"] if step.isdecimal() and "items" in part else part.get("additionalProperties")


def _types(part: Mapping[str, Any]) -> Sequence[str]:
    types = part.get("type", ())
    return (types,) if isinstance(types, str) else types


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
