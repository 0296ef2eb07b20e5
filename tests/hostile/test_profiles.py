"""A profile that says something wrong is told at the line that says it, and what it takes instead."""

from __future__ import annotations

import pytest

POOL, CLUSTER, OTHER = (f"profiles/broken/{name}.yaml" for name in ("pool-0", "cluster", "pool-1"))
SHAPES = [
    # file, text that is replaced, its replacement, finding, place
    (POOL, "kind: NodePool", "kind: NodePools", "unknown-kind", ":2:1"),
    (POOL, "kind: NodePool", "kind: Cluster", "unknown-kind", ":2:1"),
    (POOL, "kind: NodePool", "kind: [NodePool]", "unknown-kind", ":2:1"),
    (POOL, "poolsmith/v1", "poolsmith/v2", "unknown-kind", ":1:1"),
    (POOL, "poolsmith/v1", "v1", "unknown-kind", ":1:1"),
    (POOL, "apiVersion: poolsmith/v1\n", "", "missing-field", ""),
    (POOL, "kind: NodePool\n", "", "missing-field", ""),
    (POOL, "metadata:\n  name: pool-0\n", "", "missing-field", ""),
    (POOL, "  name: pool-0\n", "  {}\n", "missing-field", ":3:1"),
    (POOL, "metadata:\n  name: pool-0\n", "metadata: pool-0\n", "wrong-type", ":3:1"),
    (POOL, "spec:", "spac:", "unknown-field", ":5:1"),
    (POOL, "  gpu:", "  gpus:", "unknown-field", ":14:3"),
    (POOL, "    id: ubuntu\n", "", "missing-field", ":6:3"),
    (POOL, "product: NVIDIA-L4", "produkt: NVIDIA-L4", "unknown-field", ":15:5"),
    (POOL, "count: 8", "count: eight", "wrong-type", ":16:5"),
    (POOL, "count: 8", 'count: "8"', "wrong-type", ":16:5"),
    (POOL, "count: 8", "count: 8.5", "wrong-type", ":16:5"),
    (POOL, "count: 8", "count: true", "wrong-type", ":16:5"),
    (POOL, "count: 8", "count: [8]", "wrong-type", ":16:5"),
    (POOL, "count: 8", "count: 0", "out-of-range", ":16:5"),
    (POOL, "count: 8", "count: -1", "out-of-range", ":16:5"),
    (POOL, "count: 8", "count: 18446744073709551615", "out-of-range", ":16:5"),
    (POOL, "count: 8", "count: 18446744073709551616", "out-of-range", ":16:5"),
    (POOL, "count: 8", f"count: 1{'0' * 300}", "wrong-type", ":16:5"),
    (POOL, "count: 8", f"count: 1{'0' * 5000}", "wrong-type", ":16:5"),
    (POOL, "count: 8", f"count: 0x{'f' * 5000}", "wrong-type", ":16:5"),
    (POOL, "source: container", "source: container\n  secureBoot: 1", "wrong-type", ":21:3"),
    (POOL, "source: container", "source: container\n  secureBoot: 'true'", "wrong-type", ":21:3"),
    (POOL, "source: container", "source: container\n    rdma: 0", "wrong-type", ":21:5"),
    (POOL, "source: container", "source: contianer", "invalid-value", ":20:5"),
    (POOL, "source: container", "source: 1", "ambiguous-scalar", ":20:5"),
    (POOL, "source: container", "source: on", "ambiguous-scalar", ":20:5"),
    (POOL, 'version: "24.04"', "version: 24.04", "ambiguous-scalar", ":8:5"),
    (POOL, 'version: "24.04"', "version: 1e3", "ambiguous-scalar", ":8:5"),
    (
        POOL,
        "  driver:\n    version: 580.126.20\n    upgradePolicy: {}\n    source: container\n",
        "  driver: container\n",
        "wrong-type",
        ":17:3",
    ),
    (POOL, "spec:", "spec:\n  extends: base", "wrong-type", ":6:3"),
    (POOL, "spec:", "spec:\n  extends: [nothing]", "unknown-base", ":6:13"),
    (POOL, "spec:", "spec:\n  extends: [../secret]", "invalid-name", ":6:13"),
    (POOL, "spec:", "spec:\n  nodes: {names: [a, a]}", "duplicate-item", ":6:22"),
    (OTHER, "name: pool-1", "name: pool-0", "duplicate-name", ":4:3"),
    (CLUSTER, "kind: Cluster", "kind: NodePool", "unknown-kind", ":2:1"),
    (CLUSTER, "name: broken", "name: other", "cluster-name-mismatch", ":4:3"),
    (CLUSTER, "  stack:", "  stacks:", "unknown-field", ":9:3"),
    (CLUSTER, "engine: argocd", "engine: argo", "invalid-value", ":14:5"),
    (CLUSTER, 'version: "1.34"', "version: 1.34", "ambiguous-scalar", ":7:5"),
    (CLUSTER, "  kubernetes:", "  secrets: []\n  kubernetes:", "unknown-field", ":6:3"),
]
NO_NAMES = ["../prod", "..", "/etc", "Prod", "a_b", "-a", "a.b", "a" * 64, "", "é", "a\\nb", "a\\0"]
PATHS = {
    (CLUSTER, "path", "delivery"): ["../x", "a/../x", "..", "./x", "a/", "a\\0b", "~/x", "/x"],
    (POOL, "config", "runtime"): ["../x", "..", "x", "/a/../x", "/a/./b", "//a", "/a\\nb"],
    (POOL, "dropIn", "runtime"): ["../x", "x", "/a/../x"],
    (POOL, "socket", "runtime"): ["../x", "x", "/a/../x"],
    (POOL, "installDir", "driver"): ["../x", "x", "/a/../x"],
}
UNKNOWN = [
    # file, text, replacement, finding, place, words of the help
    (CLUSTER, "v26.3.3", "v26.3.4", "unknown-release", ":10:5", ("`v26.3.3`", "docs/catalog-packs.md")),
    (CLUSTER, "kubeadm", "kubadm", "unknown-distribution", ":8:5", ("`kubeadm`",)),
    (CLUSTER, "kubeadm", "openshift", "unknown-distribution", ":8:5", ()),
    (POOL, "id: ubuntu", "id: ubunto", "unknown-operating-system", ":7:5", ("`ubuntu`", "os.imageTag")),
    (POOL, '"24.04"', '"24.10"', "unknown-operating-system", ":8:5", ("`24.04`", "os.imageTag")),
    (POOL, "name: containerd", "name: containered", "unknown-runtime", ":12:5", ("`containerd`",)),
    (POOL, "NVIDIA-L4", "NVIDIA-L5", "unknown-gpu", ":15:5", ("gpu.architecture", "`ada`")),
    (POOL, "count: 8", "count: 8\n    architecture: hoper", "unknown-gpu", ":17:5", ("`hopper`",)),
]


