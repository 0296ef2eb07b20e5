"""A cluster of the sample fleet before and after edits of its profiles, as `diff` sees both sides."""

from __future__ import annotations

import shutil
from pathlib import Path

from poolsmith.change.review.seen_cluster import SeenCluster
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

REPOSITORY = Path(__file__).resolve().parents[3]


def copied_fleet(folder):
    """Profiles and policies of the sample, to be edited below `folder`."""
    for name in ("profiles", "policies"):
        shutil.copytree(REPOSITORY / name, folder / name)
    return folder


def replaced(folder, path, *pairs):
    """Texts in a file of the profiles, each of which has to stand there."""
    file = folder / "profiles" / path
    text = file.read_text()
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, new, 1)
    file.write_text(text)


def seen_cluster(project, name):
    """None where the profiles have errors."""
    files = next(item for item in project.fleet.clusters if item.name == name)
    planned = plan_cluster(project, files)
    if planned.plan is None or planned.prediction is None:
        return None
    return SeenCluster(planned.loaded, planned.plan, planned.prediction)


def both_sides(tmp_path, name, *edits):
    """The cluster in the sample, and after `edits`: functions of the folder that holds a copy of it."""
    before = open_project(REPOSITORY)
    folder = copied_fleet(tmp_path)
    for edit in edits:
        edit(folder)
    after = seen_cluster(open_project(folder).beside(before), name)
    assert after is not None, "the edited profiles have errors"
    return before, seen_cluster(before, name), after
