"""How the work of a run grows with its input, in calls of functions: the same on each machine, however busy it is."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.core import record as records
from poolsmith.core.sources import yaml_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST = 2.3
"""Twice the input costs twice as many calls; sorting costs a little more."""
_TOP = 6
_FEW = 300


def settle() -> None:
    """Compile `__init__` of all records, which else comes with the ninth object, in whichever run that is."""
    for item in gc.get_objects():
        if type(item) is records._Fields and item.record.__init__.__name__ == "first":
            item.record.__init__ = records._init(item, "__init__")


def calls_of(run: Callable[[], object]) -> Counter[str]:
    """Calls by function; those of built-in functions by who calls them. Layouts of YAML are those of a new process,
    whatever other runs have read."""
    counted: Counter[Any] = Counter()

    def count(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            counted[frame.f_code] += 1
        elif event == "c_call":
            counted[frame.f_code, argument.__name__] += 1

    yaml_lines._layouts.cache_clear()
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
        if was_on:
            gc.enable()
    named: Counter[str] = Counter()
    for what, number in counted.items():
        code, called = what if isinstance(what, tuple) else (what, "")
        place = f"{code.co_filename.rpartition('poolsmith/')[2]}:{code.co_firstlineno} {code.co_name}"
        named[f"{place}, its calls of {called}" if called else place] += number
    return named


def too_fast(counts: Sequence[Counter[str]]) -> list[str]:
    """What grows faster than the input, of three runs with one, two and four times as much of it.

    What a run costs whatever its input is falls out of the differences: of linear work the second one is twice the
    first, of quadratic work four times.
    """
    once, twice, four_times = counts
    found = [("all calls", *(sum(item.values()) for item in counts))]
    found += [(name, once[name], twice[name], four_times[name]) for name in four_times]
    slow = [item for item in found if item[3] - item[2] > MOST * max(item[2] - item[1], _FEW)]
    slow.sort(key=lambda item: item[2] - item[3])
    return [f"{name}: {first:,}, {second:,}, {third:,}" for name, first, second, third in slow[:_TOP]]
