"""Rings: which there are, what their clusters are delivered from, and who runs ahead."""

from __future__ import annotations

import pytest

from poolsmith.change.review.lost_safeguards import reordered_rings
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.fleet.profiles.bases import load_bases
from poolsmith.fleet.profiles.fleet import RINGS_FILE, find_fleet
from poolsmith.fleet.profiles.load_cluster import cluster_alone, load_cluster
from poolsmith.fleet.profiles.ring_lead import ahead_of_rings
from poolsmith.fleet.profiles.rings_and_teams import NO_RINGS, load_rings
from support.clusters import CLUSTER, POOL, profile

ORDER = "{order: [lab, canary, stable]}"
ORDER_WITH_REVISION = "{order: [lab, canary, stable], revisions: {stable: refs/heads/stable}}"


def ring_order(spec):
    return f"apiVersion: poolsmith/v1\nkind: RingOrder\nmetadata: {{name: rings}}\nspec: {spec}\n"


def loaded(root, clusters, order=ORDER, bases=()):
    """The rings, and the clusters of a fleet: each with fields of its own and of its only pool."""
    files = {
        f"profiles/_bases/{index}.yaml": profile("NodePoolBase", name, {"arch": "amd64"})
        for index, name in enumerate(bases)
    }
    if order is not None:
        files[RINGS_FILE] = ring_order(order)
    for name, (spec, pool) in clusters.items():
        files[f"profiles/{name}/cluster.yaml"] = profile("Cluster", name, {**CLUSTER, **spec})
        files[f"profiles/{name}/a.yaml"] = profile("NodePool", "a", {**POOL, **pool})
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    tree = InputTree(root)
    fleet = find_fleet(tree)
    assert fleet.problems == ()
    rings = load_rings(tree, fleet.rings) if fleet.rings is not None else NO_RINGS
    known = load_bases(tree, fleet.bases)
    assert known.problems == []
    return rings, [load_cluster(tree, item, known, rings) for item in fleet.clusters]


def problems(root, *args, **more):
    rings, clusters = loaded(root, *args, **more)
    found = (*rings.problems, *(problem for cluster in clusters for problem in cluster.problems))
    return [(item.name, str(item.primary.span), item.help) for item in found]


def test_an_unknown_ring_gets_a_suggestion(tmp_path):
    assert problems(tmp_path, {"prod": ({"ring": "stabel"}, {})}) == [
        ("unknown-ring", "profiles/prod/cluster.yaml:8:3", "did you mean `stable`?")
    ]


def test_a_ring_needs_an_order(tmp_path):
    [(name, place, advice)] = problems(tmp_path, {"prod": ({"ring": "lab"}, {})}, order=None)

    assert (name, place) == ("unknown-ring", "profiles/prod/cluster.yaml:8:3")
    assert "_rings.yaml" in advice


def test_a_revision_is_of_a_known_ring(tmp_path):
    found = problems(tmp_path, {"prod": ({}, {})}, order="{order: [lab], revisions: {lap: refs/heads/x}}")

    assert [(name, advice) for name, _, advice in found] == [("unknown-ring", "did you mean `lab`?")]


@pytest.mark.parametrize("order", ["{order: [lab, lab]}", "{}", "{order: [Lab]}", "{order: lab}"])
def test_an_order_with_mistakes_is_no_order_and_tells_nothing_twice(tmp_path, order):
    rings, [cluster] = loaded(tmp_path, {"prod": ({"ring": "stable"}, {})}, order=order)

    assert rings.order is None
    assert rings.problems
    assert cluster.problems == ()


def test_a_cluster_is_delivered_from_the_revision_of_its_ring(tmp_path):
    clusters = {"a": ({"ring": "stable"}, {}), "b": ({"ring": "lab"}, {}), "c": ({}, {})}
    _, found = loaded(tmp_path, clusters, order=ORDER_WITH_REVISION)

    assert [item.cluster.spec.delivery.revision for item in found] == [
        "refs/heads/stable",
        "refs/heads/main",
        "refs/heads/main",
    ]
    assert [RINGS_FILE in item.inputs for item in found] == [True, False, False]


@pytest.mark.parametrize(
    ("own", "engine"), [("revision: refs/heads/main", "argocd"), ("sourceRef: {kind: GitRepository, name: x}", "flux")]
)
def test_a_cluster_has_no_revision_beside_that_of_its_ring(tmp_path, own, engine):
    delivery = f"{{engine: {engine}, repoURL: https://git.example.com/gpu.git, {own}}}"
    spec = {"ring": "stable", "delivery": delivery}

    assert [name for name, *_ in problems(tmp_path, {"prod": (spec, {})}, order=ORDER_WITH_REVISION)] == [
        "ring-revision-not-used"
    ]


def ahead(root, clusters, **more):
    rings, found = loaded(root, clusters, **more)
    assert [problem for item in found for problem in item.problems] == []
    told = list(ahead_of_rings(rings.order, found))
    assert {item.name for item in told} <= {"ring-runs-ahead"}
    return [str(item.primary.span) for item in told]


