"""The supply policy of a repository: loaded once, asked often."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import supply as codes
from poolsmith.core.record import record
from poolsmith.core.shape.kind_document import load_kind_document
from poolsmith.guard.policies.supply.acceptances import Acceptance, Key, setting_key, sound_acceptances, unknown_key
from poolsmith.guard.policies.supply.kind import SUPPLY, SupplySpec

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterator

    from poolsmith.core.sources.input_tree import InputTree


@record(slots=False)
class SupplyPolicy:
    """`is_kept` says whether there is a sound file. Without one nothing is accepted."""

    spec: SupplySpec = SupplySpec()
    is_kept: bool = False
    unknown: tuple[Acceptance, ...] = ()
    settings: tuple[Acceptance, ...] = ()

    @cached_property
    def _unknown_days(self) -> dict[Key, dt.date]:
        return {item.key: item.last_day for item in self.unknown}

    @cached_property
    def _setting_days(self) -> dict[Key, dt.date]:
        return {item.key: item.last_day for item in self.settings}

    def accepts_unknown(
        self,
        cluster: str,
        text: str,
        today: dt.date,
        *,
        unit: str | None = None,
        source: str | None = None,
        revision: str | None = None,
    ) -> bool:
        """Whether somebody answers for this very thing."""
        day = self._unknown_days.get(unknown_key(cluster, unit, source, revision, text))
        return day is not None and today <= day

    def accepts_setting(self, cluster: str, workload: str, text: str, today: dt.date) -> bool:
        """Whether somebody answers for this setting of this workload."""
        day = self._setting_days.get(setting_key(cluster, workload, text))
        return day is not None and today <= day

    def expired(self, today: dt.date) -> Iterator[Diagnostic]:
        """Acceptances that hold no longer."""
        for item in (*self.unknown, *self.settings):
            if today > item.last_day:
                message = f"the acceptance of {item.said} was valid until {item.last_day}"
                yield diagnose(codes.EXPIRED_ACCEPTANCE, message, item.place, subject=item.place.span.path)

    def unused(self, used: Collection[Key], today: dt.date) -> Iterator[Diagnostic]:
        """Of what is unknown; only a run over all clusters can tell."""
        for item in self.unknown:
            if today <= item.last_day and item.key not in used:
                message = f"{item.said} is accepted, but it is evaluated, or is not there"
                yield diagnose(codes.UNUSED_ACCEPTANCE, message, item.place, subject=item.place.span.path)


NO_SUPPLY = SupplyPolicy()


def load_supply(tree: InputTree, path: str) -> tuple[SupplyPolicy, tuple[Diagnostic, ...]]:
    """What it says as far as it is sound, and all that is wrong with it."""
    document, problems = load_kind_document(tree, path, SUPPLY, SupplySpec)
    if document is None:
        return NO_SUPPLY, problems
    unknown, settings, more = sound_acceptances(document)
    return SupplyPolicy(spec=document.spec, is_kept=True, unknown=unknown, settings=settings), more
