"""What the policies of a change allow and those of its base do not, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location


@record(kw_only=False)
class Widening:
    """`what` would newly pass; `subject` is what says so: a grant, a policy, a file."""

    what: str
    place: Location
    subject: str
