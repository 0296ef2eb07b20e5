"""Grants that are missing, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SEPARATOR = "---\n"


def grants_yaml(files: Mapping[str, str]) -> str:
    """One stream of all files, each with its path above it."""
    return _SEPARATOR.join(f"# {path}\n{text}" for path, text in files.items())


def summary(*, grants: int, lines: int, granted: int) -> str:
    """What there is, and what it is for."""
    if not lines:
        return "no workload has any privilege"
    if not grants:
        return "the one line of the ledger is granted" if lines == 1 else f"all {lines:,} lines of ledgers are granted"
    missing = lines - granted
    what = "1 grant" if grants == 1 else f"{grants:,} grants"
    which = f"{missing:,} of the {lines:,} lines of ledgers" if missing < lines else f"all {lines:,} lines of ledgers"
    if lines == 1:
        which = "the one line of the ledger"
    return f"{what} for {which}"
