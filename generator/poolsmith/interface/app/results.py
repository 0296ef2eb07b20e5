"""What a run over a project came to. A run that is remembered needs no other module of those that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.outcome import Outcome


@record
class GenerateResult:
    """`changed` are clusters that were written, or would be; `removed` those that have no profile any more."""

    outcome: Outcome
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    written: bool = False

    @property
    def is_current(self) -> bool:
        return not self.changed and not self.removed
