"""A rule as runs know it, from a table made of its page in `data/rules/`."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

_Info = TypeVar("_Info", bound="RuleInfo")


class Severity(StrEnum):
    """SARIF's three words, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        return _RANK[self]


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


@record
class RuleInfo:
    """What a run has to know of a rule. Code and name are public and never reused.

    `severity` is the one where nobody sets another. `parameters` are numbers that a repository may set, with their
    defaults. `fix` is what to do, where a finding doesn't say it. Without `to_do` its findings tell something about
    which nothing has to be done; only who asks for all of them reads those that are notes. `at_key`: what is wrong is
    the key, whatever its value. `follows`: its findings follow from other mistakes, or from a command that was not run.
    """

    code: str
    name: str
    severity: Severity = Severity.ERROR
    parameters: tuple[tuple[str, int], ...] = ()
    fix: str = ""
    to_do: bool = True
    at_key: bool = False
    follows: bool = False

    @staticmethod
    @cache
    def of(code: str) -> RuleInfo:
        """The rule that has the code. Raises KeyError where `make docs-of-rules` has to be run."""
        return rule_info(RuleInfo, _rows()[code])


@cache
def _rows() -> dict[str, dict[str, Any]]:
    import json  # on demand
    from pathlib import Path  # on demand

    table = Path(__file__).parents[2] / "data/rules.json"
    return {row["code"]: row for row in json.loads(table.read_bytes())}


def rules_by_code() -> dict[str, RuleInfo]:
    """Each rule by its code, in the order of the codes."""
    return {code: RuleInfo.of(code) for code in _rows()}


def rule_info(kind: type[_Info], row: Mapping[str, Any]) -> _Info:
    """A row of the table, or an entry of `data/rules/` with its code."""
    severity = Severity(row.get("severity", Severity.ERROR))
    return kind(**{**row, "severity": severity, "parameters": tuple(row.get("parameters", {}).items())})
