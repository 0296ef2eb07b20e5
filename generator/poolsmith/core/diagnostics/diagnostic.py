"""Diagnostic, the one type of a finding about a user's input, with its severity and place, and what stops a run.

Findings are values, collected and sorted. The exceptions mean that there is nothing to collect: only `cli` turns them
into an exit code.
"""

from __future__ import annotations

import hashlib
from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.masking import NO_SECRETS, KnownSecrets, masked, masked_line
from poolsmith.core.diagnostics.rule_info import Severity
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from poolsmith.core.diagnostics.rule_info import RuleInfo


@record(kw_only=False, order=True)
class Position:
    """A place in a text file; line and column count from 1, columns count code points."""

    line: int
    column: int


def position_in(text: str, at: int) -> Position:
    """Where a text has its sign number `at`."""
    return Position(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


@record
class Span:
    """A stretch of a file. Without `start` it means the whole file.

    `path` is relative to the project root, with forward slashes.
    """

    path: str
    start: Position | None = None
    end: Position | None = None

    def __str__(self) -> str:
        if self.start is None:
            return self.path
        return f"{self.path}:{self.start.line}:{self.start.column}"


@record
class Location:
    """A span, the JSON pointer (RFC 6901) that led to it, and what is to be seen there.

    `source_line` is without secrets. `secrets` are those of the file: a diagnostic leaves them out of its texts, and
    forgets them. `value` are start and end of what stands behind the key, where that is a scalar on the same line: what
    is underlined, unless the key is what is wrong.
    """

    span: Span
    pointer: str = ""
    note: str | None = None
    source_line: str | None = None
    secrets: KnownSecrets = field(default=NO_SECRETS, compare=False, repr=False)
    value: tuple[Position, Position] | None = field(default=None, compare=False, repr=False)

    @property
    def path(self) -> str:
        return self.span.path


OPEN = "open"
WAIVED = "waived"
"""Somebody has accepted the finding, and it fails no run."""
_START = Position(0, 0)


@record
class Diagnostic:
    """One finding about one place in a file that the user edits.

    `message` names the object and the field first; `help` names the key or value to use instead. `to_do`: whether its
    rule asks for something. `waived_because` is what somebody gave as the reason, where it is waived.
    """

    code: str
    name: str
    severity: Severity
    message: str
    primary: Location
    subject: str = ""
    related: tuple[Location, ...] = ()
    help: str | None = None
    status: str = OPEN
    to_do: bool = True
    waived_because: str = ""

    @property
    def is_waived(self) -> bool:
        return self.status == WAIVED

    @property
    def asks_nothing(self) -> bool:
        """A note that nobody has to act on. A setting that makes an error or a warning of it asks for something."""
        return not self.to_do and self.severity is Severity.NOTE

    @property
    def fingerprint(self) -> str:
        """Stable while lines move: code, file, pointer and message, but no line number."""
        text = f"{self.code}\0{self.primary.span.path}\0{self.primary.pointer}\0{self.message}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def sort_key(self) -> tuple[str, Position, int, str, str]:
        span = self.primary.span
        return span.path, span.start or _START, self.severity.rank, self.code, self.message


def diagnose(
    rule: RuleInfo,
    message: str,
    primary: Location,
    *,
    help: str | None = None,
    subject: str = "",
    related: tuple[Location, ...] = (),
    severity: Severity | None = None,
) -> Diagnostic:
    """A diagnostic of `rule`, at the rule's default severity unless told otherwise; without any secret of the files
    that it is about."""
    known = {id(place.secrets): place.secrets for place in (primary, *related) if place.secrets}.values()
    if rule.at_key and primary.value is not None:
        primary = replace(primary, value=None)
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=severity or rule.severity,
        message=_without(known, message),
        primary=_place_without(known, primary),
        help=_without(known, help) if help else rule.fix or None,
        subject=subject,
        related=tuple(_place_without(known, place) for place in related),
        to_do=rule.to_do,
    )


def _without(known: Collection[KnownSecrets], text: str) -> str:
    for secrets in known:
        text = secrets.without(text)
    return text if known else masked(text)


def _place_without(known: Collection[KnownSecrets], place: Location) -> Location:
    if place.note is None and place.source_line is None and not known:
        return place
    note = None if place.note is None else _without(known, place.note)
    line = None if place.source_line is None else _without(known, place.source_line)
    return replace(place, note=note, source_line=line, secrets=NO_SECRETS)


def whole_file(path: str, note: str | None = None) -> Location:
    return Location(span=Span(path=path), note=note)


def point_in(path: str, line: int, column: int, source_line: str | None = None) -> Location:
    """One place of a text file; line and column count from 1."""
    position = Position(line, column)
    shown = None if source_line is None else masked_line(source_line)
    return Location(span=Span(path=path, start=position, end=position), source_line=shown)


def sorted_unique(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By file and place, worst first at one place; what is told twice is kept once."""
    return tuple(dict.fromkeys(sorted(diagnostics, key=lambda item: item.sort_key)))


class PoolsmithError(Exception):
    """Root of everything that poolsmith raises on purpose."""

    exit_code = 1


class UsageError(PoolsmithError):
    """A flag or the project root is not what it should be."""

    exit_code = 2


class NoInputError(PoolsmithError):
    """There is nothing to work on, and a green run over nothing would be a lie."""

    exit_code = 3


class WriteError(PoolsmithError):
    """The output could not be written; what stood there before still stands."""


class WorkersLostError(PoolsmithError):
    """Who worked on a part of the clusters is gone, and trying again did not help; nothing is told of the rest."""
