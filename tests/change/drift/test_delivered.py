"""What is applied of a sample cluster, by the unit that applies it."""

from __future__ import annotations

import pytest

from poolsmith.change.drift.delivered import delivered_objects
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project


@pytest.mark.parametrize(
    ("cluster", "units"), [("edge", {"delivery", "platform"}), ("prod-eu", {"delivery", "platform", "pools"})]
)
def test_each_object_has_its_unit_and_its_file(repository, cluster, units):
    project = open_project(repository)
    (files,) = project.select([cluster])
    planned = plan_cluster(project, files)
    ours = [item for item in delivered_objects(planned.plan, planned.prediction) if item.file]

    assert {item.unit for item in ours} >= units
    for item in ours:
        assert item.file.split("/")[0] in (item.unit, "units", "pools", "platform")
        assert (repository / "output/clusters" / cluster / item.file).is_file()
