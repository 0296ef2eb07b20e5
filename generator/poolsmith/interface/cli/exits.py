"""The exit codes of all verbs."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    CLEAN = 0
    FINDINGS = 1
    """Findings at or above --fail-on, output out of date, or a file that could not be written."""
    USAGE = 2
    """Flags, or the project root."""
    NO_INPUT = 3
    """Nothing to work on."""
    INTERNAL = 70
    """A bug in poolsmith."""
    INTERRUPTED = 130
