"""A change as a reviewer reads it: sections of points, what matters first. Every format shows these.

Words are sentences with names in backticks; they hold text of users, which each format makes harmless in its own way.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location


class Weight(StrEnum):
    """How much attention something asks for; the most comes first."""

    GRAVE = "grave"
    """Somebody has to decide: more rights that nobody granted, errors, what can't be told."""
    NOTABLE = "notable"
    """Something is disturbed, or may do more than before."""
    PLAIN = "plain"

    @property
    def rank(self) -> int:
        return list(Weight).index(self)


class Part(StrEnum):
    """The sections, in the order in which they are read; the values are their titles."""

    LEAVES = "leaves the delivery"
    UNKNOWN = "can't be told"
    OWN = "allows itself"
    OTHERS = "what other pools get from it"
    RELEASE = "release, and what stays behind"
    MORE = "privileges: more"
    LESS = "privileges: less"
    DISRUPTION = "disruption"
    IMAGES = "images"
    FIELDS = "profiles and values"
    OBJECTS = "objects"
    NEW = "new findings"
    FIXED = "fixed findings"
    FLEET = "clusters and pools"
    DRIFT = "drift"


@record
class Point:
    """One thing that a change does, told once for all `clusters` that it is the same in.

    `places` are lines that people edit, `details` further sentences for who asks for all. `stands_for`: how many
    things of the change it tells.
    """

    words: str
    weight: Weight = Weight.PLAIN
    clusters: tuple[str, ...] = ()
    places: tuple[Location, ...] = ()
    details: tuple[str, ...] = ()
    stands_for: int = 1
    is_note: bool = False
    """A finding that is a note, or waived: it may be folded away."""


@record
class Section:
    """Points of one part, the gravest first. `in_short` tells all of them in one line."""

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
class Told:
    """`verdict` is one line of what matters, `scope` one of what was compared and how much of it differs."""

    weight: Weight
    verdict: str
    scope: str
    sections: tuple[Section, ...]

    @property
    def points(self) -> int:
        return sum(len(section.points) for section in self.sections)
