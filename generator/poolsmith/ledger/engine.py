"""Runs the rules over one cluster and turns what they find into diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from poolsmith.diagnostics import Diagnostic, RuleInfo, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.ledger.view import PrivilegeView, SeenWorkload


@dataclass(frozen=True, slots=True)
class PrivilegeFinding:
    """`line` is the origin that brings it about; `related` are further ones, each with what is to be seen there.

    `about` is the workload that it is about, where it is about one.
    """

    message: str
    line: str
    related: tuple[tuple[str, str], ...] = ()
    help: str | None = None
    about: SeenWorkload | None = None


class PrivilegeRule(Protocol):
    """A module of this folder: its entry in the code book, and one generator function."""

    RULE: RuleInfo

    def check(self, view: PrivilegeView) -> Iterator[PrivilegeFinding]: ...


def run_privilege_rules(rules: Iterable[PrivilegeRule], view: PrivilegeView) -> tuple[Diagnostic, ...]:
    return tuple(_diagnostic(rule.RULE, finding, view) for rule in rules for finding in rule.check(view))


def _diagnostic(rule: RuleInfo, finding: PrivilegeFinding, view: PrivilegeView) -> Diagnostic:
    related: dict[str, str] = {}
    for line, note in finding.related:
        if line != finding.line:
            related.setdefault(line, note)
    return diagnose(
        rule,
        finding.message,
        view.locate(finding.line),
        help=finding.help,
        subject=view.cluster if finding.about is None else f"{view.cluster}/{finding.about.key}",
        related=tuple(view.locate(line, note) for line, note in related.items()),
    )
