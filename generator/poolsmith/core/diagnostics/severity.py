"""How bad a finding is."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """SARIF's three words, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        return _RANK[self]


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
