"""The supply policy of a repository, loaded once, and its acceptances.

Something is accepted for a limited time only: with a reason, an owner and a day that has not passed.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import outside as codes
from poolsmith.core.diagnostics.codes.shape import DUPLICATE_ITEM, INVALID_VALUE
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.shape.review import is_placeholder
from poolsmith.guard.ledger.grants.grant import last_day_of
from poolsmith.guard.policies.supply.supply_kind import SUPPLY, SupplySpec

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.shape.documents import KindDocument
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.guard.policies.supply.supply_kind import AcceptedSetting, AcceptedUnknown


Key = tuple[str, ...]


@record(kw_only=False)
class Acceptance:
    """A sound entry: what it accepts, until when, and where it stands."""

    key: Key
    last_day: dt.date
    place: Location

    @property
    def said(self) -> str:
        return f"`{shorten(self.key[-1])}` in `{self.key[0]}`"


def unknown_key(cluster: str, unit: str | None, source: str | None, revision: str | None, unknown: str) -> Key:
    return (cluster, unit or "", source or "", revision or "", unknown)


def setting_key(cluster: str, workload: str, setting: str) -> Key:
    return (cluster, workload, setting)


def sound_acceptances(
    document: KindDocument[SupplySpec],
) -> tuple[tuple[Acceptance, ...], tuple[Acceptance, ...], tuple[Diagnostic, ...]]:
    """Those of what is unknown, those of settings, and what is wrong with the others."""
    problems: list[Diagnostic] = []
    unknown = [
        (f"/spec/acceptUnknown/{index}", unknown_key(x.cluster, x.unit, x.source, x.revision, x.unknown), x)
        for index, x in enumerate(document.spec.accept_unknown)
    ]
    settings = [
        (f"/spec/acceptSettings/{index}", setting_key(x.cluster, x.workload, x.setting), x)
        for index, x in enumerate(document.spec.accept_settings)
    ]
    return tuple(_sound(document, unknown, problems)), tuple(_sound(document, settings, problems)), tuple(problems)


def _sound(
    document: KindDocument[SupplySpec],
    entries: Iterable[tuple[str, Key, AcceptedUnknown | AcceptedSetting]],
    problems: list[Diagnostic],
) -> Iterator[Acceptance]:
    first: dict[Key, Location] = {}
    for pointer, key, entry in entries:
        place = document.file.locate(pointer)
        found = list(_problems(document, pointer, key, entry))
        if (other := first.setdefault(key, place)) is not place:
            message = f"`{shorten(key[-1])}` is accepted twice in `{key[0]}`"
            found.append(diagnose(DUPLICATE_ITEM, message, place, help="keep one", related=(other,)))
        problems.extend(found)
        day = last_day_of(entry.expires)
        if not found and day is not None:
            yield Acceptance(key, day, place)


def _problems(
    document: KindDocument[SupplySpec], pointer: str, key: Key, entry: AcceptedUnknown | AcceptedSetting
) -> Iterator[Diagnostic]:
    subject = document.file.path
    for name in ("reason", "owner", "expires"):
        if is_placeholder(getattr(entry, name)):
            what = "last day (`expires`)" if name == "expires" else name
            message = f"the acceptance of `{shorten(key[-1])}` in `{key[0]}` has no {what}"
            yield diagnose(
                codes.UNEXPLAINED_ACCEPTANCE, message, document.file.locate(f"{pointer}/{name}"), subject=subject
            )
    if last_day_of(entry.expires) is None and not is_placeholder(entry.expires):
        message = f"`{shorten(entry.expires)}` is no day of the calendar"
        place = document.file.locate(f"{pointer}/expires")
        yield diagnose(INVALID_VALUE, message, place, help="write a day such as 2027-06-30", subject=subject)


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
    def _setting_days(self) -> dict[tuple[str, str], list[tuple[str, dt.date]]]:
        """Workloads or patterns of them, by cluster and setting."""
        found: dict[tuple[str, str], list[tuple[str, dt.date]]] = {}
        for item in self.settings:
            cluster, workload, setting = item.key
            found.setdefault((cluster, setting), []).append((workload, item.last_day))
        return found

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
        """Whether somebody answers for this setting of this workload, or of all that a pattern matches."""
        from poolsmith.guard.ledger.grants.matching import glob_matches  # on demand

        return any(
            today <= day and (pattern == workload or glob_matches(pattern, workload))
            for pattern, day in self._setting_days.get((cluster, text), ())
        )

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
    """The sound parts of it, and all that is wrong with it."""
    document, problems = load_kind_document(tree, path, SUPPLY, SupplySpec)
    if document is None:
        return NO_SUPPLY, problems
    unknown, settings, more = sound_acceptances(document)
    return SupplyPolicy(spec=document.spec, is_kept=True, unknown=unknown, settings=settings), more