@pytest.mark.rows(2, "each runs four commands over a fleet; tests/fleet/profiles has every field")
@pytest.mark.parametrize(("path", "old", "new", "name", "place"), SHAPES)
def test_a_mistake_is_told_at_its_line(edit, findings, path, old, new, name, place):
    edit(path, old, new)

    assert (name, path + place) in findings()


def test_every_mistake_of_a_file_is_told_in_one_run(edit, findings):
    for old, new in (
        ("count: 8", "count: 0"),
        ("  os:", "  oss:"),
        ("source: container", "source: 1"),
        ("NVIDIA-L4", "''"),
    ):
        edit(POOL, old, new)
    edit(OTHER, "kind: NodePool", "kind: Node")
    edit(CLUSTER, "argocd", "argo")

    assert sorted(findings()) == [
        ("ambiguous-scalar", f"{POOL}:20:5"),
        ("invalid-name", f"{POOL}:15:5"),
        ("invalid-value", f"{CLUSTER}:14:5"),
        ("out-of-range", f"{POOL}:16:5"),
        ("unknown-field", f"{POOL}:6:3"),
        ("unknown-kind", f"{OTHER}:2:1"),
    ]


@pytest.mark.rows(2, "each runs four commands over a fleet")
@pytest.mark.parametrize("name", NO_NAMES)
@pytest.mark.parametrize(("path", "old"), [(POOL, "name: pool-0"), (CLUSTER, "name: broken")])
def test_a_name_is_a_dns_label(edit, findings, path, old, name):
    edit(path, old, f'name: "{name}"')

    assert findings() == [("invalid-name", f"{path}:4:3")]


@pytest.mark.rows(2, "each runs four commands over a fleet")
@pytest.mark.parametrize(
    ("path", "field", "parent", "value"),
    [(path, field, parent, value) for (path, field, parent), values in PATHS.items() for value in values],
)
def test_a_path_stays_where_it_belongs(edit, findings, path, field, parent, value):
    edit(path, f"  {parent}:\n", f'  {parent}:\n    {field}: "{value}"\n')

    assert [name for name, _ in findings()] == ["invalid-name"]


