"""Readers for whole objects, made from the table of Go types."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.server.go_values import EMPTY_WHEN_ZERO, READERS, NotThisType
from poolsmith.kubernetes.server.kubernetes_types import ALWAYS, UNLESS_ZERO, kubernetes_types

if TYPE_CHECKING:
    from poolsmith.kubernetes.server.kubernetes_types import KubernetesTypes

Read = Callable[[Any], Any]
_WHEN_EMPTY, _WHEN_NULL, _NEVER = 0, 1, 2
"""When a field is left out."""
_POINTER, _LIST, _MAPPING, _STRUCT = "*", "[]", "{}", "@"


@lru_cache(maxsize=16)
def readers(minor: int) -> Readers:
    return Readers(kubernetes_types(minor))


class Readers:
    """Of one minor of Kubernetes; a struct's is made when the first object needs it."""

    def __init__(self, types: KubernetesTypes) -> None:
        self.types = types
        self._known: dict[str, Read] = {}

    def of_struct(self, name: str) -> Read:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._struct(name)
        return found

    def _struct(self, name: str) -> Read:
        fields: dict[str, tuple[Read, int]] = {}
        zeros: dict[str, Any] = {}

        def read(value: Any) -> Any:
            if value.__class__ is not dict:
                if value is not None:
                    raise NotThisType("a mapping", value)
                value = {}
            if not fields:
                self._fill(name, fields, zeros)
            result = {}
            for key, item in value.items():
                field = fields.get(key)
                if field is not None:
                    try:
                        new = field[0](item)
                    except NotThisType as problem:
                        problem.steps.append(key)
                        raise
                    if new or field[1] is _NEVER or (field[1] is _WHEN_NULL and item is not None):
                        result[key] = new
            for key, zero in zeros.items():
                if key not in result:
                    result[key] = zero
            return result

        return read

    def _fill(self, name: str, fields: dict[str, tuple[Read, int]], zeros: dict[str, Any]) -> None:
        """Fields, and what those that are never left out are when nobody sets them."""
        for field, marked in self.types.fields(name).items():
            code = marked.rstrip(ALWAYS + UNLESS_ZERO)
            read = self._reader(code)
            left_out = _left_out(code, marked[len(code) :])
            fields[field] = read, left_out
            if left_out is _NEVER:
                zeros[field] = read(None)

    def _reader(self, code: str) -> Read:
        if code.startswith(_POINTER):
            return _pointer(self._reader(code.removeprefix(_POINTER)))
        if code.startswith(_LIST):
            return _list(self._reader(code.removeprefix(_LIST)), texts=code == "[]string")
        if code.startswith(_MAPPING):
            return _mapping(self._reader(code.removeprefix(_MAPPING)), texts=code == "{}string")
        if code.startswith(_STRUCT):
            return self.of_struct(code.removeprefix(_STRUCT))
        return READERS[code]


def _left_out(code: str, mark: str) -> int:
    if mark == ALWAYS:
        return _NEVER
    if code.startswith(_POINTER):
        return _WHEN_NULL
    can_be_empty = code.startswith((_LIST, _MAPPING)) or code in EMPTY_WHEN_ZERO or mark == UNLESS_ZERO
    return _WHEN_EMPTY if can_be_empty else _NEVER


def _pointer(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _list(read: Read, *, texts: bool) -> Read:
    def read_list(value: Any) -> Any:
        if value is None:
            return None
        if value.__class__ is not list:
            raise NotThisType("a list", value)
        if texts and all(item.__class__ is str for item in value):
            return value
        try:
            return [read(item) for item in value]
        except NotThisType:
            pass
        for index, item in enumerate(value):
            try:
                read(item)
            except NotThisType as problem:
                problem.steps.append(index)
                raise
        raise AssertionError("a reader gives the same answer twice")

    return read_list


def _mapping(read: Read, *, texts: bool) -> Read:
    def read_mapping(value: Any) -> Any:
        if value is None:
            return None
        if value.__class__ is not dict:
            raise NotThisType("a mapping", value)
        if texts and all(item.__class__ is str for item in value.values()):
            return value
        result = {}
        for key, item in value.items():
            try:
                result[key] = read(item)
            except NotThisType as problem:
                problem.steps.append(key)
                raise
        return result

    return read_mapping
