"""Drift forecasts as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.drift.words import cure_words, drift_words, engine_words
from poolsmith.core.diagnostics.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from poolsmith.change.drift.forecast import Forecast
    from poolsmith.fleet.plan.origin import FromProfile


def drift_text(forecasts: Sequence[Forecast], lines: Mapping[FromProfile, int]) -> str:
    """One block for each cluster; one line where nothing is told, cured or conditional."""
    return "".join(f"{printable(line)}\n" for item in forecasts for line in _cluster(item, lines))


def _cluster(found: Forecast, lines: Mapping[FromProfile, int]) -> Iterator[str]:
    told = found.uncured()
    state = _state(sum(not item.fails_in(found.compared) for item in told), len(told))
    yield f"{found.cluster}: {state} ({found.release}, Kubernetes {found.kubernetes}, {engine_words(found.compared)})"
    for item in told:
        yield f"  {item.what}: {drift_words(item)}{'; it fails' if item.fails_in(found.compared) else ''}"
        if item.place is not None:
            line = lines.get(item.place)
            yield f"    from {item.place.path}{f':{line}' if line else ''}"
    for item in found.drifts:
        if item.cure is not None and item.is_told_by(found.compared):
            yield f"  {item.what}: {drift_words(item)}; {cure_words(item.cure)}"
    for item in found.drifts:
        if item.when and item.is_told_by(found.compared):
            yield f"  only if {item.when}: {item.what}: {item.means}; {item.advice}"
    for text in found.unknown:
        yield f"  not known: {text}"


def _state(differing: int, told: int) -> str:
    """How many of the fields that are told differ, and how many make the engine fail."""
    if not told:
        return "in sync"
    differ = f"{_fields(differing)} will differ for ever" if differing else ""
    fail = f"{_fields(told - differing)} will make it fail" if told > differing else ""
    return ", ".join(filter(None, (differ, fail)))


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"
