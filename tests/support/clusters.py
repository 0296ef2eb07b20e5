"""Small clusters for the floors above loading: profiles from a few words, plans and files from profiles."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from poolsmith.core.diagnostics.codes import support
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.bases import load_bases
from poolsmith.fleet.profiles.fleet import find_fleet
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.project.output.prediction import PredictionTexts
from poolsmith.project.output.tree import file_bytes, render_cluster
from poolsmith.project.run.cluster_run import predicted_errors
from support.code_book import entries_of
from support.marked import MARK, marked_key, unmarked

OF_VERSIONS = frozenset(rule.name for rule in entries_of(support))
"""What each cluster with an old version is told, whatever a test is about: tests/fleet/plan/test_component_limits.py."""
CLUSTER = {
    "kubernetes": '{version: "1.33", distribution: kubeadm}',
    "stack": "{release: v26.3.3}",
    "delivery": "{engine: argocd, repoURL: https://git.example.com/gpu.git}",
}
POOL = {
    "os": '{id: ubuntu, version: "22.04"}',
    "runtime": "{name: containerd}",
    "gpu": "{product: NVIDIA-A100-SXM4-80GB, count: 8}",
    "driver": "{source: container}",
}


def profile(kind, name, spec):
    """One field a line, from line 5 on, so that expectations can name lines."""
    lines = [f"  {key}: {value}\n" for key, value in spec.items() if value is not None]
    return f"apiVersion: poolsmith/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{''.join(lines)}"


def placed(cluster, pools):
    """Fields without their mark, and the place that it names: `file:line:column`, None without a mark."""
    place = None
    bare = {}
    for name, spec in {"cluster": cluster, **pools}.items():
        bare[name], key = marked_key(spec)
        if key is not None:
            defaults = CLUSTER if name == "cluster" else POOL
            field = next(f"{key}: {value}" for key, value in spec.items() if MARK in f"{key}{value}")
            whole = {name: "" if name == key else value for name, value in {**defaults, **bare[name]}.items()}
            text = profile("", "", whole).replace(f"\n  {key}: \n", f"\n  {field}\n")
            place = f"{name}.yaml:{unmarked(text)[1]}"
    return bare.pop("cluster"), bare, place


@dataclass(frozen=True)
class Outcome:
    """What became of a cluster: a plan or None, and what was said."""

    plan: object
    diagnostics: tuple
    loaded: object = None

    @property
    def predicted(self):
        return PredictionTexts().of(Predictions(Catalog()).of(self.plan, self.loaded))

    @property
    def findings(self):
        return [(item.name, str(item.primary.span).removeprefix("profiles/prod/")) for item in self._of_the_subject]

    @property
    def names(self):
        return [item.name for item in self._of_the_subject]

    @property
    def _of_the_subject(self):
        return [item for item in self.diagnostics if item.name not in OF_VERSIONS]

    @property
    def values(self):
        return {setting.dotted: setting.value for setting in self.plan.values}

    def labels(self, pool):
        return {label.key: label.value for label in self.pool(pool).labels}

    def pool(self, name):
        return next(pool for pool in self.plan.pools if pool.name == name)


@dataclass(frozen=True)
class Files:
    """A cluster's generated files."""

    plan: object
    tree: object
    content: dict

    def text(self, path):
        return self.content[path].decode()

    def documents(self, path):
        return [document for document in read_documents(self.text(path)) if document is not None]

    def document(self, path):
        (document,) = self.documents(path)
        return document

    def everything(self):
        return [(path, item) for path in self.content if path.endswith(".yaml") for item in self.documents(path)]


@pytest.fixture(scope="session")
def catalog():
    return Catalog()


def resolve_in(root, catalog, cluster=None, pools=None):
    """What `prod` resolves to, its profiles written below a folder: see the fixture."""
    pools = {"a": {}} if pools is None else pools
    folder = root / "profiles" / "prod"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / "cluster.yaml").write_text(profile("Cluster", "prod", {**CLUSTER, **(cluster or {})}))
    for name, spec in pools.items():
        (folder / f"{name}.yaml").write_text(profile("NodePool", name, {**POOL, **spec}))
    tree = InputTree(root)
    fleet = find_fleet(tree)
    loaded = load_cluster(tree, fleet.clusters[0], load_bases(tree, fleet.bases))
    assert not loaded.problems, [f"{item.primary.span}: {item.message}" for item in loaded.problems]
    resolved = resolve_cluster(loaded, catalog)
    errors = []
    if resolved.plan is not None:
        errors = predicted_errors(Predictions(catalog).of(resolved.plan, loaded), loaded)
    return Outcome(resolved.plan, (*resolved.diagnostics, *errors), loaded)


@pytest.fixture
def resolve(tmp_path, catalog):
    """Resolve a cluster `prod`: fields of its spec over the defaults, and fields of pools by name."""

    def run(cluster=None, pools=None):
        return resolve_in(tmp_path, catalog, cluster, pools)

    return run


@pytest.fixture
def render(resolve):
    """The files of a cluster that resolves."""

    def run(cluster=None, pools=None):
        outcome = resolve(cluster, pools)
        assert outcome.plan is not None, [item.message for item in outcome.diagnostics]
        tree = render_cluster(outcome.plan, outcome.predicted)
        return Files(outcome.plan, tree, file_bytes(tree))

    return run
