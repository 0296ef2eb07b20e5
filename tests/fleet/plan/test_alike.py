"""What is remembered of clusters that are alike, against each of them resolved by itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.privilege import COMMITTED_SECRET
from poolsmith.fleet.plan.alike import NO_NAME, AlikePlans
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.interface.app import cluster_judgement, output_judgement
from poolsmith.interface.app.cluster_judgement import judge_cluster
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.run import judge_clusters
from poolsmith.project.run import setup_check
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


@pytest.mark.rows(3, "each is a fleet, planned twice")
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


def delivered(name, text):
    """To a place that others do not go to."""
    where = f"server: 'https://{name}.example.com'" if len(name) > len("true") else f"name: '{name}'"
    return text.replace("engine: argocd", f"engine: argocd, destination: {{{where}}}")


@pytest.mark.rows(3, "each is a fleet, planned twice")
@pytest.mark.parametrize("change", [longer, upgraded, delivered])
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


FEW = ("alpha-1", "bravo-2", "charlie", "delta-4", "echo-55")


def counted(monkeypatch, module, name):
    """The arguments of each call of a function of a module."""
    calls, real = [], getattr(module, name)

    def call(*arguments, **options):
        calls.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(module, name, call)
    return calls


@pytest.fixture
def alike(tmp_path, monkeypatch):
    """Clusters that differ in their names, of which findings say some; written."""
    monkeypatch.setitem(copies.__globals__, "NAMES", FEW)
    root = copies(GOLDEN / "driver-objects-flux/profiles", tmp_path / "project")
    generate(root)
    return root


def judged(root):
    project = open_project(root)
    return {item.name: item for item in judge_clusters(project, project.fleet.clusters)}


def test_rules_look_at_three_of_clusters_that_are_alike(alike, monkeypatch):
    setups = counted(monkeypatch, setup_check, "run_setup_rules")
    privileges = counted(monkeypatch, cluster_judgement, "judge_privileges")
    folders = counted(monkeypatch, output_judgement, "judge_schemas")

    found = judged(alike)

    names = [arguments[1] for arguments in privileges]
    assert names == [*FEW[:3], NO_NAME]
    assert [arguments[1].cluster for arguments in setups] == names
    assert len(folders) == len({"aaaaa-0", "aaaaaaa", "aaaa-00"})
    said = {name: [item.message.replace(name, "NAME") for item in one.diagnostics] for name, one in found.items()}
    assert all(messages == said["charlie"] for messages in said.values())
    assert any("`NAME`" in message for message in said["echo-55"])


def test_a_rule_that_cuts_names_speaks_for_itself(alike, monkeypatch):
    """What is found of no name has to be what is found of the first, once it has that one's."""

    def shortened(view, name=""):
        called = name or view.cluster
        yield diagnose(COMMITTED_SECRET, f"`{called[:6]}` is here", view.locate(view.plan.stack_line), subject=called)

    monkeypatch.setattr(cluster_judgement, "judge_privileges", shortened)

    found = judged(alike)

    for name in FEW:
        assert f"`{name[:6]}` is here" in [item.message for item in found[name].diagnostics]


def test_a_fault_in_one_of_folders_that_are_alike_is_found(alike):
    (alike / "output/clusters/delta-4/platform/own.yaml").write_text("apiVersion: v1\nkind: Pod\nspec: {nodes: 1}\n")

    found = judged(alike)

    wrong = {item.primary.span.path for one in found.values() for item in one.folder.findings.diagnostics}
    assert wrong == {"output/clusters/delta-4/platform/own.yaml"}


def test_what_comes_once_is_not_kept(tmp_path):
    root = copies(GOLDEN / "bare-metal-names/profiles", tmp_path / "project")
    project = open_project(root)
    for files in project.fleet.clusters[:1]:
        run_cluster(project, files)

    assert (project.plans._known._known, project.bases.sound, project.tree._known) == ({}, {}, {})
