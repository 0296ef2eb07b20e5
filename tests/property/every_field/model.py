"""Each field of a kind, from the records that declare it, and values that it takes, from its type, examples and pattern."""

from __future__ import annotations

import copy
import dataclasses
import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from re import _constants as said  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, get_args, get_origin

from poolsmith.core.shape.documents import FileSink, read_spec
from poolsmith.core.shape.reader import FieldReader, fields_of
from poolsmith.core.sources.source_file import SourceFile

ITEM, ENTRY = "[]", "{}"
"""On the way to a field: any item of a list, any entry of a map."""
_MANY = 3


@dataclass(frozen=True)
class Leaf:
    """A field that holds no record, and the way to it from the spec on."""

    way: tuple[str, ...]
    field: FieldReader

    @property
    def name(self) -> str:
        return ".".join(self.way).replace(f".{ITEM}", ITEM).replace(f".{ENTRY}", ENTRY)


def leaves(cls: type, way: tuple[str, ...] = ()) -> list[Leaf]:
    """Of a record, in the order in which it declares them."""
    found = []
    for name, field in fields_of(cls).items():
        inner, step = _inside(field.hint)
        if dataclasses.is_dataclass(inner):
            found += leaves(inner, (*way, name, *step))
        else:
            found.append(Leaf((*way, name), field))
    return found


def _inside(hint: Any) -> tuple[Any, tuple[str, ...]]:
    origin = get_origin(hint)
    if origin is tuple:
        return get_args(hint)[0], (ITEM,)
    if origin is dict:
        return get_args(hint)[1], (ENTRY,)
    return hint, ()


def samples(hint: Any, shape: Any) -> list[Any]:
    """Some values that a field takes, the likeliest ones first."""
    origin = get_origin(hint)
    examples = [list(item) if isinstance(item, tuple) else item for item in shape.examples]
    if hint is bool:
        return [True, False]
    if hint is int:
        low = 0 if shape.minimum is None else shape.minimum
        high = low + 10 if shape.maximum is None else shape.maximum
        return _once([*examples, low + 1, low + 2, high, low])
    if hint is str:
        return _once([*(item for item in examples if isinstance(item, str)), *texts(shape.pattern or "[a-z]{1,9}")])
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return [member.value for member in hint]
    if origin is tuple:
        whole = [item for item in examples if isinstance(item, list)]
        return _once([*whole, *([item] for item in samples(get_args(hint)[0], shape))])
    if origin is dict:
        keys = texts(shape.keys or "[a-z]{1,9}")
        return _once([*examples, *({keys[0]: item} for item in samples(get_args(hint)[1], shape))])
    if dataclasses.is_dataclass(hint):
        return [smallest(hint)]
    return examples


def _once(items: list[Any]) -> list[Any]:
    return [item for place, item in enumerate(items) if item not in items[:place]]


def smallest(cls: Any) -> dict[str, Any]:
    """A record with what it needs, and nothing else."""
    return {name: samples(field.hint, field.shape)[0] for name, field in fields_of(cls).items() if field.required}


def texts(pattern: str) -> list[str]:
    """Texts that a pattern matches as a whole: of each choice one, with what is optional and without."""
    found = [_text(parser.parse(pattern), which, many) for many in (1, _MANY, 0) for which in range(_MANY)]
    return _once([text for text in found if re.fullmatch(pattern, text)])


def _text(parsed: Any, which: int, many: int) -> str:
    return "".join(_part(kind, value, which, many) for kind, value in parsed)


def _part(kind: Any, value: Any, which: int, many: int) -> str:
    if kind is said.LITERAL:
        return chr(value)
    if kind is said.IN:
        return _letter(value, which)
    if kind in (said.MAX_REPEAT, said.MIN_REPEAT):
        least, most, inner = value
        return _text(inner, which, many) * min(max(least, many), most)
    if kind is said.BRANCH:
        choices = value[1]
        return _text(choices[which % len(choices)], which, many)
    if kind is said.SUBPATTERN:
        return _text(value[-1], which, many)
    return ""  # what looks ahead takes no letter


def _letter(choices: Any, which: int) -> str:
    taken = {chr(code) for kind, value in choices if kind is not said.NEGATE for code in _codes(kind, value)}
    plain = "abcdefghijklmnopqrstuvwxyz0123456789"
    negated = choices[0][0] is said.NEGATE
    known = [letter for letter in plain if (letter in taken) != negated] or sorted(taken)
    return known[which % len(known)]


def _codes(kind: Any, value: Any) -> Any:
    if kind is said.LITERAL:
        return (value,)
    if kind is said.RANGE:
        return range(value[0], value[1] + 1)
    return range(ord("0"), ord("9") + 1)  # \d


def is_valid(cls: type, spec: dict[str, Any]) -> bool:
    """Whether the reader of the kind takes it; what comes after may still refuse it."""
    sink = FileSink(SourceFile("x.yaml", "", {"spec": spec}))
    return read_spec(cls, spec, sink) is not None and not sink.found


def variants(cls: type, spec: dict[str, Any], leaf: Leaf, given: Any = ()) -> Iterator[dict[str, Any]]:
    """Specs that differ in one field only: as it is, without it, and with other values.

    `given` are values that a type can't tell, such as names of something that has to exist.
    """
    as_it_is = copy.deepcopy(spec)
    holder = _holder(as_it_is, leaf, cls)
    name = leaf.way[-1]
    if is_valid(cls, as_it_is):
        yield as_it_is
    for value in (None, *given, *samples(leaf.field.hint, leaf.field.shape)):
        if holder.get(name) == value:
            continue
        other = copy.deepcopy(as_it_is)
        there = _holder(other, leaf, cls)
        there.pop(name, None)
        if value is not None:
            there[name] = copy.deepcopy(value)
        if value is not None and leaf.field.shape.several_of:
            there.pop(leaf.field.shape.several_of, None)
        if is_valid(cls, other):
            yield other


def _holder(spec: Any, leaf: Leaf, cls: Any) -> Any:
    """The record that holds the field; what is missing on the way is made."""
    node, at = spec, cls
    for step in leaf.way[:-1]:
        if step == ITEM:
            node = node[0]
        elif step == ENTRY:
            node = next(iter(node.values()))
        else:
            field = fields_of(at)[step]
            inner, way = _inside(field.hint)
            if not node.get(step):
                made = smallest(inner)
                node[step] = [made] if way == (ITEM,) else {texts(field.shape.keys)[0]: made} if way else made
            node, at = node[step], inner
    return node