def in_rings(lab, stable):
    return {"lab": ({"ring": "lab", **lab[0]}, lab[1]), "stable": ({"ring": "stable", **stable[0]}, stable[1])}


def driver(version, source="container"):
    return {"driver": f"{{source: {source}, version: {version}}}"}


NEW, OLD = {"stack": "{release: v26.3.3}"}, {"stack": "{release: v25.10.1}"}
L4 = {"gpu": "{product: NVIDIA-L4, count: 1}"}


@pytest.mark.parametrize(
    ("lab", "stable", "lines"),
    [
        (({}, driver("580.126.20")), ({}, driver("595.91.07")), ["profiles/stable/a.yaml:8:31"]),
        (({}, driver("580.95.05")), ({}, driver("580.126.20")), ["profiles/stable/a.yaml:8:31"]),
        ((OLD, {}), (NEW, {}), ["profiles/stable/cluster.yaml:6:21"]),
        (
            ({}, {"extends": "[a@2026-5]"}),
            ({}, {"extends": "[a@2026-11]"}),
            ["profiles/stable/a.yaml:9:13"],
        ),
        (({}, driver("595.91.07")), ({}, driver("580.126.20")), []),
        (({}, driver("580.126.20")), ({}, driver("580.126.20")), []),
        (({}, driver("580.126.20")), ({}, {**driver("595.91.07"), **L4}), []),
        (({}, driver("580.126.20")), ({}, driver('"595"', "precompiled")), []),
        (({}, driver("580.126.20")), ({}, driver("595.91.07", "preinstalled")), []),
        (({"stack": "{kind: device-plugin, release: v0.17.1}"}, {}), (NEW, {}), []),
        (({}, {"extends": "[a@2026-5]"}), ({}, {"extends": "[b@2026-11]"}), []),
        (({}, {"extends": "[a@blue]"}), ({}, {"extends": "[a@2026-11]"}), []),
        (({}, {"extends": "[a]"}), ({}, {"extends": "[a@2026-11]"}), []),
    ],
)
def test_who_runs_ahead(tmp_path, lab, stable, lines):
    bases = ("a", "a@2026-5", "a@2026-11", "a@blue", "b@2026-11")

    found = ahead(tmp_path, in_rings(lab, stable), bases=bases)

    assert [line.rpartition(":")[0] for line in found] == [line.rpartition(":")[0] for line in lines]


def test_clusters_outside_of_the_rings_are_not_compared(tmp_path):
    assert ahead(tmp_path, {"a": ({"ring": "lab", **OLD}, {}), "b": (NEW, {})}) == []


def test_one_new_cluster_of_a_ring_is_enough_for_the_next(tmp_path):
    clusters = {
        "a": ({"ring": "lab", **OLD}, {}),
        "b": ({"ring": "lab", **NEW}, {}),
        "c": ({"ring": "stable", **NEW}, {}),
    }

    assert ahead(tmp_path, clusters) == []


def test_each_ring_in_between_counts(tmp_path):
    clusters = {
        "a": ({"ring": "lab", **NEW}, {}),
        "b": ({"ring": "canary", **OLD}, {}),
        "c": ({"ring": "stable", **NEW}, {}),
    }

    assert len(ahead(tmp_path, clusters)) == 1


def test_a_version_of_a_base_is_named_exactly(tmp_path):
    rings, [cluster] = loaded(tmp_path, {"prod": ({}, {"extends": "[a@2026-10]"})}, bases=("a@2026-11", "b"))

    assert rings.problems == ()
    assert [(item.name, item.help) for item in cluster.problems] == [("unknown-base", "did you mean `a@2026-11`?")]


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (ORDER, 0),
        ("{order: [dev, lab, canary, stable, late]}", 0),
        ("{order: [lab, stable]}", 0),
        ("{order: [stable, canary, lab]}", 1),
        (None, 1),
    ],
)
def test_rings_that_are_turned_round_are_told(tmp_path, after, told):
    before, _ = loaded(tmp_path / "before", {})
    now, _ = loaded(tmp_path / "after", {}, order=after) if after is not None else (None, None)

    assert len(list(reordered_rings(before, now))) == told


def test_who_asks_for_the_cluster_alone_gets_it_with_any_ring(tmp_path):
    loaded(tmp_path, {"prod": ({"ring": "lab"}, {})})
    tree = InputTree(tmp_path)

    [files] = find_fleet(tree).clusters
    assert cluster_alone(tree, files).spec.ring == "lab"


def test_a_cluster_that_can_not_be_read_leads_nobody(tmp_path):
    rings, clusters = loaded(tmp_path, {"first": ({"ring": "lab"}, {}), "second": ({"ring": "stable"}, {})})
    (tmp_path / "profiles/first/cluster.yaml").write_text("kind: [")
    tree = InputTree(tmp_path)
    fleet = find_fleet(tree)
    known = load_bases(tree, fleet.bases)
    broken = [load_cluster(tree, item, known, rings) for item in fleet.clusters]

    assert broken[0].cluster is None
    assert list(ahead_of_rings(rings.order, broken)) == []
    assert clusters[0].cluster is not None
