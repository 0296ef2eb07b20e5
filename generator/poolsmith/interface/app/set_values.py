"""Values that are given with `--set`.

The rules are imported when values are judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity, UsageError
from poolsmith.kubernetes.helm.set_flag import SetError, apply_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_READ_AS_MEANT = "PSM3"
"""Codes of what the chart does not take as it is written; other codes say that it is a mistake."""


def set_all(values: dict[str, Any], settings: Iterable[str]) -> None:
    """Write the settings into the values, as Helm does. Raises UsageError."""
    for setting in settings:
        try:
            apply_set(values, setting)
        except SetError as error:
            raise UsageError(f"--set {setting}: {error}") from None


def refuse_unsound(values: dict[str, Any], before: dict[str, Any], releases: Iterable[str]) -> None:
    """A value that no chart reads would change nothing, and look as if it were harmless.

    What one of the releases takes is let through, and what is wrong with the values before. Raises UsageError.
    """
    asked = list(releases)
    found = [dict(_errors(values, release)) for release in asked]
    known = {key for release in asked for key, _ in _errors(before, release)}
    for key, message in found[0].items():
        if key not in known and all(key in errors for errors in found):
            raise UsageError(f"--set: {message}")


def _errors(values: dict[str, Any], release: str) -> Iterator[tuple[tuple[str, tuple[str | int, ...]], str]]:
    """By rule and place, with what to do instead."""
    from poolsmith.gpu.values.judge import judge_stack_values  # on demand

    for found in judge_stack_values(values, release, {}).findings:
        rule, finding = found
        if not rule.code.startswith(_READ_AS_MEANT):
            continue  # a bad idea is a good question
        if found.severity is Severity.ERROR:
            message = f"{finding.message}; {finding.help}" if finding.help else finding.message
            yield (rule.code, finding.place), message
