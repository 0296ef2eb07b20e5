"""Use case: what the change of one pool does to others, and what of it nobody has acknowledged."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.counterfactual import Counterfactuals
from poolsmith.change.diff.likeness import renamed_pools
from poolsmith.change.diff.other_pools import other_pools
from poolsmith.change.review.change import SeenCluster
from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose
from poolsmith.core.diagnostics.codes.review import CHANGE_AT_A_DISTANCE
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.acknowledged_facts import is_of_cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import OtherPoolChange
    from poolsmith.change.review.change import ClusterChange
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.project.run.project import Project


def changes_of_others(project: Project, change: ClusterChange) -> tuple[OtherPoolChange, ...]:
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


def at_a_distance(after: SeenCluster, found: Iterable[OtherPoolChange]) -> Iterator[Diagnostic]:
    """An error for each thing that keeps workloads of a pool away and that nobody has acknowledged; else a note.

    What one acknowledgement is enough for is told together.
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
