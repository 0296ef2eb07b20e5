"""Use case: what a change does to the repository itself, beside what its profiles say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.app.project import OUTPUT
from poolsmith.policies.apply import JUDGE_CHANGE, POLICY_WIDENING
from poolsmith.profiles.load_cluster import load_cluster
from poolsmith.review.beside_output import Delivered, beside_output, delivered_path
from poolsmith.review.head_tree import head_tree
from poolsmith.review.judge_files import judge_files
from poolsmith.review.policy_widening import policy_widening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.app.project import Project
    from poolsmith.app.run import Run
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.policies.apply import JudgingOptions
    from poolsmith.policies.base_revision import BaseRevision

WATCHED = (":/.github", ":/.gitattributes", ":/.gitmodules", ":/CODEOWNERS")
"""Beside the output: where files that nobody added yet are looked for."""


def review_repository(
    run: Run, judging: JudgingOptions, base: BaseRevision, before: Project | None
) -> Iterator[Diagnostic]:
    """`before` is the project of the base, None where it has no profiles."""
    policies, accepted = run.project.policies, judging.accepted
    yield from policy_widening(run.project.judging_policies, policies, is_accepted=POLICY_WIDENING in accepted)
    head = head_tree(run.project.root, (OUTPUT, *WATCHED))
    yield from judge_files(run.project.root, head, base, is_accepted=JUDGE_CHANGE in accepted)
    yield from beside_output(head, base, _delivered(run, before))


def _delivered(run: Run, before: Project | None) -> Delivered:
    """Where the clusters of a run are delivered from; of those of the base only where that is."""
    project = run.project
    paths = (delivered_path(load_cluster(project.tree, files, project.bases)) for files in run.selected)
    known = before.fleet.clusters if before is not None else ()
    loaded = (load_cluster(before.tree, files, before.bases) for files in known) if before is not None else ()
    return Delivered(
        root=project.root,
        clusters=frozenset(files.name for files in project.fleet.clusters),
        known_clusters=frozenset(files.name for files in known),
        paths=tuple(path for path in paths if path is not None),
        known_paths=frozenset(item.path for item in map(delivered_path, loaded) if item is not None),
    )