@pytest.mark.rows(2, "each runs four commands over a fleet")
@pytest.mark.parametrize(("path", "old", "new", "name", "place", "words"), UNKNOWN)
def test_what_the_catalog_does_not_know_is_told_with_the_nearest_and_a_way_out(
    project, edit, findings, run_cli, path, old, new, name, place, words
):
    edit(path, old, new)
    edit(OTHER, "name: containerd", "name: dockerd")

    assert sorted(findings()) == sorted([(name, path + place), ("unknown-runtime", f"{OTHER}:12:5")])
    report = run_cli(["generate", "--root", project, "--format", "json"])
    told = next(item for item in report.diagnostics if item["name"] == name and item["primary"]["path"] == path)
    assert all(word in told["help"] for word in words)


def test_bases_that_extend_each_other_are_told_once_a_circle(write, findings):
    base = "apiVersion: poolsmith/v1\nkind: NodePoolBase\nmetadata: {{name: {}}}\nspec:\n  extends: [{}]\n"
    write("profiles/_bases/a.yaml", base.format("a", "b"))
    write("profiles/_bases/b.yaml", base.format("b", "a"))
    write("profiles/_bases/self.yaml", base.format("self", "self"))

    assert findings() == [
        ("extends-cycle", "profiles/_bases/b.yaml:5:13"),
        ("extends-cycle", "profiles/_bases/self.yaml:5:13"),
    ]


def test_a_mistake_in_a_base_is_told_once_and_hides_nothing_elsewhere(write, edit, findings):
    write(
        "profiles/_bases/a.yaml",
        "apiVersion: poolsmith/v1\nkind: NodePoolBase\nmetadata: {name: a}\nspec:\n  arch: x86\n",
    )
    edit(POOL, "spec:\n", "spec:\n  extends: [a]\n")
    edit("profiles/sound/pool-0.yaml", "NVIDIA-L4", "NVIDIA-L5")

    assert findings() == [
        ("invalid-value", "profiles/_bases/a.yaml:5:3"),
        ("unknown-gpu", "profiles/sound/pool-0.yaml:15:5"),
    ]


def test_two_bases_of_one_name_are_told_with_each_other(write, findings):
    base = "apiVersion: poolsmith/v1\nkind: NodePoolBase\nmetadata: {name: a}\nspec: {arch: amd64}\n"
    write("profiles/_bases/a.yaml", base)
    write("profiles/_bases/b.yaml", base)

    assert ("duplicate-name", "profiles/_bases/b.yaml:3:12") in findings()


@pytest.mark.parametrize(
    ("removed", "expected"),
    [
        (["cluster"], ("cluster-file-missing", "profiles/broken")),
        (["pool-0", "pool-1"], ("cluster-without-pools", f"{CLUSTER}:2:1")),
        (["cluster", "pool-0", "pool-1"], ("cluster-file-missing", "profiles/broken")),
    ],
)
def test_half_a_cluster_is_told(project, findings, removed, expected):
    for name in removed:
        (project / f"profiles/broken/{name}.yaml").unlink()

    assert findings() == [expected]


def test_a_cluster_folder_is_a_dns_label(project, findings):
    (project / "profiles/broken").rename(project / "profiles/Bro_ken")

    assert {
        ("invalid-name", "profiles/Bro_ken"),
        ("cluster-name-mismatch", "profiles/Bro_ken/cluster.yaml:4:3"),
    } <= set(findings())


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
@pytest.mark.rows(1, "one place of three")
@pytest.mark.parametrize("indent", ["", "  ", "    values:\n      "], ids=["top", "spec", "values"])
def test_5000_unknown_keys_end_in_a_bounded_report(edit, findings, indent):
    lines = "".join(
        f"{indent[-6:] if 'values' in indent else indent}{'unknown' * 3}{number}: 1\n" for number in range(5000)
    )
    if "values" in indent:
        edit(CLUSTER, "    driverMode: nvidia-driver\n", "    driverMode: nvidia-driver\n    values:\n" + lines)
    else:
        edit(POOL, "apiVersion", lines + "apiVersion") if not indent else edit(POOL, "spec:\n", "spec:\n" + lines)

    assert len(findings()) in (201, 51)
