"""Use case: what leaves the delivery and takes something along, and nobody has acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import Outcome
from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose, whole_file
from poolsmith.core.diagnostics.codes.review import LEAVES_THE_DELIVERY
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.fleet.profiles.fleet import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import Departure
    from poolsmith.change.review.change import SeenCluster
    from poolsmith.core.diagnostics import Location


def departure_findings(
    before: SeenCluster, after: SeenCluster | None, found: Iterable[Departure]
) -> Iterator[Diagnostic]:
    """Of what installs a chart: an error where the chart goes, or may; a warning where it is left behind, or where the
    whole cluster is gone; a note of what is acknowledged.
    """
    for item in found:
        if item.is_chart:
            yield _finding(before, after, item)


def _finding(before: SeenCluster, after: SeenCluster | None, item: Departure) -> Diagnostic:
    name = after.plan.name if after is not None else before.plan.name
    who = f"; {shorten(item.acknowledged_by)} acknowledges it with this change" if item.acknowledged_by else ""
    return diagnose(
        LEAVES_THE_DELIVERY,
        f"{item.words}{who}",
        item.place or _place(before, after),
        help=_help(after, item),
        severity=_severity(after, item),
        subject=name,
    )


def _severity(after: SeenCluster | None, item: Departure) -> Severity | None:
    if item.acknowledged_by:
        return Severity.NOTE
    return Severity.WARNING if after is None or item.outcome is Outcome.LEFT else None


def _help(after: SeenCluster | None, item: Departure) -> str:
    if item.acknowledged_by:
        return "see that it is who may say so"
    if after is None or not item.fact:
        return "follow docs/rename.md before it is merged, if what runs there is to stay; else retire it by hand"
    return (
        "take it back, or follow docs/rename.md before it is merged; once that is done, or the outage is wanted, write "
        f"below `spec` of {after.plan.cluster.path}: "
        f"`acknowledge: [{{fact: {item.fact}, by: <who>, date: <year-month-day>}}]`"
    )


def _place(before: SeenCluster, after: SeenCluster | None) -> Location:
    if after is not None and after.loaded.file is not None:
        return after.loaded.file.locate("/spec/delivery")
    return whole_file(f"{PROFILES}/{before.plan.name}")
