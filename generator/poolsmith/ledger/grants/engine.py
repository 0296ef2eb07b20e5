"""Runs the rules over grants and turns what they find into diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from poolsmith.diagnostics import Diagnostic, RuleInfo, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.ledger.grants.review import GrantFinding

Seen_contra = TypeVar("Seen_contra", contravariant=True)


class GrantRule(Protocol[Seen_contra]):
    """A module of this folder: its entry in the code book, and one generator function."""

    RULE: RuleInfo

    def check(self, view: Seen_contra, /) -> Iterator[GrantFinding]: ...


def run_grant_rules(rules: Iterable[GrantRule[Seen_contra]], view: Seen_contra) -> tuple[Diagnostic, ...]:
    return tuple(
        diagnose(
            rule.RULE,
            finding.message,
            finding.place,
            help=finding.help,
            subject=finding.subject,
            related=finding.related,
        )
        for rule in rules
        for finding in rule.check(view)
    )
