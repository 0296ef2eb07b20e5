"""Records as JSON, and back again: for results that another machine has made.

A record is the list of its fields in the order in which they are declared; those that equality leaves out are left out
here, too, and come back as their default. Tuples and sets are lists, sets in order. A mapping is an object, or a list
of pairs where its keys are no texts. Nothing is taken on trust when it is read: each value is held against the
annotation of its field, and no other classes are made than the caller names. Numbers are counts, and places in files:
none is negative, or larger than any that there is; texts are such as files and their names hold.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = TypeVar("Value")
_Reader = Callable[[Any], Any]
_PLAIN = (str, int, bool, type(None))
_MOST = 1 << 31
_NONE: Mapping[type, frozenset[str]] = types.MappingProxyType({})


class RecordError(ValueError):
    """JSON that is no such record; the message says which field."""


def as_json(value: Any, text: Callable[[str], str] = str, exact: Mapping[type, frozenset[str]] = _NONE) -> Any:
    """What `json.dumps` takes. Every text goes through `text` first, but those in the fields `exact` of their records.

    Raises TypeError for what has no such form.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return text(value)
    if isinstance(value, _PLAIN):
        return value
    if dataclasses.is_dataclass(value):
        names = exact.get(type(value), frozenset())
        return [
            as_json(getattr(value, field.name), str if field.name in names else text, exact)
            for field in _told(type(value))
        ]
    if isinstance(value, tuple):
        return [as_json(item, text, exact) for item in value]
    if isinstance(value, frozenset):
        return [as_json(item, text, exact) for item in sorted(value)]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: as_json(item, text, exact) for key, item in value.items()}
        return [[as_json(key, text, exact), as_json(item, text, exact)] for key, item in sorted(value.items())]
    raise TypeError(f"{type(value).__qualname__} has no form in JSON")


class RecordReader:
    """Reads records of some classes. `never` are names in their annotations of what is not read: None stands there."""

    def __init__(self, classes: Iterable[type], never: Iterable[str] = ()) -> None:
        self._names: dict[str, Any] = {"Any": Any, "Mapping": Mapping, **dict.fromkeys(never, type(None))}
        self._names |= {item.__name__: item for item in classes}
        self._readers: dict[Any, _Reader] = {}

    def read(self, kind: type[Value], value: Any) -> Value:
        """Raises RecordError."""
        found: Value = self._reader(kind)(value)
        return found

    def _reader(self, kind: Any) -> _Reader:
        """Made once for each annotation."""
        found = self._readers.get(kind)
        if found is None:
            found = self._readers[kind] = self._made(kind)
        return found

    def _made(self, kind: Any) -> _Reader:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (types.UnionType, typing.Union):
            (other,) = [item for item in arguments if item is not type(None)]
            return _or_none(self._reader(other))
        if origin is frozenset or (origin is tuple and arguments[-1] is Ellipsis):
            return _all_of(origin, self._reader(arguments[0]))
        if origin is tuple:
            return _each_of([self._reader(item) for item in arguments])
        if origin in (dict, Mapping):
            return _pairs_of(*map(self._reader, arguments))
        if kind in (str, int):
            return _text if kind is str else _number
        if kind in _PLAIN:
            return _plain(kind)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _member_of(kind)
        return self._record(kind)

    def _record(self, kind: Any) -> _Reader:
        name = kind.__name__
        known: Any = self._names.get(name)
        if known is not kind:
            raise TypeError(f"{name} is none of the classes that are read")
        fields = [field.name for field in _told(kind)]
        hints = typing.get_type_hints(kind, localns=self._names)
        readers: list[_Reader] = []

        def read(value: Any) -> Any:
            if not isinstance(value, list) or len(value) != len(fields):
                raise RecordError(f"no {name}")
            if not readers:  # at first use: a record may hold others of its own class
                readers.extend(self._reader(hints[key]) for key in fields)
            given = {}
            for key, reader, item in zip(fields, readers, value, strict=True):
                try:
                    given[key] = reader(item)
                except RecordError as error:
                    raise RecordError(f"{key}: {error}") from None
            try:
                return kind(**given)
            except ValueError as error:
                raise RecordError(str(error)) from None

        return read


def _text(value: Any) -> Any:
    if type(value) is not str or "\0" in value:
        raise RecordError("no str")
    if not value.isascii():
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise RecordError("no str") from None
    return value


def _number(value: Any) -> Any:
    if type(value) is not int or not 0 <= value < _MOST:
        raise RecordError("no int")
    return value


def _plain(kind: type) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise RecordError(f"no {kind.__name__}")
        return value

    return read


def _or_none(reader: _Reader) -> _Reader:
    return lambda value: None if value is None else reader(value)


def _member_of(kind: type[Enum]) -> _Reader:
    members = {item.value: item for item in kind}

    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in members:
            raise RecordError(f"no {kind.__name__}")
        return members[value]

    return read


def _all_of(origin: Any, reader: _Reader) -> _Reader:
    return lambda value: origin([reader(item) for item in _list(value)])


def _each_of(readers: list[_Reader]) -> _Reader:
    def read(value: Any) -> Any:
        if len(_list(value)) != len(readers):
            raise RecordError(f"{len(value)} items in the place of {len(readers)}")
        return tuple([reader(item) for reader, item in zip(readers, value, strict=True)])

    return read


def _pairs_of(key: _Reader, item: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        pairs = value.items() if isinstance(value, dict) else map(_list, _list(value))
        found = {}
        for pair in pairs:
            if len(pair) != 2:  # noqa: PLR2004
                raise RecordError("no pair of key and value")
            found[key(pair[0])] = item(pair[1])
        return found

    return read


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError("no list")
    return value


def _told(kind: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.compare]
