"""Texts of one layout: as many lines as a text that was read before, with other scalars in some of them.

Files of one kind are written alike. Of the second one with as many lines, and the same first ones, the place of each
scalar that ends on its line is noted. Those that follow are compared with it line by line: where all that differs are
such scalars, a whole reading would go the same way, and they are given its data with scalars of their own.
"""

from __future__ import annotations

import marshal
from functools import reduce
from itertools import compress, count
from operator import getitem, ne
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Kind = tuple[int | str, ...]
    _Steps = tuple[Any, ...]
    _Layout = tuple[list[str], dict[int, tuple[str, _Steps, Any]], bytes]

Spot = tuple[int, str, Any, Any]
"""The number of a line, the scalar that ends it, and the collection and the key where it went."""
_FEWEST_LINES, _MOST_LINES = 16, 1_024
_FIRST, _FEW = 3, 4
_KEPT = 3
"""Layouts whose texts have as many lines and the same first ones."""
_PATIENCE = 64
"""Layouts that may be kept without a text that has one, until no more are."""


class Layouts:
    """`scalar` gives what a text is that ends a line, and raises KeyError where that may be no scalar.

    Of a layout are kept its lines; for each that may be otherwise what it begins with, the steps to the collection of
    its scalar and the key there; and the data as bytes.
    """

    def __init__(self, scalar: Callable[[str], Any]) -> None:
        self._scalar = scalar
        self._known: dict[_Kind, list[_Layout]] = {}
        self._last: dict[_Kind, list[str]] = {}
        self._patience = _PATIENCE

    def documents(self, lines: list[str]) -> list[Any] | None:
        """Those of a text that has a layout which is kept."""
        for alike, spots, content in self._known.get(_kind(lines), ()):
            try:
                said = [(self._scalar(text), place) for text, place in _otherwise(lines, alike, spots)]
            except KeyError:
                continue
            found: list[Any] = marshal.loads(content)  # noqa: S302 - bytes made here
            for value, (steps, key) in said:
                reduce(getitem, steps, found)[key] = value
            self._patience = _PATIENCE
            return found
        return None

    def is_wanted(self, lines: list[str]) -> bool:
        """Whether that of a text is to be kept: one was like it but for a few lines."""
        if not self._patience or not _FEWEST_LINES <= len(lines) <= _MOST_LINES:
            return False
        before = self._last.get(_kind(lines))
        self._last[_kind(lines)] = lines
        return before is not None and sum(map(ne, lines, before)) < len(lines) // _FEW

    def keep(self, lines: list[str], documents: list[Any], spots: list[Spot]) -> None:
        steps = dict(_steps(documents))
        places = {
            number: (lines[number].removesuffix(value), steps[id(box)], key)
            for number, value, box, key in spots
            if id(box) in steps
        }
        layouts = self._known.setdefault(_kind(lines), [])
        layouts.insert(0, (lines, places, marshal.dumps(documents)))
        del layouts[_KEPT:]
        self._patience -= 1


def _kind(lines: list[str]) -> _Kind:
    return len(lines), *lines[:_FIRST]


def _otherwise(
    lines: list[str], alike: list[str], spots: dict[int, tuple[str, _Steps, Any]]
) -> Iterator[tuple[str, tuple[_Steps, Any]]]:
    """The ends of lines that differ, each with the place of its scalar. Raises KeyError where that is none."""
    for number in compress(count(), map(ne, lines, alike)):
        begin, steps, key = spots[number]
        if not lines[number].startswith(begin):
            raise KeyError(number)
        yield lines[number][len(begin) :], (steps, key)


def _steps(documents: list[Any]) -> Iterator[tuple[int, _Steps]]:
    """To each collection, by what it is."""
    pending: list[tuple[Any, _Steps]] = [(documents, ())]
    while pending:
        box, steps = pending.pop()
        yield id(box), steps
        items = box.items() if isinstance(box, dict) else enumerate(box)
        pending += ((item, (*steps, key)) for key, item in items if isinstance(item, (dict, list)))
