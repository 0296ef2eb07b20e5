"""Use case: what is new and what is gone since an earlier run, whose JSON was kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.sources.pod_template import mapping, mappings, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic

_MOST_BYTES = 64 << 20
_FEW = 4
_Key = tuple[str, str]
"""Code and subject: a message may count otherwise, and still be about the same."""


def earlier_run(file: Path) -> frozenset[_Key]:
    """The findings of a run that was written with `--format json`. Raises UsageError for what is none."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{file} is larger than a report can be ({_MOST_BYTES >> 20} MiB)")
        body = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file} is no report: it is not JSON; `verify --output json=FILE` writes one") from None
    if not isinstance(mapping(body).get("diagnostics"), list):
        raise UsageError(f"{file} is no report: it has no `diagnostics`; `verify --output json=FILE` writes one")
    return frozenset((word(item.get("code")), word(item.get("subject"))) for item in mappings(body["diagnostics"]))


def since(file: Path, before: frozenset[_Key], now: Iterable[Diagnostic]) -> Iterator[str]:
    """Sentences for the report."""
    keys = {(item.code, item.subject) for item in now}
    new, gone = sorted(keys - before), sorted(before - keys)
    yield f"since {file}: {len(new)} new, {len(gone)} gone, {counted(len(keys & before), 'finding')} as before"
    for what, found in (("new", new), ("gone", gone)):
        if found:
            yield f"{what} since then: {listed([f'{code} {subject}'.strip() for code, subject in found], _FEW)}"
