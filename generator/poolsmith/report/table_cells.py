"""Cells of tables that spreadsheets open."""

from __future__ import annotations

_STARTS = ("=", "+", "-", "@", "\t", "\r")


def harmless_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: behind an apostrophe, as they show text."""
    return f"'{text}" if text.lstrip(" ").startswith(_STARTS) else text
