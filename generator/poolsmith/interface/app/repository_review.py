"""Use case: what a change does to the repository itself, beside what its profiles say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.review.beside_output import Delivered, HeadTree, beside_output, delivered_path, head_tree
from poolsmith.change.review.judge_files import judge_files
from poolsmith.change.review.policy_widening import policy_widening
from poolsmith.core.facts.packs import FOLDER
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.fleet.profiles.load_cluster import cluster_alone
from poolsmith.guard.policies.applied_policies import JUDGE_CHANGE, POLICY_WIDENING
from poolsmith.guard.policies.policy_files import POLICIES
from poolsmith.project.run.project import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from poolsmith.change.review.beside_output import DeliveredPath
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.cluster import Cluster
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.guard.policies.revision import BaseRevision
    from poolsmith.project.run.project import Project

WATCHED = (":/.github", ":/.gitattributes", ":/.gitmodules", ":/CODEOWNERS")
"""Beside the output: where files that nobody added yet are looked for."""


@record
class Reviewed:
    """What of a change is looked at.

    `clusters` are those of the change, `unchanged` further ones whose profiles are as in the base; `known` makes the
    profiles of the base's clusters. `head` is the tree that the change would merge into the `repository`; None: what is
    checked out at the project's root.
    """

    clusters: tuple[ClusterFiles, ...]
    known_clusters: frozenset[str]
    known: Callable[[], Iterable[Cluster | None]]
    unchanged: tuple[ClusterFiles, ...] = ()
    head: HeadTree | None = None
    repository: Path | None = None


def review_repository(
    project: Project, judging: JudgingOptions, base: BaseRevision, reviewed: Reviewed
) -> Iterator[Diagnostic]:
    """What the change does to policies, to the files that judge it, and beside the output."""
    accepted = judging.accepted
    yield from policy_widening(project.judging_policies, project.policies, is_accepted=POLICY_WIDENING in accepted)
    merged = judging.merged
    if merged is not None:
        head, root = HeadTree(merged.files, frozenset(), is_checked_out=False), merged.repository
    else:
        head = reviewed.head or head_tree(project.root, (OUTPUT, FOLDER, *WATCHED))
        root = reviewed.repository or project.root
    yield from judge_files(root, head, base, is_accepted=JUDGE_CHANGE in accepted)
    yield from beside_output(head, base, _delivered(project, base, head, reviewed))
    yield from _elsewhere(root, base, head)


def _elsewhere(root: Path, base: BaseRevision, head: HeadTree) -> Iterator[Diagnostic]:
    if head.is_checked_out or base.files != head.files:
        from poolsmith.change.takeover.elsewhere import Trees, left_elsewhere
        from poolsmith.change.takeover.engine_upgrades import upgraded_in  # on demand: reads repositories

        own = tuple(f"{base.prefix}{name}/" for name in (OUTPUT, PROFILES, POLICIES))
        top = root.joinpath(*(".." for _ in base.prefix.split("/")[1:])) if head.is_checked_out else None
        trees = Trees(Git(root, "--policies-from"), base.files, head.files, own, top)
        yield from left_elsewhere(trees)
        yield from upgraded_in(trees)


def _delivered(project: Project, base: BaseRevision, head: HeadTree, reviewed: Reviewed) -> Delivered:
    """Where the clusters are delivered from. Those that are as in the base count where a file was added elsewhere."""
    own = tuple(f"{base.prefix}{name}/" for name in (OUTPUT, PROFILES, POLICIES))
    is_elsewhere = any(not path.startswith(own) for path in head.added(base))
    files = (*reviewed.clusters, *(reviewed.unchanged if is_elsewhere else ()))
    paths = tuple(_paths(cluster_alone(project.tree, item) for item in files))
    is_usual = all(item.path == f"{base.prefix}{OUTPUT}" for item in paths)
    return Delivered(
        root=project.root,
        clusters=frozenset(item.name for item in project.fleet.clusters),
        known_clusters=reviewed.known_clusters,
        paths=paths,
        known_paths=frozenset(() if is_usual else (item.path for item in _paths(reviewed.known()))),
    )


def _paths(clusters: Iterable[Cluster | None]) -> Iterator[DeliveredPath]:
    return (delivered_path(cluster) for cluster in clusters if cluster is not None)
