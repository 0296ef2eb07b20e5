"""Findings that nobody has acknowledged: changes that affect other pools, and charts that leave the delivery."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.delivery.departures import acknowledged_with
from poolsmith.change.delivery.outcomes import DepartureOutcome
from poolsmith.change.diff.cross_pool_changes import Counterfactuals, other_pools
from poolsmith.change.diff.profile_changes import renamed_pools
from poolsmith.change.review.seen_cluster import SeenCluster
from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose, whole_file
from poolsmith.core.diagnostics.codes.change import CHANGE_AT_A_DISTANCE, LEAVES_THE_DELIVERY, REFUSED_BY_THE_SERVER
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.acknowledged_facts import DELIVERY, gone_fact, is_of_cluster
from poolsmith.fleet.profiles.cluster import Retiring
from poolsmith.fleet.profiles.fleet import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.delivery.outcomes import Departure
    from poolsmith.change.diff.change_report import Disruption, OtherPoolChange
    from poolsmith.change.review.seen_cluster import ClusterChange
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.project.run.project import Project


def cross_pool_changes(project: Project, change: ClusterChange) -> tuple[OtherPoolChange, ...]:
    """None of a cluster that is new or gone."""
    before, after = change.before, change.after
    if before is None or after is None:
        return ()
    names = {old: new for new, old in renamed_pools(before.loaded, after.loaded).items()}

    def again(loaded: LoadedCluster) -> SeenCluster | None:
        plan = resolve_cluster(loaded, project.catalog).plan
        if plan is None:
            return None
        prediction = project.predictions.of(plan, loaded)
        return None if prediction.installation.errors else SeenCluster(loaded, plan, prediction)

    return other_pools(Counterfactuals(before, after, names, again), project.catalog)


def unacknowledged_changes(after: SeenCluster, found: Iterable[OtherPoolChange]) -> Iterator[Diagnostic]:
    """An error for each thing that keeps workloads of a pool away and that nobody has acknowledged; else a note.

    What one acknowledgement covers is one finding.
    """
    groups: dict[tuple[str, str], list[OtherPoolChange]] = defaultdict(list)
    for item in found:
        if item.stops:
            groups[item.pool, item.fact].append(item)
    for (pool, _), items in groups.items():
        yield _finding(after, pool, items)


def _finding(after: SeenCluster, pool: str, items: list[OtherPoolChange]) -> Diagnostic:
    first, words = items[0], "; ".join(item.words for item in items)
    who = f"{shorten(first.acknowledged_by)} acknowledges it with this change"
    place = next((item.place for item in items if item.place is not None), None)
    related = (_name_of(after, pool, "what it changes is this pool"),) if place is not None else ()
    return diagnose(
        CHANGE_AT_A_DISTANCE,
        f"{words}: {who if first.acknowledged_by else f'nothing in the profile of `{pool}` asks for that'}",
        place or _name_of(after, pool),
        help="see that it is who may say so" if first.acknowledged_by else _help(after, first),
        severity=Severity.NOTE if first.acknowledged_by else None,
        related=related,
        subject=after.plan.name,
    )


def _help(after: SeenCluster, item: OtherPoolChange) -> str:
    return (
        "keep it from reaching the other pool, or move one of the two to another cluster; or, once those who work with "
        f"it know, write below `spec` of {_file_of(after, item)}: "
        f"`acknowledge: [{{fact: {item.fact}, by: <who>, date: <year-month-day>}}]`"
    )


def _file_of(after: SeenCluster, item: OtherPoolChange) -> str:
    if is_of_cluster(item.fact):
        return after.plan.cluster.path
    return next(pool.profile.path for pool in after.plan.pools if pool.name == item.pool)


def _name_of(after: SeenCluster, pool: str, note: str | None = None) -> Location:
    files = {item.pool.name: item.layers.own for item in after.loaded.pools}
    return files[pool].locate("/metadata/name", note)


def departure_findings(
    before: SeenCluster, after: SeenCluster | None, found: Iterable[Departure]
) -> Iterator[Diagnostic]:
    """Of what installs a chart: an error where the chart goes, or may; a warning where it is left behind, or where the
    whole cluster is gone; a note of what is acknowledged, or meant to go. Of what takes drivers along, too.
    """
    for item in found:
        if item.is_chart or item.fact:
            yield _departure_finding(before, after, item)


def given_up_findings(before: SeenCluster | None, after: SeenCluster | None) -> Iterator[Diagnostic]:
    """An error where a change takes the guards off a delivery, so that all of it goes with its objects; a note of what
    is acknowledged."""
    if before is None or after is None or not _is_given_up(after) or _is_given_up(before) or after.loaded.file is None:
        return
    fact = gone_fact(DELIVERY, after.plan.delivery_name)
    by = acknowledged_with(before, after, fact)
    who = f"; {shorten(by)} acknowledges it with this change" if by else ""
    line = f"`acknowledge: [{{fact: {fact}, by: <who>, date: <year-month-day>}}]`"
    yield diagnose(
        LEAVES_THE_DELIVERY,
        f"the delivery of `{after.plan.name}` is given up: nothing guards it any more, and all that it applied goes "
        f"when its objects leave{who}",
        after.loaded.file.locate("/spec/delivery/retiring"),
        help="see that it is who may say so"
        if by
        else "write `retiring: keep` to suspend it instead; if all of it is to go, write below `spec` of "
        f"{after.plan.cluster.path}: {line}",
        severity=Severity.NOTE if by else None,
        subject=after.plan.name,
    )


def _is_given_up(seen: SeenCluster) -> bool:
    return seen.plan.cluster.spec.delivery.retiring is Retiring.REMOVE


def refusal_findings(after: SeenCluster, found: Iterable[Disruption]) -> Iterator[Diagnostic]:
    """An error for each object that the API server takes no change of; a note of what is acknowledged."""
    for item in found:
        if not item.fact:
            continue
        who = f"; {shorten(item.acknowledged_by)} acknowledges it with this change" if item.acknowledged_by else ""
        yield diagnose(
            REFUSED_BY_THE_SERVER,
            f"{item.words}{who}",
            item.place or _place(after, after),
            help="delete the object once it is merged" if item.acknowledged_by else _refusal_help(after, item),
            severity=Severity.NOTE if item.acknowledged_by else None,
            subject=after.plan.name,
        )


def _refusal_help(after: SeenCluster, item: Disruption) -> str:
    return (
        "take it back; or, if somebody is to delete the object once it is merged, write below `spec` of "
        f"{after.plan.cluster.path}: `acknowledge: [{{fact: {item.fact}, by: <who>, date: <year-month-day>}}]`"
    )


def _departure_finding(before: SeenCluster, after: SeenCluster | None, item: Departure) -> Diagnostic:
    name = after.plan.name if after is not None else before.plan.name
    who = f"; {shorten(item.acknowledged_by)} acknowledges it with this change" if item.acknowledged_by else ""
    return diagnose(
        LEAVES_THE_DELIVERY,
        f"{item.words}{who}",
        item.place or _place(before, after),
        help=_departure_help(after, item),
        severity=_severity(after, item),
        subject=name,
    )


def _severity(after: SeenCluster | None, item: Departure) -> Severity | None:
    if item.acknowledged_by or item.is_intended:
        return Severity.NOTE
    return Severity.WARNING if after is None or item.outcome is DepartureOutcome.LEFT else None


def _departure_help(after: SeenCluster | None, item: Departure) -> str:
    if item.acknowledged_by:
        return "see that it is who may say so"
    if item.is_intended:
        return "see that the step before is applied on the cluster: `delivery.retiring` of the base says how it ends"
    if after is None or not item.fact:
        return "let `poolsmith move` write the steps (docs/moves.md), whether what runs there is to stay or to go"
    return (
        "take it back, or let `poolsmith move` write the steps (docs/moves.md); if the outage is wanted, write "
        f"below `spec` of {after.plan.cluster.path}: "
        f"`acknowledge: [{{fact: {item.fact}, by: <who>, date: <year-month-day>}}]`"
    )


def _place(before: SeenCluster, after: SeenCluster | None) -> Location:
    if after is not None and after.loaded.file is not None:
        return after.loaded.file.locate("/spec/delivery")
    return whole_file(f"{PROFILES}/{before.plan.name}")
