"""The values that expressions see of one object, made once for all policies, and a bound on what an evaluation costs.

The bound says whether the API server might stop an evaluation by its cost limit; it is used for large objects only.
A small object can't pass the limit within the steps that the engine takes. On a large one, loops over long texts can,
and what the API server would stop does not count as a pass.
"""

from __future__ import annotations

import marshal
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.engine import engine
from poolsmith.kubernetes.cel.errors import NotEvaluated
from poolsmith.kubernetes.cel.syntax import Call, ListOf, Literal, MapOf, children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.cel.program import LoweredPart
    from poolsmith.kubernetes.cel.syntax import Node


LIMIT = 1_000_000
"""Of one expression. Source: k8s.io/apiserver, PerCallLimit."""
LARGE = 64 << 10
"""Letters and values of all that an expression sees, below which nothing is asked."""
_PER_LETTER = 0.1
_PATTERN_PER_LETTER = 0.25
_LOOPS = frozenset(
    ("all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap", "transformMapEntry")
)
_SEARCHES = frozenset(
    (
        "contains",
        "matches",
        "find",
        "findAll",
        "indexOf",
        "lastIndexOf",
        "replace",
        "split",
        "includes",
        "sets.contains",
    )
)
"""Their cost is that of the text times that of what is looked for."""
_MAKERS = frozenset(("_+_", "join", "format", "replace", "split", "range", "flatten"))
"""Their results may be longer than anything in the object."""
_FREE = frozenset(("has", "size", "_?_:_", "_&&_", "_||_", "!_", "_[_]", "_[?_]", "optMap", "orValue", "hasValue"))


class Size(NamedTuple):
    """Of values: letters and values in all, the longest text, the widest list or map."""

    total: int
    longest: int
    widest: int


def size_of(values: Any) -> Size:
    """Of JSON values, keys included."""
    total = longest = widest = 0
    waiting = [values]
    while waiting:
        one = waiting.pop()
        total += 1
        if isinstance(one, str):
            total += len(one)
            longest = max(longest, len(one))
        elif isinstance(one, dict):
            widest = max(widest, len(one))
            total += sum(map(len, one))
            waiting.extend(one.values())
        elif isinstance(one, list):
            widest = max(widest, len(one))
            waiting.extend(one)
    return Size(total, longest, widest)


def might_pass_limit(part: LoweredPart, size: Size) -> bool:
    """Whether an expression, or a variable that it reads, could cost more than the limit on values of that size."""
    return any(_bound(one, size) > LIMIT for one in (part, *part.ordered().values()))


def _bound(part: LoweredPart, size: Size) -> float:
    if part.written is None:
        return 0
    found = _profile(part)
    longest = size.total if found.makes else size.longest
    widest = max(size.total if found.makes and found.loops else size.widest, found.widest)
    cost = 0.0
    for step in found.steps:
        once = 1 + longest * _PER_LETTER * (longest * _PER_LETTER if step.pattern is None else step.pattern)
        cost += once * float(widest) ** step.depth
    return cost


class _Step(NamedTuple):
    """A call inside so many loops; what each letter costs again for what is looked for, None where it is not known."""

    depth: int
    pattern: float | None


@record(kw_only=False)
class _Profile:
    steps: tuple[_Step, ...]
    widest: int
    makes: bool
    loops: bool


@lru_cache(maxsize=1024)
def _profile(part: LoweredPart) -> _Profile:
    steps: list[_Step] = []
    widest, makes, loops = 1, False, False
    for node, depth in _with_depth(part.written):
        if isinstance(node, ListOf | MapOf):
            widest = max(widest, len(node.elements if isinstance(node, ListOf) else node.entries))
        elif isinstance(node, Call):
            loops = loops or node.function in _LOOPS
            makes = makes or node.function in _MAKERS
            if node.function not in _FREE and node.function not in _LOOPS:
                steps.append(_Step(depth, _pattern(node)))
    return _Profile(tuple(steps), widest, makes, loops)


def _with_depth(root: Node | None) -> Iterator[tuple[Node, int]]:
    """Each node, and in how many loops it stands; what a loop goes over stands outside of it."""
    waiting = [(root, 0)] if root is not None else []
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if isinstance(node, Call) and node.function in _LOOPS and node.target is not None:
            waiting.append((node.target, depth))
            waiting.extend((one, depth + 1) for one in node.args)
        else:
            waiting.extend((one, depth) for one in children(node))


def _pattern(node: Call) -> float | None:
    if node.function not in _SEARCHES:
        return 1.0
    literals = [one.value for one in node.args if isinstance(one, Literal) and isinstance(one.value, str)]
    if not literals:
        return None
    return max(1.0, max(map(len, literals)) * _PATTERN_PER_LETTER)


_INT64 = 2**63
_LARGEST_BITS = 1023
_TEXT = {str}
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

    @cached_property
    def is_large(self) -> bool:
        """Whether the total size is over LARGE. As bytes no value is shorter, and those are counted far sooner."""
        try:
            return len(marshal.dumps(self._values, 2)) > LARGE and self.size.total > LARGE
        except ValueError:  # nested too deeply for that
            return self.size.total > LARGE

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
            if one and set(map(type, one)) != _TEXT:
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
