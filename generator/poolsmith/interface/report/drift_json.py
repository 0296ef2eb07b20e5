"""Drift forecasts as JSON, version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.change.drift.words import drift_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.change.drift.forecast import Drift, Forecast
    from poolsmith.fleet.plan.origin import FromProfile


def drift_json(forecasts: Sequence[Forecast], lines: Mapping[FromProfile, int]) -> str:
    """Everything that is known, also what is cured and what other diffs would tell."""
    body = {"version": 1, "clusters": [_cluster(item, lines) for item in forecasts]}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _cluster(found: Forecast, lines: Mapping[FromProfile, int]) -> dict[str, Any]:
    told = found.uncured()
    return {
        "cluster": found.cluster,
        "release": found.release,
        "kubernetes": found.kubernetes,
        "engine": str(found.compared.engine),
        "diff": str(found.compared.diff),
        "objects": found.objects,
        "defaultsThatNoDiffShows": found.added,
        "drift": [_drift(item, lines, told=item in told) for item in found.drifts],
        "unknown": list(found.unknown),
    }


def _drift(item: Drift, lines: Mapping[FromProfile, int], *, told: bool) -> dict[str, Any]:
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
        "told": told,
        "cure": None if item.cure is None else {"kind": str(item.cure.kind), "text": item.cure.text},
        "onlyIf": item.when or None,
        "from": place,
    }
