"""What follows from a line of a profile: generated values, labels of nodes, driver objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.masking import masked, masked_tree
from poolsmith.core.diagnostics.message_text import cut, printable_line
from poolsmith.core.sources.pointer import overlap, split
from poolsmith.fleet.plan.origin import profile_inputs
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.load_cluster import load_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.project.run.project import Project

_LONGEST = 120


def effects(project: Project, path: str, pointer: str) -> list[str]:
    """In words, for the profile at a path; none where its cluster has errors, or nothing is known to follow."""
    clusters = (files for files in project.fleet.clusters if path in (files.cluster, *files.pools))
    plan = next((_plan(project, files) for files in clusters), None)
    steps = split(pointer)
    told = _consequences(plan) if plan is not None else ()
    return [
        cut(printable_line(masked(text)), _LONGEST)
        for text, origin in told
        if any(line.path == path and overlap(split(line.pointer), steps) for line in profile_inputs(origin))
    ]


def _plan(project: Project, files: ClusterFiles) -> ClusterPlan | None:
    loaded = load_cluster(project.tree, files, project.bases, project.rings)
    is_sound = not any(item.severity is Severity.ERROR for item in (*loaded.problems, *project.bases.problems))
    return resolve_cluster(loaded, project.catalog).plan if is_sound else None


def _consequences(plan: ClusterPlan) -> Iterator[tuple[str, Origin]]:
    for setting in plan.values:
        value = json.dumps(masked_tree(setting.value, setting.path[-1]), ensure_ascii=False)
        yield f"`{setting.dotted}` = `{value}`", setting.origin
    for pool in plan.pools:
        if pool.driver is not None:
            yield (
                f"driver of {pool.name}: {pool.driver.source} {pool.driver.version or ''}".rstrip(),
                pool.driver.origin,
            )
        for label in pool.labels:
            yield f"nodes of {pool.name}: `{label.key}={label.value}`, set by {label.writer}", label.origin
