"""Answers that were asked for last, so that a fleet of many unlike clusters does not grow without bound."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

V = TypeVar("V")


class Latest:
    """At most so many, by what they follow from; the one that was not asked for longest is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def of(self, key: Hashable, make: Callable[[], V]) -> V:
        if key not in self._known:
            self.keep(key, make())
        found: V = self.get(key)
        return found

    def get(self, key: Hashable) -> Any:
        """None where it is not known, or known as None."""
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def keep(self, key: Hashable, answer: object) -> None:
        self._known[key] = answer
        if len(self._known) > self._most:
            self._known.popitem(last=False)
