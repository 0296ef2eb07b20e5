"""The values that an expression sees: one object under review, made once and shared by every policy."""

from __future__ import annotations

from typing import Any

from poolsmith.kubernetes.cel.cost import Size, size_of
from poolsmith.kubernetes.cel.engine import engine
from poolsmith.kubernetes.cel.errors import NotEvaluated

_INT64 = 2**63
_LARGEST_BITS = 1023
_SCALARS = frozenset({str, bool, float, type(None)})


class Bindings:
    """object, oldObject, request, params, namespaceObject as plain JSON values."""

    def __init__(
        self,
        *,
        object: Any,  # noqa: A002
        old_object: Any,
        request: Any,
        namespace_object: Any = None,
        params: Any = None,
    ) -> None:
        try:
            self._values = {
                "object": _plain(object),
                "oldObject": _plain(old_object),
                "request": _plain(request),
                "namespaceObject": _plain(namespace_object),
                "params": _plain(params),
            }
            self._problem: str | None = None
        except RecursionError:
            self._values = {}
            self._problem = "the object is nested too deeply"
        self._activation: Any = None
        self._size: Size | None = None

    def with_params(self, params: Any) -> Bindings:
        """The same object with other parameters."""
        other = object.__new__(Bindings)
        other._values = {**self._values, "params": _plain(params)}
        other._problem = self._problem
        other._activation = None
        other._size = None
        return other

    @property
    def size(self) -> Size:
        """Of all that is seen."""
        if self._size is None:
            self._size = size_of(self._values)
        return self._size

    def activation(self) -> Any:
        """What the engine reads from; raises NotEvaluated."""
        if self._activation is None:
            if self._problem is not None:
                raise NotEvaluated(self._problem)
            self._activation = engine().activation(self._values)
        return self._activation


def _plain(value: Any) -> Any:
    """JSON as the API server decodes it: whole numbers over 64 bits become doubles."""
    return value if _is_plain(value) else _copied(value)


def _is_plain(value: Any) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind is dict:
            if not all(type(key) is str for key in one):
                return False
            waiting.extend(one.values())
        elif kind is list:
            waiting.extend(one)
        elif kind is int:
            if not -_INT64 <= one < _INT64:
                return False
        elif kind not in _SCALARS:
            return False
    return True


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(key): _copied(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(one) for one in value]
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        if -_INT64 <= value < _INT64:
            return int(value)
        return float(value) if value.bit_length() <= _LARGEST_BITS else float("inf")
    if isinstance(value, float):
        return float(value)
    return None if value is None else str(value)


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)
