"""What a rule says of one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.severity import Severity
    from poolsmith.core.diagnostics.span import Location

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
