"""Which drift a change brings, and which it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import DriftChange
from poolsmith.change.drift.forecast import Drift, forecast
from poolsmith.change.drift.words import cure_words, drift_words
from poolsmith.kubernetes.server.field_change import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.change.review.change import SeenCluster
    from poolsmith.core.diagnostics import Location

_Key = tuple[str, str, str]


def drift_changes(before: SeenCluster | None, after: SeenCluster | None) -> tuple[DriftChange, ...]:
    """What the cluster's own engine and diff would tell for ever, new with the change or gone with it.

    Also what is cured: a release may bring a field that needs a cure. What only happens under a condition that no
    profile tells is left out.
    """
    old, new = _told(before), _told(after)
    found = [_change(Standing.ADDED, item, after) for key, item in new.items() if _is_news(item, old.get(key))]
    found += [_change(Standing.REMOVED, item, before) for key, item in old.items() if _is_news(item, new.get(key))]
    return tuple(found)


def _is_news(item: Drift, other: Drift | None) -> bool:
    return other is None or (item.cure is None) != (other.cure is None)


def _told(seen: SeenCluster | None) -> Mapping[_Key, Drift]:
    if seen is None:
        return {}
    found = forecast(seen.plan, seen.prediction)
    told = (item for item in found.drifts if not item.when and item.is_told_by(found.compared))
    return {(item.kind, f"{item.namespace}/{item.name}", item.field): item for item in told}


def _change(standing: Standing, item: Drift, seen: SeenCluster | None) -> DriftChange:
    words = drift_words(item) if item.cure is None else f"{drift_words(item)}; {cure_words(item.cure)}"
    return DriftChange(
        standing=standing, what=item.what, words=words, cured=item.cure is not None, place=_place(item, seen)
    )


def _place(item: Drift, seen: SeenCluster | None) -> Location | None:
    files = seen.loaded.files if seen is not None else {}
    return files[item.place.path].locate(item.place.pointer) if item.place and item.place.path in files else None
