"""What a run did, in the form that every report format takes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import counted, joined
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.core.diagnostics import Diagnostic, Location, Severity

LEFT_OUT_FOR_ERRORS = "generation"
"""What is not looked at where profiles have errors."""


@record(kw_only=False)
class Skipped:
    """Something that a run did not look at, and why. `by_design`: nobody would expect it to."""

    what: str
    reason: str
    by_design: bool = False


@record
class Coverage:
    """How many configurations of the GPU stack a run found, and those that it could not judge: each says what it is,
    why, and what to add."""

    found: int
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def line(self) -> str:
        told = f"judged {self.found - len(self.unjudged):,} of {counted(self.found, 'GPU configuration')}"
        listed = joined([f"{item.what} ({item.why}; {item.add})" for item in self.unjudged], _MOST_NAMED, "; ")
        return f"{told}; not judged: {listed}" if listed else told


@record
class Unjudged:
    """A configuration that nobody judged. `what` has its file and line."""

    what: str
    why: str
    add: str


_MOST_NAMED = 3


@record
class Unevaluated:
    """Something of a cluster that a run could not evaluate, and its source where there is one.

    `what` is one line; it stands for `count` things. `cluster` is empty for what spans clusters. One that
    `follows_from_unknown` is evaluated as soon as nothing is unknown.
    """

    cluster: str
    what: str
    place: Location
    unit: str | None = None
    source: str | None = None
    revision: str | None = None
    count: int = 1
    follows_from_unknown: bool = False


@record
class Outcome:
    """Diagnostics, sorted, and counts. A green run over nothing shows as zero checked.

    `checked` counts by kind (profiles, manifests ...). `facts` are sentences about what was done, `details` further
    ones for who asks for all. `shard` is what a part of a run hands on in its JSON report. `judged` says what was
    judged, where that is more than the files on disk: a commit, the index. `needs` counts names that something needs
    by how they are supplied; empty where nothing was looked up. `coverage` is there where files of anyone's
    repository were looked for. `taken` is when a running cluster was read, `first_seen` when each finding, by code and
    subject, was first told of it: both as `2026-11-27T09:30:00Z`, and empty where no cluster was read.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    checked: dict[str, int] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    not_evaluated: int = 0
    accepted_unknown: int = 0
    facts: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    shard: dict[str, Any] | None = None
    judged: str = ""
    needs: dict[str, int] = field(default_factory=dict)
    coverage: Coverage | None = None
    taken: str = ""
    first_seen: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def open(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that nobody has waived."""
        return tuple(item for item in self.diagnostics if not item.is_waived)

    @property
    def waived(self) -> int:
        return sum(item.is_waived for item in self.diagnostics)

    def count(self, severity: Severity) -> int:
        return sum(1 for item in self.open if item.severity is severity)

    def fails(self, threshold: Severity) -> bool:
        """Whether a diagnostic is at least as bad as `threshold`, and not waived."""
        return any(item.severity.rank <= threshold.rank for item in self.open)

    @property
    def skipped_for_errors(self) -> bool:
        """Whether something was left out because the input has errors."""
        return any(item.what == LEFT_OUT_FOR_ERRORS for item in self.skipped)
