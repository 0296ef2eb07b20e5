"""The list and set functions of Kubernetes and cel-go."""

from __future__ import annotations

import datetime as dt
from functools import cmp_to_key
from typing import Any

from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions import strings
from poolsmith.kubernetes.cel.functions.values import (
    INT64,
    MOST_ITEMS,
    NO_OVERLOAD,
    TooLargeError,
    compare,
    equal,
    is_number,
    items,
    kind,
    no_overload,
    whole,
)

_MOST_STEPS = 1_000_000


def index_of(value: Any, wanted: Any, start: Any = None) -> int:
    if isinstance(value, str):
        return strings.index_of(value, wanted, 0 if start is None else start)
    return next((at for at, one in enumerate(items(value)) if equal(one, wanted)), -1)


def last_index_of(value: Any, wanted: Any, start: Any = None) -> int:
    if isinstance(value, str):
        return strings.last_index_of(value, wanted, start)
    found = [at for at, one in enumerate(items(value)) if equal(one, wanted)]
    return found[-1] if found else -1


def total(value: Any) -> Any:
    """sum(): whole numbers, doubles or durations."""
    parts = items(value)
    if parts and all(isinstance(one, dt.timedelta) for one in parts):
        return sum(parts, dt.timedelta())
    kinds = {type(one) for one in parts}
    if len(kinds) > 1 or not kinds <= {int, float}:
        raise no_overload()
    result = sum(parts)
    if isinstance(result, int) and not -INT64 <= result < INT64:
        raise CelError("integer overflow")
    return result


def total_int(value: Any) -> int:
    if not all(type(one) is int for one in items(value)):
        raise CelError(NO_OVERLOAD)
    return int(total(value))


def total_double(value: Any) -> float:
    if not all(type(one) is float for one in items(value)):
        raise CelError(NO_OVERLOAD)
    return float(total(value))


def total_duration(value: Any) -> Any:
    return total(value) or dt.timedelta()


def is_sorted(value: Any) -> bool:
    """False at the first fall; elements of two kinds do not fall, as in Kubernetes, which overlooks their error."""
    before = None
    for at, one in enumerate(map(_comparable, items(value))):
        if at and _order(before, one) > 0:
            return False
        before = one
    return True


def _most(value: Any, word: str, sign: int) -> Any:
    parts = list(map(_comparable, items(value)))
    if not parts:
        raise CelError(f"{word} called on empty list")
    best = parts[0]
    for one in parts[1:]:
        if _order(one, best) == sign:
            best = one
    return best


def _comparable(value: Any) -> Any:
    compare(value, value)
    return value


def _order(one: Any, other: Any) -> int:
    """As compare(), but 0 where the kinds differ."""
    return compare(one, other) if kind(one) == kind(other) else 0


def smallest(value: Any) -> Any:
    return _most(value, "min", -1)


def largest(value: Any) -> Any:
    return _most(value, "max", 1)


def distinct(value: Any) -> list[Any]:
    parts = items(value)
    if _all_text(parts):
        return list(dict.fromkeys(parts))
    _bounded(len(parts) ** 2, "distinct()")
    out: list[Any] = []
    for one in parts:
        if not any(equal(one, known) for known in out):
            out.append(one)
    return out


def backwards(value: Any) -> list[Any]:
    return items(value)[::-1]


def sliced(value: Any, start: Any, end: Any) -> list[Any]:
    parts, first, last = items(value), whole(start), whole(end)
    if first < 0 or last < 0:
        raise CelError(f"cannot slice({first}, {last}), negative indexes not supported")
    if first > last:
        raise CelError(f"cannot slice({first}, {last}), start index must be less than or equal to end index")
    if last > len(parts):
        raise CelError(f"cannot slice({first}, {last}), list is length {len(parts)}")
    return parts[first:last]


def flattened(value: Any, depth: Any = 1) -> list[Any]:
    levels = whole(depth)
    if levels < 0:
        raise CelError("level must be non-negative")
    out: list[Any] = []
    for one in items(value):
        if isinstance(one, list) and levels > 0:
            out += flattened(one, levels - 1)
        else:
            out.append(one)
    return out


def numbers(count: Any) -> list[int]:
    many = whole(count)
    if many > MOST_ITEMS:
        raise TooLargeError(f"a list of {many}")
    return list(range(many))


def in_order(value: Any) -> list[Any]:
    return by_keys(value, value)


def by_keys(value: Any, keys: Any) -> list[Any]:
    """sort() and sortBy(): the order of the keys, equal ones as they stood."""
    parts, marks = items(value), items(keys)
    if marks and not all(type(one) is type(marks[0]) for one in marks):
        raise CelError("list elements must have the same type")
    if len(marks) == 1:
        compare(marks[0], marks[0])

    def order(one: int, other: int) -> int:
        return compare(marks[one], marks[other])

    places = sorted(range(len(parts)), key=cmp_to_key(order))
    return [parts[at] for at in places]


def pairs(value: Any) -> dict[Any, Any]:
    """transformMap(): the map of [key, value] pairs."""
    return {_key(one[0]): one[1] for one in items(value)}


def entries(value: Any) -> dict[Any, Any]:
    """transformMapEntry(): one map of many; raises CelError when a key comes twice."""
    out: dict[Any, Any] = {}
    for one in items(value):
        if not isinstance(one, dict):
            raise no_overload()
        for key, held in one.items():
            if key in out:
                raise CelError(f"insert failed: key {key} already exists")
            out[key] = held
    return out


def _key(value: Any) -> Any:
    if isinstance(value, str | bool) or is_number(value):
        return value
    raise CelError("unsupported key type")


def _all_text(parts: list[Any]) -> bool:
    return all(type(one) is str for one in parts)


def _bounded(steps: int, name: str) -> None:
    if steps > _MOST_STEPS:
        raise TooLargeError(f"{steps} comparisons in {name}")


def contains(value: Any, wanted: Any) -> bool:
    known, parts = items(value), items(wanted)
    if _all_text(known) and _all_text(parts):
        return set(parts) <= set(known)
    _bounded(len(known) * len(parts), "sets.contains()")
    return all(any(equal(one, other) for other in known) for one in parts)


def equivalent(one: Any, other: Any) -> bool:
    return contains(one, other) and contains(other, one)


def intersects(one: Any, other: Any) -> bool:
    parts, known = items(one), items(other)
    if _all_text(parts) and _all_text(known):
        return not set(parts).isdisjoint(known)
    _bounded(len(known) * len(parts), "sets.intersects()")
    return any(equal(part, wanted) for part in parts for wanted in known)
