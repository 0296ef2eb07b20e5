"""Drift forecasts as text for a terminal, and as JSON, version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.change.drift.forecast import cure_words, drift_words, engine_words
from poolsmith.core.diagnostics.message_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from poolsmith.change.drift.forecast import Drift, Forecast
    from poolsmith.fleet.plan.origin import FromProfile


def drift_text(forecasts: Sequence[Forecast], lines: Mapping[FromProfile, int]) -> str:
    """One block for each cluster; one line where there is no drift."""
    return "".join(f"{printable(line)}\n" for item in forecasts for line in _cluster(item, lines))


def _cluster(found: Forecast, lines: Mapping[FromProfile, int]) -> Iterator[str]:
    uncured = found.uncured()
    state = _state(sum(not item.fails_in(found.compared) for item in uncured), len(uncured))
    yield f"{found.cluster}: {state} ({found.release}, Kubernetes {found.kubernetes}, {engine_words(found.compared)})"
    for item in uncured:
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


def _state(differing: int, uncured: int) -> str:
    """How many of the fields that are told differ, and how many make the engine fail."""
    if not uncured:
        return "in sync"
    differ = f"{_fields(differing)} will always show as out of sync" if differing else ""
    fail = f"{_fields(uncured - differing)} will make it fail" if uncured > differing else ""
    return ", ".join(filter(None, (differ, fail)))


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"


def drift_json(forecasts: Sequence[Forecast], lines: Mapping[FromProfile, int]) -> str:
    """Everything that is known, also what is cured and what other diffs would tell."""
    body = {"version": 1, "clusters": [_cluster_json(item, lines) for item in forecasts]}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _cluster_json(found: Forecast, lines: Mapping[FromProfile, int]) -> dict[str, Any]:
    uncured = found.uncured()
    return {
        "cluster": found.cluster,
        "release": found.release,
        "kubernetes": found.kubernetes,
        "engine": str(found.compared.engine),
        "diff": str(found.compared.diff),
        "objects": found.objects,
        "defaultsThatNoDiffShows": found.added,
        "drift": [_drift_json(item, lines, is_shown=item in uncured) for item in found.drifts],
        "unknown": list(found.unknown),
    }


def _drift_json(item: Drift, lines: Mapping[FromProfile, int], *, is_shown: bool) -> dict[str, Any]:
    place = None
    if item.place is not None:
        place = {"path": item.place.path, "pointer": item.place.pointer, "line": lines.get(item.place)}
    return {
        "apiVersion": item.api_version,
        "kind": item.kind,
        "namespace": item.namespace,
        "name": item.name,
        "unit": item.unit,
        "field": item.field,
        "effect": str(item.effect),
        "words": drift_words(item),
        "stored": item.stored,
        "reportedBy": sorted(item.reported),
        "refusedBy": sorted(item.refused),
        "told": is_shown,
        "cure": None if item.cure is None else {"kind": str(item.cure.kind), "text": item.cure.text},
        "onlyIf": item.when or None,
        "from": place,
    }
