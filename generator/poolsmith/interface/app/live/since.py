"""Use case: what is new, gone and old since an earlier run, whose JSON was kept."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome

_MOST_BYTES = 64 << 20
_FEW = 4
_Key = tuple[str, str]
"""Code and subject: a message may count otherwise, and still be about the same."""


@record
class EarlierRun:
    """`first_seen` has each finding of that run, and when it was first told: empty where that run did not say."""

    file: Path
    first_seen: Mapping[_Key, str]


def earlier_run(file: Path) -> EarlierRun:
    """A run that was written with `--format json`. Raises UsageError for what is none."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{file} is larger than a report can be ({_MOST_BYTES >> 20} MiB)")
        body = mapping(json.loads(file.read_text("utf-8")))
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file} is no report: it is not JSON; `verify --output json=FILE` writes one") from None
    if not isinstance(body.get("diagnostics"), list):
        raise UsageError(f"{file} is no report: it has no `diagnostics`; `verify --output json=FILE` writes one")
    taken = moment(body.get("taken"))
    items = mappings(body["diagnostics"])
    seen = {
        (word(item.get("code")), word(item.get("subject"))): moment(item.get("firstSeen")) or taken for item in items
    }
    return EarlierRun(file=file, first_seen=seen)


def moment(told: Any) -> str:
    """A time with its zone, as it was told; empty for what is none."""
    try:
        return told if dt.datetime.fromisoformat(told).tzinfo is not None else ""
    except (TypeError, ValueError):
        return ""


def aged(outcome: Outcome, before: EarlierRun | None) -> Outcome:
    """With when each finding was first told: now, unless the earlier run has it."""
    if not outcome.taken:
        return outcome
    known = {} if before is None else before.first_seen
    keys = sorted({(item.code, item.subject) for item in outcome.diagnostics})
    return replace(outcome, first_seen={key: known.get(key) or outcome.taken for key in keys})


def since(before: EarlierRun, outcome: Outcome, days: int) -> Iterator[str]:
    """Sentences for the report. What is older than `days` when the cluster is read is told too."""
    then, now = before.first_seen.keys(), {(item.code, item.subject) for item in outcome.diagnostics}
    new, gone = now - then, then - now
    yield f"since {before.file}: {len(new)} new, {len(gone)} gone, {counted(len(now & then), 'finding')} as before"
    told = ("new since then", new), ("gone since then", gone), (f"older than {days} days", _older(outcome, days))
    for what, found in told:
        if found:
            yield f"{what}: {listed([f'{code} {subject}'.strip() for code, subject in sorted(found)], _FEW)}"


def _older(outcome: Outcome, days: int) -> Iterable[_Key]:
    if not outcome.taken:
        return ()
    limit = dt.datetime.fromisoformat(outcome.taken) - dt.timedelta(days=days)
    return [key for key, first in outcome.first_seen.items() if dt.datetime.fromisoformat(first) < limit]
