"""What is remembered of clusters that are alike, against each of them resolved by itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from poolsmith.fleet.plan.alike import AlikePlans
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.interface.app.cluster_judgement import judge_cluster
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.project import open_project

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = sorted(path.name for path in GOLDEN.iterdir() if (path / "profiles").is_dir())
NAMES = ("alike-one", "other", "gpu", "true", "prod", "a-cluster-with-a-longer-name-than-the-others-have")


def copies(profiles, root, change=lambda name, text: text):
    """The first cluster of some profiles, under several names."""
    (root / "profiles").mkdir(parents=True)
    for path in profiles.iterdir():
        if path.name.startswith("_"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, root / "profiles" / path.name)
    cluster = next(path for path in sorted(profiles.iterdir()) if (path / "cluster.yaml").exists())
    for name in NAMES:
        shutil.copytree(cluster, root / "profiles" / name)
        file = root / "profiles" / name / "cluster.yaml"
        text = file.read_text("utf-8").replace(f"name: {cluster.name}", f'name: "{name}"', 1)
        file.write_text(change(name, text), "utf-8")
    return root


def runs(root):
    """Each cluster as a run over all of them has it, and as it is alone; with what is said of what it predicts."""
    together = open_project(root)
    for files in together.fleet.clusters:
        for project in (together, open_project(root)):
            run = run_cluster(project, files)
            yield run, judge_cluster(project, run).diagnostics


def assert_same(root):
    pairs = runs(root)
    for (found, judged), (alone, judged_alone) in zip(pairs, pairs, strict=True):
        assert alone.files is not None, [item.message for item in alone.diagnostics]
        assert judged == judged_alone
        assert found.files == alone.files
        assert found.diagnostics == alone.diagnostics
        assert found.plan == alone.plan


def moved(root):
    """The clusters that were not resolved by themselves."""
    project = open_project(root)
    plans = AlikePlans(project.catalog)
    loaded = [load_cluster(project.tree, files, project.bases) for files in project.fleet.clusters]
    return [item.name for item in loaded if plans.of(item)[1]]


@pytest.mark.parametrize("case", CASES)
def test_a_cluster_beside_others_that_are_like_it_is_what_it_is_alone(case, tmp_path):
    assert_same(copies(GOLDEN / case / "profiles", tmp_path / "project"))


@pytest.mark.rows(4, "each cluster of the sample, five times")
@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in (GOLDEN.parents[1] / "profiles").glob("*/cluster.yaml"))
)
def test_the_clusters_of_the_sample_beside_others_that_are_like_them(name, tmp_path, repository):
    start = tmp_path / "start"
    start.mkdir()
    for path in (repository / "profiles").iterdir():
        if path.name.startswith("_") or path.name == name:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, start / path.name)

    assert_same(copies(start, tmp_path / "project"))


def test_from_the_third_of_a_kind_on_none_is_resolved_again(tmp_path):
    root = copies(GOLDEN / "bare-metal-names/profiles", tmp_path / "project")

    assert len(moved(root)) == len(NAMES) - 2


def longer(name, text):
    """Lines above the findings, in every other cluster."""
    return "# a comment\n" * (len(name) % 2) + text


def upgraded(name, text):
    return text.replace("{release: ", "{upgradingFrom: v25.10.1, release: ") if name < "b" else text


@pytest.mark.parametrize("change", [longer, upgraded])
@pytest.mark.parametrize("case", ["driver-objects-flux", "mixed-runtimes"])
def test_clusters_that_are_nearly_alike(case, change, tmp_path):
    assert_same(copies(GOLDEN / case / "profiles", tmp_path / "project", change))


def test_a_name_that_findings_say_is_never_replaced(tmp_path):
    """Passes name the cluster's file in what they advise; each cluster has to be told of its own."""
    root = copies(GOLDEN / "mixed-runtimes/profiles", tmp_path / "project")
    for file in root.glob("profiles/*/*.yaml"):
        text = file.read_text("utf-8")
        file.write_text("\n".join(line for line in text.split("\n") if "mixed-runtimes, by" not in line), "utf-8")
    together = open_project(root)
    for files in together.fleet.clusters:
        loaded = load_cluster(together.tree, files, together.bases)
        found, _ = together.plans.of(loaded)
        assert found.diagnostics == resolve_cluster(loaded, together.catalog).diagnostics
