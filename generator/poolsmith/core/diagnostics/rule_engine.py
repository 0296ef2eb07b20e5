"""Runs rules of any kind over what they look at, and turns what they find into diagnostics.

A rule that finds the same in thousands of objects must not hide all others: of one rule a limited number is shown, and
the rest is counted in one more finding.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from poolsmith.core.diagnostics.diagnostic import Diagnostic, diagnose
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.core.diagnostics.diagnostic import Location
    from poolsmith.core.diagnostics.rule_info import RuleInfo, Severity


PlaceT_co = TypeVar("PlaceT_co", covariant=True)


@record
class Finding(Generic[PlaceT_co]):
    """`place` is a line that the user edits, or what leads to one, such as the steps of a path in Helm values.

    `related` are further places, each with what is to be seen there. Without a severity of its own a finding has its
    rule's, without a subject that of all that the rule looked at.
    """

    message: str
    place: PlaceT_co
    help: str | None = None
    related: tuple[Location, ...] = ()
    severity: Severity | None = None
    subject: str = ""


MOST_OF_ONE_RULE = 50
ViewT = TypeVar("ViewT")
ViewT_contra = TypeVar("ViewT_contra", contravariant=True)
PlaceT = TypeVar("PlaceT")


class Rule(Protocol[ViewT_contra, PlaceT_co]):
    """A module: its entry in the code book, and one generator function over what the rule looks at."""

    RULE: RuleInfo

    def check(self, view: ViewT_contra, /) -> Iterator[Finding[PlaceT_co]]: ...


class Found(NamedTuple, Generic[PlaceT_co]):
    """A finding, and the rule that it is of."""

    rule: RuleInfo
    finding: Finding[PlaceT_co]

    @property
    def severity(self) -> Severity:
        return self.finding.severity or self.rule.severity

    def at(self, place: Location, subject: str = "") -> Diagnostic:
        """The diagnostic; `subject` is for a finding that has none of its own."""
        return diagnose(
            self.rule,
            self.finding.message,
            place,
            help=self.finding.help,
            subject=self.finding.subject or subject,
            related=self.finding.related,
            severity=self.finding.severity,
        )


def findings_of(
    rules: Iterable[Rule[ViewT, PlaceT]],
    view: ViewT,
    *,
    shown: Counter[tuple[str, str]] | None = None,
    file_of: Callable[[PlaceT], str] = lambda _: "",
) -> Iterator[Found[PlaceT]]:
    """What the rules find, MOST_OF_ONE_RULE of each, and then how much more there is.

    `file_of` is for a view of many files: then so much is shown for each. `shown` counts by rule and file what is
    shown; views that stand in one file share it.
    """
    shown = Counter() if shown is None else shown
    for rule in rules:
        last: dict[str, Finding[PlaceT]] = {}
        hidden: dict[str, list[Severity]] = {}
        for finding in rule.check(view):
            file = file_of(finding.place)
            key = (rule.RULE.code, file)
            if shown[key] < MOST_OF_ONE_RULE:
                shown[key] += 1
                last[file] = finding
                yield Found(rule.RULE, finding)
            else:
                last.setdefault(file, finding)
                hidden.setdefault(file, []).append(finding.severity or rule.RULE.severity)
        for file, severities in hidden.items():
            yield Found(rule.RULE, _more(rule.RULE, last[file], severities))


def _more(rule: RuleInfo, last: Finding[PlaceT], hidden: list[Severity]) -> Finding[PlaceT]:
    """At the place of the last one that is shown, as bad as the worst one that is not."""
    return replace(
        last,
        message=f"{len(hidden):,} more findings of `{rule.name}` are not shown",
        help="correct the ones above first",
        related=(),
        severity=min(hidden, key=lambda item: item.rank),
        subject="",
    )


def run_rules(
    rules: Iterable[Rule[ViewT, Location]], view: ViewT, subject: str = "", *, by_file: bool = False
) -> tuple[Diagnostic, ...]:
    """Over rules whose findings stand at lines. `by_file` bounds what is shown of one rule in each file.

    Of no things at all nothing is said, and no rule is loaded for it.
    """
    if view == ():
        return ()
    found = findings_of(rules, view, file_of=_path) if by_file else findings_of(rules, view)
    return tuple(item.at(item.finding.place, subject) for item in found)


def _path(place: Location) -> str:
    return place.span.path
