"""Tables that spreadsheets open."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.masking import masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STARTS = ("=", "+", "-", "@", "\t", "\r")


def harmless_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: behind an apostrophe, as they show text."""
    return f"'{text}" if text.lstrip(" ").startswith(_STARTS) else text


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """RFC 4180, with lines that end as on Unix. No secret is in a cell, and none is a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([harmless_cell(masked(text)) for text in row])
    return out.getvalue()
