"""Runs rules over a tree and turns what they find into diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from poolsmith.diagnostics import Diagnostic, RuleInfo, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.repository.manifest_files import CheckedDocument, CheckedTree


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule yields: a place and a message; the engine adds code, severity and lines."""

    document: CheckedDocument
    pointer: str
    message: str
    help: str | None = None
    related: tuple[tuple[CheckedDocument, str, str], ...] = ()


class Rule(Protocol):
    """A module of `rules/`: its entry in the code book, and one generator function."""

    RULE: RuleInfo

    def check(self, tree: CheckedTree) -> Iterator[Finding]: ...


def run_rules(rules: Iterable[Rule], tree: CheckedTree) -> list[Diagnostic]:
    return [_diagnostic(rule.RULE, finding) for rule in rules for finding in rule.check(tree)]


def _diagnostic(rule: RuleInfo, finding: Finding) -> Diagnostic:
    return diagnose(
        rule,
        finding.message,
        finding.document.source.locate(finding.pointer),
        help=finding.help,
        subject=finding.document.name,
        related=tuple(document.source.locate(pointer, note) for document, pointer, note in finding.related),
    )
