"""Findings that are accepted for a while, and acceptances that hold no longer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import policy
from poolsmith.core.diagnostics.codes import shape as shape_codes
from poolsmith.core.diagnostics.codes.policy import UNDECIDED_BY_POLICY
from poolsmith.core.diagnostics.diagnostic import WAIVED
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.record import record
from poolsmith.core.shape.field import spec
from poolsmith.core.shape.review import DATE, PROSE, day_of, is_placeholder
from poolsmith.guard.policies.rule_settings import RULE_WORD, find_in, is_fixed, note_retired, unknown_rule

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_info import RuleInfo
    from poolsmith.core.shape.documents import KindDocument

WAIVERS = "WaiverList"

_SUBJECT = r"[^\x00-\x1f\x7f]{1,400}"


@record
class Waiver:
    """One rule on one subject, and why that is accepted."""

    rule: str = spec("Name or code of the rule.", pattern=RULE_WORD, examples=("host-network", "PSM403"))
    subject: str = spec(
        "Exactly the `subject` of the finding, as `poolsmith check --format json` shows it; no wildcards.",
        pattern=_SUBJECT,
        examples=("prod-eu/gpu-operator/DaemonSet/nvidia-dcgm-exporter",),
    )
    reason: str = spec("Why the finding is accepted.", pattern=PROSE, default="")
    owner: str = spec("The team that is responsible.", pattern=PROSE, default="", examples=("gpu-platform",))
    expires: str = spec(
        "The last day on which it is valid.", pattern=DATE, form="a day such as 2027-06-30", examples=("2027-06-30",)
    )


@record
class WaiverListSpec:
    """Everything that is waived in this repository."""

    waivers: tuple[Waiver, ...] = spec("The waivers.", default=())


_OF_POLICIES = "PSM90"


@record(kw_only=False)
class LoadedWaiver:
    """A waiver of a rule that there is, and where it stands."""

    rule: RuleInfo
    waiver: Waiver
    last_day: dt.date
    place: Location


def subject_of(item: Diagnostic) -> str:
    """What a waiver has to name: the finding's subject, or its file where it has none."""
    return item.subject or item.primary.span.path


def sound_waivers(
    document: KindDocument[WaiverListSpec], book: Mapping[str, RuleInfo]
) -> tuple[tuple[LoadedWaiver, ...], tuple[Diagnostic, ...]]:
    """The waivers that can hold, and what is wrong with the others. `book` has each rule by code and by name."""
    problems: list[Diagnostic] = []
    sound: list[LoadedWaiver] = []
    first: dict[tuple[str, str], Location] = {}
    for index, waiver in enumerate(document.spec.waivers):
        pointer = f"/spec/waivers/{index}"
        place = document.file.locate(pointer)
        rule = find_in(book, waiver.rule)
        if rule is None:
            problems.append(unknown_rule(waiver.rule, book, document.file.locate(f"{pointer}/rule")))
            continue
        problems.extend(note_retired(waiver.rule, rule, document.file.locate(f"{pointer}/rule")))
        last_day = day_of(waiver.expires)
        found = list(_problems(rule, waiver, document, pointer))
        if (other := first.setdefault((rule.code, waiver.subject), place)) is not place:
            message = f"{rule.name} is waived twice on {shorten(waiver.subject)}"
            found.append(diagnose(shape_codes.DUPLICATE_ITEM, message, place, help="keep one", related=(other,)))
        problems.extend(found)
        if not found and last_day is not None:
            sound.append(LoadedWaiver(rule, waiver, last_day, place))
    return tuple(sound), tuple(problems)


def _problems(
    rule: RuleInfo, waiver: Waiver, document: KindDocument[WaiverListSpec], pointer: str
) -> Iterator[Diagnostic]:
    def at(field: str) -> Location:
        return document.file.locate(f"{pointer}/{field}")

    if is_fixed(rule.code, rule.severity):
        yield diagnose(policy.FIXED_RULE, f"{rule.name} can't be waived", at("rule"), subject=rule.name)
    for field in ("reason", "owner"):
        if is_placeholder(getattr(waiver, field)):
            message = f"the waiver of {rule.name} on {shorten(waiver.subject)} has no {field}"
            yield diagnose(policy.UNEXPLAINED_WAIVER, message, at(field), subject=rule.name)
    if day_of(waiver.expires) is None:
        message = f"`{waiver.expires}` is no day of the calendar"
        yield diagnose(shape_codes.INVALID_VALUE, message, at("expires"), help="write a day such as 2027-06-30")


def apply_waivers(
    diagnostics: Iterable[Diagnostic], waivers: Iterable[LoadedWaiver], *, today: dt.date | None, complete: bool
) -> tuple[Diagnostic, ...]:
    """Findings with those marked that are waived, and what is to be said of the waivers themselves.

    Only a `complete` run, over all clusters, can tell that a waiver is unused. Without a day waivers never expire.
    """
    by_key = {(item.rule.code, item.waiver.subject): item for item in waivers}
    used: set[tuple[str, str]] = set()
    found: list[Diagnostic] = []
    subjects: dict[str, set[str]] = {}
    for item in diagnostics:
        key = (item.code, subject_of(item))
        subjects.setdefault(item.code, set()).add(key[1])
        waiver = by_key.get(key)
        if waiver is None or is_fixed(item.code, item.severity):
            found.append(item)
            continue
        used.add(key)
        holds = today is None or today <= waiver.last_day
        found.append(replace(item, status=WAIVED, waived_because=_because(waiver)) if holds else item)
    for key, waiver in by_key.items():
        if today is not None and today > waiver.last_day:
            found.append(_expired(waiver))
        elif complete and key not in used and not _may_be_undecided(key[0], subjects):
            found.append(_unused(waiver, subjects.get(key[0], set())))
    return tuple(found)


def _because(item: LoadedWaiver) -> str:
    return masked(f"{item.waiver.reason} (waived by {item.waiver.owner} until {item.last_day})")


def _may_be_undecided(code: str, subjects: Mapping[str, set[str]]) -> bool:
    """Whether the rule is one over users' policies, and some of these could not be evaluated."""
    return code.startswith(_OF_POLICIES) and UNDECIDED_BY_POLICY.code in subjects


def _expired(item: LoadedWaiver) -> Diagnostic:
    message = f"the waiver of {item.rule.name} on {shorten(item.waiver.subject)} was valid until {item.last_day}"
    return diagnose(policy.EXPIRED_WAIVER, message, item.place, subject=item.rule.name)


def _unused(item: LoadedWaiver, subjects: set[str]) -> Diagnostic:
    message = f"{item.rule.name} finds nothing on {shorten(item.waiver.subject)}, so there is nothing to waive"
    advice = f"delete it; or {did_you_mean(item.waiver.subject, sorted(subjects))}" if subjects else None
    return diagnose(policy.UNUSED_WAIVER, message, item.place, help=advice, subject=item.rule.name)
