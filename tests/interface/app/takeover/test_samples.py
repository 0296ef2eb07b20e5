"""`init --from` on the output of each sample cluster: from what is committed back to profiles that generate it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from poolsmith.change.takeover.node_answers import TakeoverAnswers
from poolsmith.change.takeover.take_over import take_over
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.initialize import initialize
from poolsmith.project.run.surroundings import look_around

OUTPUT = Path(__file__).parents[4] / "output" / "clusters"
VALUES = "platform/values/gpu-operator.yaml"
WITHOUT_OPERATOR = {"lab-a100", "manual"}
EXPLAINED = {
    "claims": {"draDriver.computeDomains.enabled"},
    "prod-eu": {"daemonsets.tolerations", "node-feature-discovery.worker.tolerations"},
}
"""A pool whose driver comes from elsewhere leaves no trace but its tolerations; NVLink over nodes leaves none at all."""
CLUSTERS = sorted(folder.name for folder in OUTPUT.iterdir())


def taken(tmp_path, name):
    repository = tmp_path / "was"
    shutil.copytree(OUTPUT / name, repository / "output/clusters" / name)
    return repository, take_over(repository, repository, TakeoverAnswers(), look_around(repository), None, "x")


def documents(path):
    return read_documents(path.read_text("utf-8")) if path.is_file() else []


@pytest.mark.rows(2, "a row takes 0.3 s; each value of each column is seen first")
@pytest.mark.parametrize("name", sorted(set(CLUSTERS) - WITHOUT_OPERATOR))
def test_profiles_generate_what_was_there(tmp_path, name):
    was, (item,) = taken(tmp_path, name)
    differences = {line.split()[1].rstrip(":") for line in item.lines if line.startswith("differs")}
    assert (item.name, item.refused, differences) == (name, False, EXPLAINED.get(name, set()))
    project = tmp_path / "project"
    initialize(project, profiles=item.texts)
    assert generate(project).written
    ours, theirs = (folder / "output/clusters" / name for folder in (project, was))
    if name not in EXPLAINED:
        assert documents(ours / VALUES) == documents(theirs / VALUES)
    for path in (*theirs.glob("pools/*/nvidia-driver.yaml"), theirs / "delivery/gpu-operator.yaml"):
        made, before = (documents(side / path.relative_to(theirs)) for side in (ours, theirs))
        for one, other in zip(made, before, strict=True):
            for field in ("repoURL", "targetRevision"):
                for source in (*one["spec"].get("sources", ()), *other["spec"].get("sources", ())):
                    source.pop(field, None)
            assert one["spec"] == other["spec"]


def test_a_cluster_without_the_operator_has_nothing_to_take_over(tmp_path):
    with pytest.raises(UsageError, match="nothing below"):
        taken(tmp_path, "manual")
