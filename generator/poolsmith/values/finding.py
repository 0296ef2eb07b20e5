"""What is said about one place in Helm values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.diagnostics import RuleInfo, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFinding:
    """`path` are the steps from the top of the values to the place: keys, and indices of lists."""

    rule: RuleInfo
    path: tuple[str | int, ...]
    message: str
    help: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesJudgement:
    """What the rules said about one values document.

    `hidden` counts findings beyond those that are told one by one. `not_evaluated` counts values that nothing is
    known about, as most of a subchart's.
    """

    findings: tuple[ValueFinding, ...] = ()
    hidden: int = 0
    hidden_errors: int = 0
    values: int = 0
    not_evaluated: int = 0
