"""Use case: what a change does to the repository itself, beside what its profiles say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.app.project import OUTPUT
from poolsmith.policies.apply import JUDGE_CHANGE, POLICY_WIDENING
from poolsmith.profiles.load_cluster import cluster_alone
from poolsmith.record import record
from poolsmith.review.beside_output import Delivered, beside_output, delivered_path
from poolsmith.review.head_tree import head_tree
from poolsmith.review.judge_files import judge_files
from poolsmith.review.policy_widening import policy_widening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from poolsmith.app.project import Project
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.policies.apply import JudgingOptions
    from poolsmith.policies.base_revision import BaseRevision
    from poolsmith.profiles.fleet import ClusterFiles
    from poolsmith.review.head_tree import HeadTree

WATCHED = (":/.github", ":/.gitattributes", ":/.gitmodules", ":/CODEOWNERS")
"""Beside the output: where files that nobody added yet are looked for."""


@record
class Reviewed:
    """What of a change is looked at: `head` is the tree that it would merge, of the `repository`; None: what is checked
    out at the project's root. `clusters` are those whose way of delivery counts."""

    clusters: tuple[ClusterFiles, ...]
    head: HeadTree | None = None
    repository: Path | None = None


def review_repository(
    project: Project,
    judging: JudgingOptions,
    base: BaseRevision,
    before: Project | None,
    *,
    reviewed: Reviewed,
) -> Iterator[Diagnostic]:
    """`before` is the project of the base, None where it has no profiles."""
    accepted = judging.accepted
    yield from policy_widening(project.judging_policies, project.policies, is_accepted=POLICY_WIDENING in accepted)
    head = reviewed.head or head_tree(project.root, (OUTPUT, *WATCHED))
    root = reviewed.repository or project.root
    yield from judge_files(root, head, base, is_accepted=JUDGE_CHANGE in accepted)
    yield from beside_output(head, base, _delivered(project, before, reviewed.clusters))


def _delivered(project: Project, before: Project | None, clusters: Iterable[ClusterFiles]) -> Delivered:
    """Where the clusters of a run are delivered from; of those of the base only where that is."""
    found = (cluster_alone(project.tree, files) for files in clusters)
    known = before.fleet.clusters if before is not None else ()
    loaded = (cluster_alone(before.tree, files) for files in known) if before is not None else ()
    return Delivered(
        root=project.root,
        clusters=frozenset(files.name for files in project.fleet.clusters),
        known_clusters=frozenset(files.name for files in known),
        paths=tuple(delivered_path(cluster) for cluster in found if cluster is not None),
        known_paths=frozenset(delivered_path(cluster).path for cluster in loaded if cluster is not None),
    )
