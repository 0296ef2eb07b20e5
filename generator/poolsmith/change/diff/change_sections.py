"""A change as a reviewer reads it: sections of points, the most important first. Every report format shows these.

Sentences have names in backticks. They hold text of users, which each format makes harmless in its own way.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.server.field_changes import FieldChange


class Weight(StrEnum):
    """How much attention something asks for; the most comes first."""

    GRAVE = "grave"
    """Somebody has to decide: more rights that nobody granted, errors, what is unknown."""
    NOTABLE = "notable"
    """Something is disturbed, or may do more than before."""
    PLAIN = "plain"

    @property
    def rank(self) -> int:
        return list(Weight).index(self)


class Part(StrEnum):
    """The sections, in the order in which they are read; the values are their titles."""

    WRITTEN = "what was written, and what comes of it"
    LEAVES = "leaves the delivery"
    ENGINE = "what the engine does"
    UNKNOWN = "unknown effects"
    OTHERS = "what other pools get from it"
    RELEASE = "release, and what stays behind"
    MORE = "privileges: more"
    LESS = "privileges: less"
    DISRUPTION = "disruption"
    IMAGES = "images"
    FIELDS = "values that follow"
    OBJECTS = "objects"
    NEW = "new findings"
    FIXED = "fixed findings"
    DRIFT = "drift"


@record(kw_only=False)
class Hunk:
    """Fields of one object before and after; `title` is its kind and name."""

    title: str
    fields: tuple[FieldChange, ...]


@record
class Point:
    """One thing that a change does, in one sentence for all `clusters` in which it is the same.

    `places` are lines that people edit, `details` further sentences for who asks for all. `stands_for`: how many
    things of the change are in it.
    """

    words: str
    weight: Weight = Weight.PLAIN
    clusters: tuple[str, ...] = ()
    places: tuple[Location, ...] = ()
    details: tuple[str, ...] = ()
    stands_for: int = 1
    is_note: bool = False
    """A finding that is a note, or waived: it may be folded away."""
    hunks: tuple[Hunk, ...] = ()
    """What the sentence is about, field by field, for who asks for it; the same object of many clusters once."""


@record
class Section:
    """Points of one part. `in_short` is one line for all of them."""

    part: Part
    points: tuple[Point, ...]
    in_short: str

    @property
    def weight(self) -> Weight:
        return min((point.weight for point in self.points), key=lambda item: item.rank)

    @property
    def title(self) -> str:
        return self.part.value


@record
class ChangeView:
    """`verdict` is one line of what matters, `scope` one of what was compared and how much of it differs."""

    weight: Weight
    verdict: str
    scope: str
    sections: tuple[Section, ...]

    @property
    def points(self) -> int:
        return sum(len(section.points) for section in self.sections)


_FEW = 3


def scope(report: ChangeReport) -> str:
    """`main (cd771c535665) to the work tree: 1 cluster changes (`edge`), 7 do not`."""
    compared = f"{_revision(report.base.name, report.base.commit)} to {_revision(report.head.name, report.head.commit)}"
    touched = len(report.clusters)
    why = f"; all clusters were looked at: {report.why_all}" if report.why_all else ""
    if not touched:
        return f"{compared}: {_unchanged(report.unchanged_clusters)}{why}"
    names = ", ".join(f"`{shorten(item.name)}`" for item in report.clusters[:_FEW])
    more = f" and {touched - _FEW:,} more" if touched > _FEW else ""
    which = "cluster changes" if touched == 1 else "clusters change"
    rest = f", {report.unchanged_clusters:,} do not" if report.unchanged_clusters else ""
    return f"{compared}: {touched:,} {which} ({names}{more}){rest}{why}"


def _revision(name: str, commit: str) -> str:
    short = commit[:12]
    return f"{shorten(name)} ({short})" if short and not name.startswith(short) else shorten(name)


def _unchanged(count: int) -> str:
    return "no cluster changes" if count != 1 else "the cluster does not change"
