"""A cluster's folder becomes a typed cluster with pools, or a list of everything that is wrong with it."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.input_tree import InputTree
from poolsmith.fleet.profiles.bases import load_bases
from poolsmith.fleet.profiles.fleet import find_fleet
from poolsmith.fleet.profiles.load_cluster import load_cluster

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata:
  name: prod
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3}
  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: a100
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd}
  gpu: {product: A100, count: 8}
"""
BASE = """\
apiVersion: poolsmith/v1
kind: NodePoolBase
metadata:
  name: base
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd}
  gpu: {product: A100}
"""
EXTENDING = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: a100
spec:
  extends: [base]
  gpu: {count: 8}
"""


@pytest.fixture
def load(write_files):
    def load_them(files, name="prod"):
        tree = InputTree(write_files({f"profiles/{path}": text for path, text in files.items()}))
        fleet = find_fleet(tree)
        (cluster,) = [cluster for cluster in fleet.clusters if cluster.name == name]
        return load_cluster(tree, cluster, load_bases(tree, fleet.bases))

    return load_them


def findings(problems):
    return [(item.name, str(item.primary.span)) for item in problems]


def test_a_sound_folder_becomes_a_cluster_with_pools(load):
    loaded = load({"prod/cluster.yaml": CLUSTER, "prod/z.yaml": POOL, "prod/b.yml": POOL.replace("a100", "b200")})

    assert loaded.problems == ()
    assert loaded.cluster.metadata.name == "prod"
    assert [item.pool.name for item in loaded.pools] == ["a100", "b200"]
    assert loaded.pools[0].pool.path == "profiles/prod/z.yaml"
    assert set(loaded.inputs) == {"profiles/prod/cluster.yaml", "profiles/prod/z.yaml", "profiles/prod/b.yml"}
    assert loaded.used_bases == frozenset()


def test_a_pool_is_completed_by_its_bases(load):
    loaded = load({"_bases/x.yaml": BASE, "prod/cluster.yaml": CLUSTER, "prod/a.yaml": EXTENDING})
    (item,) = loaded.pools

    assert loaded.problems == ()
    assert (item.pool.spec.gpu.count, item.pool.spec.os.id) == (8, "ubuntu")
    assert str(item.layers.locate("/spec/os/id").span) == "profiles/_bases/x.yaml:6:8"
    assert "profiles/_bases/x.yaml" in loaded.inputs
    assert loaded.used_bases == {"base"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"prod/a.yaml": POOL}, [("cluster-file-missing", "profiles/prod")]),
        ({"prod/cluster.yaml": CLUSTER}, [("cluster-without-pools", "profiles/prod/cluster.yaml:2:1")]),
        (
            {"prod/cluster.yaml": CLUSTER.replace("prod", "stage"), "prod/a.yaml": POOL},
            [("cluster-name-mismatch", "profiles/prod/cluster.yaml:4:3")],
        ),
        (
            {"prod/cluster.yaml": CLUSTER.replace("Cluster", "Clutser"), "prod/a.yaml": POOL},
            [("unknown-kind", "profiles/prod/cluster.yaml:2:1")],
        ),
        (
            {"prod/cluster.yaml": "a: @\n", "prod/a.yaml": POOL},
            [("yaml-syntax", "profiles/prod/cluster.yaml:1:4")],
        ),
        (
            {"prod/cluster.yaml": CLUSTER, "prod/a.yaml": POOL, "prod/b.yaml": POOL},
            [("duplicate-name", "profiles/prod/b.yaml:4:3")],
        ),
        (
            {"prod/cluster.yaml": CLUSTER, "prod/a.yaml": POOL, "prod/deep/b.yaml": POOL},
            [("misplaced-file", "profiles/prod/deep")],
        ),
        (
            {"prod/cluster.yaml": CLUSTER, "prod/a.yaml": POOL, "prod/b.yaml": "", "prod/c.yaml": "- a"},
            [("empty-document", "profiles/prod/b.yaml"), ("not-a-mapping", "profiles/prod/c.yaml:1:1")],
        ),
        (
            {"prod/cluster.yaml": CLUSTER, "prod/a.yaml": EXTENDING},
            [("unknown-base", "profiles/prod/a.yaml:6:13")],
        ),
        (
            {
                "prod/cluster.yaml": CLUSTER,
                "prod/a.yaml": POOL.replace("spec:", "spec: ~\n#").split("  os")[0],
            },
            [("missing-field", "profiles/prod/a.yaml:5:1")],
        ),
        (
            {"prod/cluster.yaml": CLUSTER.replace("v26.3.3", "26.3"), "prod/a.yaml": POOL.replace("8", "0")},
            [
                ("ambiguous-scalar", "profiles/prod/cluster.yaml:7:11"),
                ("out-of-range", "profiles/prod/a.yaml:8:24"),
            ],
        ),
        (
            {"prod/cluster.yaml": CLUSTER, "prod/a.yaml": POOL, "prod/notes.md": "x", "prod/.x.yaml": "x"},
            [],
        ),
    ],
)
def test_a_mistake_in_a_folder_is_told_at_its_place(load, files, expected):
    assert findings(load(files).problems) == expected


@pytest.mark.parametrize(
    ("base", "own", "expected"),
    [
        (BASE, EXTENDING.replace("count: 8", ""), [("missing-field", "profiles/prod/a.yaml:7:3")]),
        (
            BASE,
            EXTENDING.replace("  gpu: {count: 8}\n", ""),
            [("missing-field", "profiles/_bases/x.yaml:8:3")],
        ),
        (BASE, EXTENDING + "  os: ~\n", [("missing-field", "profiles/prod/a.yaml:8:3")]),
        (BASE, EXTENDING + "  os: {id: ~}\n", [("missing-field", "profiles/prod/a.yaml:8:8")]),
        (BASE, EXTENDING.replace("8", "0"), [("out-of-range", "profiles/prod/a.yaml:7:9")]),
        (
            BASE,
            EXTENDING.replace("count: 8", "cuont: 8"),
            [("unknown-field", "profiles/prod/a.yaml:7:9")],
        ),
    ],
)
def test_a_mistake_through_bases_is_told_in_the_file_that_has_it(load, base, own, expected):
    found = findings(load({"_bases/x.yaml": base, "prod/cluster.yaml": CLUSTER, "prod/a.yaml": own}).problems)

    assert found == expected


def test_the_pool_that_has_a_mistake_is_left_out_and_the_others_stay(load):
    loaded = load(
        {
            "prod/cluster.yaml": CLUSTER,
            "prod/a.yaml": POOL,
            "prod/b.yaml": POOL.replace("a100", "b200").replace("count: 8", "count: many"),
        }
    )

    assert [item.pool.name for item in loaded.pools] == ["a100"]
    assert findings(loaded.problems) == [("wrong-type", "profiles/prod/b.yaml:8:24")]


def test_two_pools_of_one_name_show_both_places(load):
    (problem,) = load({"prod/cluster.yaml": CLUSTER, "prod/a.yaml": POOL, "prod/b.yaml": POOL}).problems

    assert [str(place.span) for place in problem.related] == ["profiles/prod/a.yaml:4:3"]


def test_the_name_of_the_right_folder_is_proposed(load):
    (problem,) = load({"prod/cluster.yaml": CLUSTER.replace("prod", "stage"), "prod/a.yaml": POOL}).problems

    assert problem.help == "write `name: prod`, or rename the folder"


@pytest.mark.parametrize("name", ["Prod", "prod_eu", "prod.eu", "p" * 64])
def test_a_folder_that_no_cluster_can_be_named_after_is_reported(load, name):
    loaded = load({f"{name}/cluster.yaml": CLUSTER, f"{name}/a.yaml": POOL}, name)

    assert ("invalid-name", f"profiles/{name}") in findings(loaded.problems)
    assert loaded.cluster is None


def test_files_where_nobody_looks_are_reported(write_files):
    tree = InputTree(
        write_files(
            {
                "profiles/stray.yaml": "",
                "profiles/README.md": "",
                "profiles/_odd/x.yaml": "",
                "profiles/_schemas/x.json": "",
                "profiles/_bases/deep/x.yaml": "",
                "profiles/_bases/a.yaml": "",
                "profiles/prod/cluster.yaml": "",
            }
        )
    )
    fleet = find_fleet(tree)

    assert findings(fleet.problems) == [
        ("misplaced-file", "profiles/stray.yaml"),
        ("misplaced-file", "profiles/_bases/deep"),
        ("misplaced-file", "profiles/_odd"),
    ]
    assert fleet.bases == ("profiles/_bases/a.yaml",)
    assert [cluster.folder for cluster in fleet.clusters] == ["profiles/prod"]


def test_a_project_without_profiles_has_no_clusters(tmp_path):
    fleet = find_fleet(InputTree(tmp_path))

    assert (fleet.clusters, findings(fleet.problems)) == ((), [("unreadable-file", "profiles")])


def test_profiles_that_are_a_link_out_of_the_project_are_not_read(tmp_path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "prod").mkdir()
    (elsewhere / "prod" / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "profiles").symlink_to(elsewhere)
    fleet = find_fleet(InputTree(tmp_path))

    assert (fleet.clusters, findings(fleet.problems)) == ((), [("link-out-of-tree", "profiles")])


def test_a_pool_that_extends_a_base_still_needs_a_name(load):
    loaded = load(
        {
            "_bases/x.yaml": BASE,
            "prod/cluster.yaml": CLUSTER,
            "prod/a.yaml": EXTENDING.replace("  name: a100\n", "  {}\n"),
        }
    )

    assert findings(loaded.problems) == [("missing-field", "profiles/prod/a.yaml:3:1")]
