"""From plain data to the typed model: readers compiled once from the dataclasses.

A reader checks everything and goes on after a mistake, so that one run tells all mistakes of a file.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, get_args, get_origin, get_type_hints

from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import kind_of, listed, meant_one, nearest, shorten
from poolsmith.core.record import record
from poolsmith.core.shape.field import Shape, camel_case, expression
from poolsmith.core.sources.pointer import dotted_pointer, escape

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import RuleInfo


class Sink(Protocol):
    """Takes what a reader finds. With `partial`, required fields may be missing (a base is a part)."""

    partial: bool
    guessed: bool
    """Set where a reader went on with what was meant: what is read is good for judging, and for nothing else."""

    def report(self, rule: RuleInfo, pointer: str, message: str, help: str | None = None) -> None: ...

    def written(self, pointer: str) -> str | None:
        """The scalar at `pointer` as the user wrote it."""
        ...

    def places_of(self, key: str) -> tuple[str, ...]:
        """The mappings, as dotted paths, that have a field of this name."""
        ...


INVALID: Any = object()
"""What a reader returns after it has reported why there is no value."""

Reader = Callable[[Any, str, Sink], Any]
"""A run reads few of all fields, so a pattern is compiled when its first value comes."""


@record(kw_only=False)
class FieldReader:
    name: str
    attribute: str
    read: Reader
    required: bool
    shape: Shape
    hint: Any


@cache
def fields_of(cls: type) -> dict[str, FieldReader]:
    """The fields of a model class by their YAML names, in the order of the class."""
    hints = get_type_hints(cls, localns={"Any": Any})
    result = {}
    for field in dataclasses.fields(cls):
        shape = field.metadata.get("shape")
        if shape is None:
            continue
        name = shape.name or camel_case(field.name)
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        hint = without_none(hints[field.name])
        result[name] = FieldReader(name, field.name, reader_for(hint, shape), required, shape, hint)
    return result


def without_none(hint: Any) -> Any:
    if get_origin(hint) is types.UnionType:
        return next(part for part in get_args(hint) if part is not types.NoneType)
    return hint


def reader_for(hint: Any, shape: Shape) -> Reader:
    """The reader of one type. Raises TypeError for types that the model does not use."""
    origin = get_origin(hint)
    if hint in (Any, object):
        return lambda value, _pointer, _sink: value
    if hint is str:
        return _string_reader(shape)
    if hint is bool:
        return _read_bool
    if hint is int:
        return _integer_reader(shape)
    if origin is tuple:
        return _list_reader(reader_for(get_args(hint)[0], shape), shape)
    if origin is dict:
        return _map_reader(reader_for(get_args(hint)[1], shape), shape)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _enum_reader(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _object_reader(hint)
    raise TypeError(f"no reader for {hint!r}")


def _object_reader(cls: type) -> Reader:
    def read(value: Any, pointer: str, sink: Sink) -> Any:
        fields = fields_of(cls)
        if not isinstance(value, dict):
            return _one_text_for_all(cls, fields, value, pointer, sink, read)
        valid = True
        meant: dict[str, str] = {}
        for key in value:
            if key not in fields:
                known = _report_unknown(fields, key, pointer, sink)
                if known is not None and value.get(known) is None and known not in meant:
                    meant[known] = key
                    sink.guessed = True
                else:
                    valid = False
        arguments = {}
        lists = _lists_of(cls)
        for name, field in fields.items():
            spelt = meant.get(name, name) if meant else name
            item = value.get(spelt)
            if item is not None:
                item = field.read(item, f"{pointer}/{escape(spelt)}", sink)
                if item is INVALID:
                    valid = False
                else:
                    arguments[field.attribute] = item
            elif field.required and value.get(lists.get(name)) is None:
                valid = False
                if not sink.partial:
                    sink.report(
                        codes.MISSING_FIELD,
                        f"{pointer}/{name}",
                        f"{_what(pointer)} lacks `{name}`",
                        f"add `{name}`: {_first_sentence(field.shape.doc)}{_example(field.shape)}",
                    )
        for single, several in lists.items():
            if value.get(several) is not None:
                valid = _take_first(fields, single, several, value, arguments, pointer, sink) and valid
        return cls(**arguments) if valid else INVALID

    return read


@cache
def _lists_of(cls: type) -> dict[str, str]:
    """The lists that stand in the place of one value, by the field of that value."""
    return {field.shape.several_of: name for name, field in fields_of(cls).items() if field.shape.several_of}


def _take_first(
    fields: dict[str, FieldReader],
    single: str,
    several: str,
    value: dict[str, Any],
    arguments: dict[str, Any],
    pointer: str,
    sink: Sink,
) -> bool:
    """Of a list that stands in the place of one value. False where both are given, or the list is empty."""
    place = f"{pointer}/{several}"
    if value.get(single) is not None:
        message = f"{_what(place)} and {_what(f'{pointer}/{single}')} say the same"
        sink.report(codes.INVALID_VALUE, place, message, f"write all of them into `{several}`, and remove `{single}`")
        return False
    if not value[several]:
        sink.report(codes.INVALID_VALUE, place, f"{_what(place)} is empty", f"name what there is, or write `{single}`")
        return False
    if found := arguments.get(fields[several].attribute):
        arguments[fields[single].attribute] = found[0]
    return True


Alternative = tuple[str, str, str]
"""The pointer of a mapping, the field that holds one value, and the one that holds several."""


@cache
def alternatives_of(cls: type) -> tuple[Alternative, ...]:
    """The lists below a specification that stand in the place of one value; pointers begin with /spec."""
    found: list[Alternative] = []

    def walk(cls: type, pointer: str) -> None:
        for name, field in fields_of(cls).items():
            if field.shape.several_of is not None:
                found.append((pointer, field.shape.several_of, name))
            if dataclasses.is_dataclass(field.hint) and isinstance(field.hint, type):
                walk(field.hint, f"{pointer}/{name}")

    walk(cls, "/spec")
    return tuple(found)


def _report_unknown(fields: dict[str, FieldReader], key: str, pointer: str, sink: Sink) -> str | None:
    """The field that is certainly meant."""
    shown = shorten(key)
    certain = nearest(key, fields, certain=True)
    known = certain or nearest(key, fields)
    if known is not None:
        advice = f"did you mean `{known}`?"
    elif places := [place for place in sink.places_of(key) if place != dotted_pointer(pointer)]:
        one = len(places) == 1
        advice = f"it belongs under `{places[0]}`" if one else "it belongs elsewhere: " + listed(places)
    elif (way := _by_another_word(key, sink)) is not None:
        advice = f"here that is `{way}`"
    else:
        advice = f"{_what(pointer)} takes " + listed(fields, 20)
    message = f"{_what(pointer)} has no field `{shown}`"
    sink.report(codes.UNKNOWN_FIELD, f"{pointer}/{escape(key)}", message, advice)
    return certain


def _by_another_word(key: str, sink: Sink) -> str | None:
    """The one field that people mean by a word, wherever it stands."""
    from poolsmith.core.diagnostics.other_words import meanings  # on demand: only mistakes need it

    ways = [f"{place}.{name}" for name in meanings(key) for place in sink.places_of(name)]
    named = [way for way in ways if any(step in key.lower() for step in way.split(".")[1:])]
    return (named or ways)[0] if 1 in (len(named), len(ways)) else None


def _one_text_for_all(
    cls: type, fields: dict[str, FieldReader], value: Any, pointer: str, sink: Sink, read: Reader
) -> Any:
    """A plain word where a mapping stands: the field that it belongs to, where one takes it."""
    from poolsmith.core.shape.mending import as_mapping, flow_text  # on demand: only mistakes need it

    meant = as_mapping(cls, fields, value)
    advice = None
    if meant is not None:
        missing = [name for name, field in fields.items() if field.required and name not in meant]
        advice = (
            f"write `{pointer.rpartition('/')[2]}: {flow_text(meant, missing)}`"
            if not _in_list(pointer)
            else (f"write `{flow_text(meant, missing)}`")
        )
    sink.report(codes.WRONG_TYPE, pointer, f"{_what(pointer)} is {kind_of(value)}, not a mapping", advice)
    if meant is None or missing or {} in meant.values():
        return INVALID
    sink.guessed = True
    return read(meant, pointer, sink)


def _in_list(pointer: str) -> bool:
    return pointer.rpartition("/")[2].isdecimal()


@cache
def field_places(specs: tuple[type, ...]) -> dict[str, tuple[str, ...]]:
    """Every field name below the specs, with the dotted paths of the mappings that have it."""
    places: dict[str, list[str]] = {}

    def walk(cls: type, path: str) -> None:
        for name, field in fields_of(cls).items():
            places.setdefault(name, []).append(path)
            inner = get_args(field.hint)[0] if get_origin(field.hint) is tuple else field.hint
            if dataclasses.is_dataclass(inner) and isinstance(inner, type):
                walk(inner, f"{path}.{name}")

    for cls in specs:
        walk(cls, "spec")
    return {name: tuple(dict.fromkeys(found)) for name, found in places.items()}


def _string_reader(shape: Shape) -> Reader:
    pattern = shape.pattern
    form = shape.form or "text of another form"

    def read(value: Any, pointer: str, sink: Sink) -> Any:
        if not isinstance(value, str):
            return _not_a_string(value, pointer, sink, shape)
        if pattern is not None and expression(pattern).fullmatch(value) is None:
            message = f"{_what(pointer)} is `{shorten(value)}`, not {form}"
            meant = _mended(value, shape)
            sink.report(codes.INVALID_NAME, pointer, message, f"write {_in_yaml(meant)}" if meant is not None else None)
            return _guess(meant, sink)
        return value

    return read


def _guess(meant: Any, sink: Sink) -> Any:
    """What a reader goes on with after it has reported a mistake whose one answer is known."""
    if meant is None:
        return INVALID
    sink.guessed = True
    return meant


def _mended(text: str, shape: Shape) -> str | None:
    from poolsmith.core.shape.mending import mended  # on demand: only mistakes need it

    known = shape.known() if shape.known is not None else ()
    return mended(text, shape.pattern, shape.words, known) if shape.pattern is not None else None


def _in_yaml(text: str) -> str:
    """A text as it is to be written: quoted where YAML would read something else."""
    from poolsmith.core.sources.yaml_writer import scalar_text  # on demand: only mistakes need it

    written = shorten(scalar_text(text))
    return written if written.startswith('"') else f"`{written}`"


def _not_a_string(value: Any, pointer: str, sink: Sink, shape: Shape) -> Any:
    if not isinstance(value, (bool, int, float)):
        sink.report(codes.WRONG_TYPE, pointer, f"{_what(pointer)} is {kind_of(value)}, not a string")
        return INVALID
    written = sink.written(pointer)
    text = written if written is not None else str(value)
    takes = shape.pattern is None or expression(shape.pattern).fullmatch(text) is not None
    meant = text if takes else _mended(text, shape)
    shown = shorten(text)
    advice = f'quote it: "{shown}"' if meant in (text, None) else f"write {_in_yaml(meant)}"
    message = f"{_what(pointer)} is read as {kind_of(value)}, but a string is needed"
    sink.report(codes.AMBIGUOUS_SCALAR, pointer, message, advice)
    return _guess(meant, sink)


def _read_bool(value: Any, pointer: str, sink: Sink) -> Any:
    if isinstance(value, bool):
        return value
    from poolsmith.core.shape.mending import as_boolean  # on demand: only mistakes need it

    meant = as_boolean(value)
    advice = None if meant is None else f"write `{pointer.rpartition('/')[2]}: {str(meant).lower()}`"
    sink.report(codes.WRONG_TYPE, pointer, f"{_what(pointer)} is {kind_of(value)}, not true or false", advice)
    return _guess(meant, sink)


def _integer_reader(shape: Shape) -> Reader:
    low, high = shape.minimum, shape.maximum

    def read(value: Any, pointer: str, sink: Sink) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            from poolsmith.core.shape.mending import as_whole_number  # on demand: only mistakes need it

            message = f"{_what(pointer)} is {kind_of(value)}, not a whole number"
            meant = as_whole_number(value)
            advice = None if meant is None else f"write `{pointer.rpartition('/')[2]}: {meant}`"
            sink.report(codes.WRONG_TYPE, pointer, message, advice)
            return _guess(meant if meant is not None and (low or 0) <= meant <= (high or meant) else None, sink)
        if (low is not None and value < low) or (high is not None and value > high):
            sink.report(
                codes.OUT_OF_RANGE,
                pointer,
                f"{_what(pointer)} is {shorten(str(value))}, out of {low} to {high}",
                f"use a number from {low} to {high}",
            )
            return INVALID
        return value

    return read


def _enum_reader(cls: type[StrEnum]) -> Reader:
    members = {member.value: member for member in cls}

    def read(value: Any, pointer: str, sink: Sink) -> Any:
        member = members.get(value) if isinstance(value, str) else None
        if member is not None:
            return member
        if not isinstance(value, str):
            written = sink.written(pointer)
            return _not_one_of(written if isinstance(value, (bool, int, float)) else None, value, pointer, sink)
        message = f"{_what(pointer)} is `{shorten(value)}`, not one of {listed(members)}"
        sink.report(codes.INVALID_VALUE, pointer, message, meant_one(value, members))
        certain = nearest(value, members, certain=True)
        return _guess(members[certain] if certain is not None else None, sink)

    def _not_one_of(written: str | None, value: Any, pointer: str, sink: Sink) -> Any:
        """`on` and `off` are booleans where they stand without quotes."""
        if written not in members:
            sink.report(
                codes.AMBIGUOUS_SCALAR if written is not None else codes.WRONG_TYPE,
                pointer,
                f"{_what(pointer)} is {kind_of(value)}, not one of {listed(members)}",
            )
            return INVALID
        message = f"{_what(pointer)} is read as {kind_of(value)}, but a string is needed"
        sink.report(codes.AMBIGUOUS_SCALAR, pointer, message, f'quote it: "{written}"')
        return _guess(members[written], sink)

    return read


def _list_reader(item_reader: Reader, shape: Shape) -> Reader:
    def read(value: Any, pointer: str, sink: Sink) -> Any:
        if not isinstance(value, list):
            from poolsmith.core.shape.mending import as_list, flow_text  # on demand: only mistakes need it

            items = as_list(value, item_reader)
            advice = f"write `{pointer.rpartition('/')[2]}: {flow_text(items)}`" if items else "write a list: [...]"
            sink.report(codes.WRONG_TYPE, pointer, f"{_what(pointer)} is {kind_of(value)}, not a list", advice)
            if not items:
                return INVALID
            sink.guessed, value = True, items
        partial, sink.partial = sink.partial, False  # lists replace as a whole, so what they hold is whole
        items = [item_reader(item, f"{pointer}/{index}", sink) for index, item in enumerate(value)]
        sink.partial = partial
        if shape.unique:
            _report_duplicates(items, pointer, sink)
        return INVALID if any(item is INVALID for item in items) else tuple(items)

    return read


def _report_duplicates(items: list[Any], pointer: str, sink: Sink) -> None:
    seen = set()
    for index, item in enumerate(items):
        if item is INVALID:
            continue
        if item in seen:
            sink.report(
                codes.DUPLICATE_ITEM,
                f"{pointer}/{index}",
                f"{_what(pointer)} names `{shorten(str(item))}` twice",
                "keep one of them",
            )
        seen.add(item)


def _map_reader(item_reader: Reader, shape: Shape) -> Reader:
    keys = shape.keys

    def read(value: Any, pointer: str, sink: Sink) -> Any:
        if not isinstance(value, dict):
            sink.report(codes.WRONG_TYPE, pointer, f"{_what(pointer)} is {kind_of(value)}, not a mapping")
            return INVALID
        result = {}
        for key, item in value.items():
            below = f"{pointer}/{escape(key)}"
            if keys is not None and expression(keys).fullmatch(key) is None:
                message = f"{_what(pointer)} can't have the key `{shorten(key)}`"
                sink.report(codes.INVALID_NAME, below, message)
                result[key] = INVALID
            else:
                result[key] = item_reader(item, below, sink)
        return INVALID if any(item is INVALID for item in result.values()) else result

    return read


def _what(pointer: str) -> str:
    """A pointer in the dotted spelling that people use."""
    return f"`{dotted_pointer(pointer)}`" if pointer else "the document"


def _first_sentence(doc: str) -> str:
    return doc.partition(". ")[0].rstrip(".")


def _example(shape: Shape) -> str:
    example = shape.examples[0] if shape.examples else None
    return f", for example `{example}`" if isinstance(example, (str, int)) else ""
