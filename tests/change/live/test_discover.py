"""From a cluster that runs back to its profiles, and from those to the very output that is committed."""

from __future__ import annotations

import json
import shutil
from functools import cache

import jsonschema
import pytest
import yaml

from change.live.conftest import ROOT
from change.live.faulty_server import door
from poolsmith.change.discover.gpu_nodes import gpu_nodes, groups_of, pool_label
from poolsmith.change.discover.installation import values_of
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.live_cluster import read_node_marks
from poolsmith.interface.app.live.discover import UNSEEN, discover
from poolsmith.interface.app.live.verify import Source, discovering_manifests
from poolsmith.interface.app.template import template
from poolsmith.kubernetes.live.api_resources import NODES, Reading
from poolsmith.kubernetes.live.snapshot import ListedObjects, Snapshot, State, to_text
from property.surfaces.one_pool import Pool, as_cluster
from support.live_cluster import bundle_of, recorded_snapshot, view, with_gpus
from support.recordings import recording

CLUSTERS = sorted(path.name for path in (ROOT / "output/clusters").iterdir())
A100, UBUNTU = "NVIDIA-A100-SXM4-80GB", ("ubuntu", "22.04")
NOT_COMPARED = {"README.md", "poolsmith.lock.json"}
"""Texts for people and hashes of the profiles' own bytes."""
KERNEL_ARGUMENTS = {"provisioner.kernelArguments"}
DECLARED = {
    "kata-a10": {"expected/node-labels/kata.yaml": KERNEL_ARGUMENTS},
    "kata-l40s": {"expected/node-labels/untrusted.yaml": KERNEL_ARGUMENTS},
    "machines": {
        "expected/node-labels/desktops.yaml": KERNEL_ARGUMENTS,
        "expected/node-labels/whole.yaml": KERNEL_ARGUMENTS,
    },
    # without GPU feature discovery nothing tells the driver, and an image of the smoke test follows from it
    # without Applications nothing tells where it is delivered to
    "manual": {
        "images.yaml": {"images"},
        "smoke/workstations.yaml": {"spec.template"},
        "delivery/dcgm-exporter.yaml": {"spec.destination"},
        "delivery/device-plugin.yaml": {"spec.destination"},
        "delivery/platform.yaml": {"spec.destination"},
    },
    "prod-eu": {
        # nodes.names: a NodeFeatureRule writes the label
        "expected/node-labels/a100-precompiled.yaml": {"*"},
        "pools/a100-precompiled/kustomization.yaml": {"resources"},
        "pools/a100-precompiled/node-feature-rule.yaml": {"*"},
        # nodes.autoscaled: flags of the autoscaler
        "expected/node-labels/l4-burst.yaml": {"clusterAutoscaler"},
        # which base a field came from
        "privileges.yaml": {"workloads.gpu-operator/DaemonSet/nvidia-mig-manager"},
    },
    "sealed": {
        "expected/node-labels/confidential.yaml": KERNEL_ARGUMENTS,
        "expected/node-labels/untrusted.yaml": KERNEL_ARGUMENTS,
        "smoke/confidential.yaml": {"spec.template"},  # sandbox.defaultMemory
    },
}
"""By cluster and file: the fields at its top that no cluster shows; all others are equal."""


@cache
def bundle_text(name):
    """As the operator's own program has left it, where there is an operator."""
    cluster = view(ROOT, name)
    is_recorded = name in recording("live_clusters")
    return to_text(with_gpus(cluster, recorded_snapshot(cluster)) if is_recorded else bundle_of(cluster))


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    shutil.copytree(ROOT / "policies", root / "policies")
    return root


@pytest.fixture
def bundle(tmp_path):
    def write(name, change=lambda body: body):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(change(json.loads(bundle_text(name)))))
        return path

    return write


def lists_of(body, kind):
    return next(item["items"] for item in body["lists"] if item["kind"] == kind)


@pytest.mark.rows(2, "clusters that differ most; a proposal and its output each")
@pytest.mark.parametrize("name", CLUSTERS)
def test_the_proposal_generates_what_is_committed(run_cli, project, bundle, name):
    named = [] if name in recording("live_clusters") else [name]  # nothing else is known to deliver those
    result = run_cli(["discover", *named, "--root", project, "--from", bundle(name), "--write", "--strict"])

    assert result.code == 0, result.out + result.err
    assert "refused" not in result.out
    assert ("differs" in result.out) is (name == "manual"), result.out
    assert run_cli(["generate", "--root", project, "--jobs", "1"]).code == 0
    ours, theirs = (root / "output/clusters" / name for root in (project, ROOT))
    files = {path.relative_to(side) for side in (ours, theirs) for path in side.rglob("*") if path.is_file()}
    found = {}
    for path in sorted(str(file) for file in files):
        if path not in NOT_COMPARED and (fields := unlike(ours / path, theirs / path)):
            found[path] = fields
    assert found == DECLARED.get(name, {})


def unlike(ours, theirs):
    if not ours.is_file() or not theirs.is_file():
        return {"*"}
    made, before = (list(yaml.safe_load_all(path.read_text())) for path in (ours, theirs))
    if len(made) != len(before):
        return {"*"}
    keys = {path for one, other in zip(made, before, strict=True) for path in differing(one, other)}
    return {"*"} if len(keys) > 2 else keys


def differing(one, other, depth=2):
    """Paths of fields, as deep as two mappings."""
    for key in {*one, *other}:
        mine, theirs = one.get(key), other.get(key)
        if mine == theirs or key == "because":
            continue
        if depth > 1 and isinstance(mine, dict) and isinstance(theirs, dict):
            yield from (f"{key}.{path}" for path in differing(mine, theirs, depth - 1))
        else:
            yield key


@pytest.mark.parametrize("name", ["machines"])
def test_a_real_server_says_the_same(control_plane, run_cli, tmp_path, name):
    from change.live.conftest import live_cluster

    live = live_cluster(control_plane, name)
    try:
        source = Source(reading=Reading(kubeconfig=str(live.scenario.kubeconfig())))
        found = discover(tmp_path, None, source)
        path = tmp_path / "bundle.json"
        path.write_text(bundle_text(name))
        again = discover(tmp_path, None, Source(reading=Reading(), file=path))
    finally:
        live.scenario.end()

    assert [item.where for item in found.fields] == [item.where for item in again.fields]
    texts = [{item.path: without_version(item.text) for item in one.profiles} for one in (found, again)]
    for path, text in texts[0].items():
        assert text == texts[1][path]
    assert [text for text in found.differences if "PSM860" not in text] == []
    assert found.not_evaluated == ()
    assert found.compared > 60


def without_version(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("    version: "))


def test_only_lists_are_asked_for_and_the_printed_role_is_enough(prod, tmp_path, run_cli):
    made = []
    text = run_cli(["live", "rbac", "--discover"]).out
    assert text == discovering_manifests()
    for item in yaml.safe_load_all(text):
        if "rules" in item or "subjects" in item:
            if "subjects" in item:
                item["subjects"] = [{"kind": "User", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"}]
            assert prod.client.apply(item).taken
            made.append(item)
    try:
        nobody = Source(reading=Reading(kubeconfig=str(prod.scenario.kubeconfig("nobody"))))
        found = discover(tmp_path, None, nobody)
    finally:
        for item in reversed(made):
            prod.client.delete(item["apiVersion"], item["kind"], item["metadata"]["name"])
    with door(prod.client, lambda _door, _path: None, tmp_path) as (opened, kubeconfig):
        save = tmp_path / "saved.json"
        whole = discover(tmp_path, None, Source(reading=Reading(kubeconfig=str(kubeconfig)), save=save))

    assert found.cluster == whole.cluster == "prod-eu"
    assert [profile.text for profile in found.profiles] == [profile.text for profile in whole.profiles]
    assert {method for method, _ in opened.asked} == {"GET"}
    assert not any("/secrets" in path or "watch=" in path for _, path in opened.asked)
    assert all("is not allowed" in text for text in found.not_evaluated)
    again = discover(tmp_path, None, Source(reading=Reading(), file=save))
    assert again.profiles == whole.profiles
    assert again.differences == whole.differences


def test_each_field_says_where_it_was_seen(run_cli, project, bundle):
    result = run_cli(["discover", "--root", project, "--from", bundle("prod-eu"), "--format", "json"])
    body = json.loads(result.out)
    schema = json.loads((ROOT / "docs/schemas/discovery.schema.json").read_text())
    jsonschema.validate(body, schema)
    rows = {(row["profile"], row["field"]): row for row in body["fields"]}

    assert rows["l40s-shared", "gpu.count"] == {
        "profile": "l40s-shared",
        "field": "gpu.count",
        "value": 4,
        "where": "label nvidia.com/gpu.count",
        "nodes": 1,
        "asked": False,
    }
    assert rows["l40s-shared", "sharing.timeSlicing"]["where"].startswith("ConfigMap/poolsmith-device-plugin-")
    assert rows["cluster", "stack.release"]["where"] == "Deployment/gpu-operator in gpu-operator: label helm.sh/chart"
    assert all(row["where"] for row in body["fields"])
    assert {item["field"] for item in body["unseen"]} == {field for field, _ in UNSEEN}
    assert body["nodes"] == 8


def test_what_runs_otherwise_is_named(run_cli, project, bundle):
    def edited(body):
        for item in lists_of(body, "DaemonSet"):
            if item["metadata"]["name"] == "nvidia-dcgm-exporter":
                item["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example.com/other:1"
        return body

    result = run_cli(["discover", "--root", project, "--from", bundle("prod-eu", edited)])

    assert result.code == 0
    line, behind = sorted(line for line in result.out.splitlines() if line.startswith("  differs"))
    assert "PSM851 `DaemonSet/nvidia-dcgm-exporter`" in line
    assert "registry.example.com/other:1" in line
    assert "PSM860 container `nvidia-dcgm-exporter`" in behind  # whose pods still are what they were


def test_profiles_are_never_overwritten(run_cli, project, bundle, contents):
    line = ["discover", "--root", project, "--from", bundle("edge"), "--write"]
    assert run_cli(line).code == 0
    before = contents(project)
    again = run_cli(line)

    assert (again.code, contents(project)) == (2, before)
    assert "exists already: nothing was written" in again.err
    assert run_cli([*line, "other"]).code == 0


def test_a_clean_run_fits_one_screen_and_the_rest_is_there_when_asked_for(run_cli, project, bundle):
    short = run_cli(["discover", "--root", project, "--from", bundle("prod-eu")]).out
    long = run_cli(["discover", "--root", project, "--from", bundle("prod-eu"), "-v"]).out

    assert len(short.splitlines()) < 16
    assert "8 pools of 8 nodes with GPUs" in short
    assert "kind: NodePool" in long
    assert "  unseen  kernel.args: " in long


# Clusters that nobody prepared


def node(name, *, labels=None, image="Ubuntu 22.04.5 LTS", kernel="5.15.0-105-generic", taints=(), **capacity):
    info = {
        "osImage": image,
        "kernelVersion": kernel,
        "architecture": "amd64",
        "containerRuntimeVersion": "containerd://1.7.27",
        "kubeletVersion": "v1.33.4",
    }
    gpu = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-L40S", "nvidia.com/gpu.count": "4"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **gpu, **(labels or {})}},
        "spec": {"taints": list(taints)},
        "status": {"nodeInfo": info, "capacity": {"nvidia.com/gpu": "4", **capacity}},
    }


def with_nodes(*nodes):
    def change(body):
        lists_of(body, "Node")[:] = nodes
        return body

    return change


def proposed(tmp_path, bundle, *nodes, label=None):
    path = bundle("lab-t4", with_nodes(*nodes))
    return discover(tmp_path, None, Source(reading=Reading(), file=path), label)


def pools(found):
    return {item.path.rpartition("/")[2]: yaml.safe_load(item.text)["spec"] for item in found.profiles[1:]}


def test_nodes_without_any_label_of_pools_are_grouped_by_what_they_are(tmp_path, bundle):
    found = proposed(tmp_path, bundle, node("a"), node("b"), node("c", labels={"nvidia.com/gpu.product": "NVIDIA-A10"}))

    assert sorted(pools(found)) == ["a10.yaml", "l40s.yaml"]
    assert pools(found)["l40s.yaml"]["nodes"]["count"] == 2
    assert sorted(found.unlabelled) == ["a", "b", "c"]
    assert found.pool_label == ""


def test_a_providers_label_tells_pools_apart_and_one_node_without_it_is_told(tmp_path, bundle):
    key = "eks.amazonaws.com/nodegroup"
    found = proposed(tmp_path, bundle, node("a", labels={key: "Big_GPUs"}), node("b", labels={key: "small"}), node("c"))

    assert found.pool_label == key
    assert pools(found)["big-gpus.yaml"]["nodes"]["labelValue"] == "Big_GPUs"
    assert found.unlabelled == ("c",)


def test_systems_of_nodes_on_their_way_are_both_in_the_profile(tmp_path, bundle):
    labels = {"example.com/pool": "gpu"}
    found = proposed(
        tmp_path,
        bundle,
        node("a", labels=labels, kernel="5.15.0-105-generic"),
        node("b", labels=labels, kernel="5.15.0-107-generic"),
    )

    assert pools(found)["gpu.yaml"]["kernel"] == {"releases": ["5.15.0-105-generic", "5.15.0-107-generic"]}


def test_nodes_of_one_pool_that_are_not_alike_are_told(tmp_path, bundle):
    labels = {"eks.amazonaws.com/nodegroup": "gpu"}
    other = labels | {"nvidia.com/gpu.product": "NVIDIA-A10"}
    found = proposed(tmp_path, bundle, node("a", labels=labels), node("b", labels=labels), node("c", labels=other))

    told = "gpu: product is `NVIDIA-L40S` on 2, `NVIDIA-A10` on 1: give the others another value of "
    assert found.unlike == (f"{told}`eks.amazonaws.com/nodegroup`",)


def test_taints_that_pass_are_no_taints_of_a_pool(tmp_path, bundle):
    mine = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
    passing = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    found = proposed(tmp_path, bundle, node("a", taints=[mine, passing]), node("b", taints=[mine]))

    assert pools(found)["l40s.yaml"]["nodes"]["taints"] == [mine]


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param([{"example.com/serial": name} for name in ("s1", "s2", "s3")], id="each node has its own"),
        pytest.param([{"example.com/company": "us"}] * 3, id="all nodes have the same"),
        pytest.param([{"machine.openshift.io/zone": name} for name in ("a", "a", "b")], id="of who makes nodes"),
    ],
)
def test_a_label_that_tells_no_pools_apart_is_none_of_pools(tmp_path, bundle, labels):
    found = proposed(tmp_path, bundle, *(node(f"n{number}", labels=item) for number, item in enumerate(labels)))

    assert sorted(pools(found)) == ["l40s.yaml"]
    assert sorted(found.unlabelled) == ["n0", "n1", "n2"]


def test_a_label_that_is_guessed_is_asked_for(tmp_path, bundle):
    nodes = [node(name, labels={"example.com/row": row}) for name, row in (("a", "1"), ("b", "1"), ("c", "2"))]
    found = proposed(tmp_path, bundle, *nodes)

    assert sorted(pools(found)) == ["1.yaml", "2.yaml"]
    (row,) = (row for row in found.fields if row.field == "poolLabel")
    assert (row.value, row.asked) == ("example.com/row", True)


def test_what_one_node_says_otherwise_is_told_with_how_many_say_it(tmp_path, bundle):
    odd = {"nvidia.com/gpu.product": "NVIDIA-A10", "nvidia.com/gpu.count": "8"}
    nodes = [node(name, labels={"agentpool": "p"} | (odd if name == "c" else {})) for name in "abc"]
    found = proposed(tmp_path, bundle, *nodes)

    rows = {row.field: (row.value, row.nodes) for row in found.fields}
    assert rows["gpu.product"] == ("NVIDIA-L40S", 2)
    assert rows["gpu.count"] == (4, 2)
    assert [text for text in found.unlike if "`NVIDIA-L40S` on 2, `NVIDIA-A10` on 1" in text]
    assert [text for text in found.unlike if "count is `4` on 2, `8` on 1" in text]


def test_a_number_of_shares_is_not_one_of_gpus(tmp_path, bundle):
    bare = node("a", labels={"nvidia.com/device-plugin.config": "shared"}, **{"nvidia.com/gpu": "16"})
    del bare["metadata"]["labels"]["nvidia.com/gpu.count"]
    cut = node("b", labels={"nvidia.com/mig.config": "all-1g.10gb"}, **{"nvidia.com/gpu": "28"})
    del cut["metadata"]["labels"]["nvidia.com/gpu.count"]
    for item in (bare, cut):
        found = proposed(tmp_path, bundle, item)
        (row,) = (row for row in found.fields if row.field == "gpu.count")
        assert row.asked


def test_a_system_that_nobody_knows_is_quoted(tmp_path, bundle):
    found = proposed(tmp_path, bundle, node("a", image="A Linux of our own 7"))
    (row,) = (row for row in found.fields if row.field == "os.id")

    assert row.asked
    assert "A Linux of our own 7" in row.where


def without_chart(image):
    """As OLM installs the operator: no object has the label of a chart."""

    def change(body):
        for kind in ("Deployment", "DaemonSet"):
            for item in lists_of(body, kind):
                item["metadata"]["labels"] = {}
                if item["metadata"]["name"] == "gpu-operator":
                    item["spec"]["template"]["spec"]["containers"][0]["image"] = image
        return body

    return change


def test_an_operator_without_a_chart_is_one(run_cli, project, bundle):
    image = "nvcr.io/nvidia/gpu-operator:v26.7.0"
    told = run_cli(["discover", "--root", project, "--from", bundle("edge", without_chart(image)), "--format", "json"])
    fields = {(row["profile"], row["field"]): row["value"] for row in told.report["fields"]}

    assert told.code == 0, told.err
    assert fields["cluster", "stack.kind"] == "operator"
    assert fields["cluster", "stack.release"] == "v26.7.0"


def test_one_that_tells_no_release_is_said(run_cli, project, bundle):
    image = "registry.example.com/nvidia/gpu-operator@sha256:" + "0" * 64
    result = run_cli(["discover", "--root", project, "--from", bundle("edge", without_chart(image))])

    assert result.code == 2
    assert "the release of the operator that runs is unknown: Deployment/gpu-operator" in result.err


def test_the_label_may_be_said(tmp_path, bundle):
    nodes = [node(name, labels={"example.com/row": name}) for name in ("r1", "r2")]
    found = proposed(tmp_path, bundle, *nodes, label="example.com/row")

    assert sorted(pools(found)) == ["r1.yaml", "r2.yaml"]


@pytest.mark.parametrize(
    ("image", "kubelet", "labels", "distribution", "system"),
    [
        ("Ubuntu 24.04.3 LTS", "v1.33.1+rke2r1", {}, "rke2", ("ubuntu", "24.04")),
        ("Red Hat Enterprise Linux 9.6 (Plow)", "v1.33.1+k3s1", {}, "k3s", ("rhel", "9.6")),
        ("Talos (v1.11.2)", "v1.34.1", {}, "talos", ("talos", "v1.11.2")),
        ("Amazon Linux 2023.8.20250818", "v1.33.3-eks-3abbec1", {}, "eks", ("amzn", "2023")),
        ("Ubuntu 22.04.5 LTS", "v1.33.2", {"kubernetes.azure.com/agentpool": "gpu"}, "aks", ("ubuntu", "22.04")),
        ("An unknown Linux", "v1.33.2", {}, None, None),
    ],
)
def test_distributions_and_systems_are_told_by_their_marks(image, kubelet, labels, distribution, system):
    marks = read_node_marks()

    assert marks.distribution(labels, kubelet, image) == distribution
    assert marks.system(image) == system


def test_without_a_gpu_or_without_a_stack_there_is_nothing_to_propose(run_cli, project, bundle):
    none = run_cli(["discover", "--root", project, "--from", bundle("edge", with_nodes())])

    def bare(body):
        for kind in ("Deployment", "DaemonSet"):
            lists_of(body, kind).clear()
        return body

    no_stack = run_cli(["discover", "--root", project, "--from", bundle("edge", bare)])

    assert (none.code, no_stack.code) == (3, 3)
    assert "no node of the cluster has a GPU" in none.err
    assert "neither the GPU Operator nor a device plugin runs" in no_stack.err


def test_a_release_that_nobody_knows_is_said(run_cli, project, bundle):
    path = bundle("edge")
    path.write_text(path.read_text().replace("gpu-operator-v26.7.0", "gpu-operator-v99.1.0"))
    result = run_cli(["discover", "--root", project, "--from", path])

    assert result.code == 2
    assert "`v99.1.0`" in result.err
    assert "catalog import" in result.err


NONSENSE = ("\x1b[31m", "x" * 100_000, None, [], {}, -1, True, {"a": [{}]}, "::error::x")


@pytest.mark.rows(3, "kinds of nonsense")
@pytest.mark.parametrize("number", range(len(NONSENSE)))
def test_nonsense_is_no_traceback_and_steers_no_terminal(run_cli, project, bundle, number):
    nonsense = NONSENSE[number]

    def spoiled(body):
        for item in lists_of(body, "Node"):
            item["metadata"]["labels"] = dict.fromkeys(item["metadata"]["labels"], nonsense) | {
                "nvidia.com/gpu.present": "true"
            }
            item["status"] = {"nodeInfo": nonsense, "capacity": {"nvidia.com/gpu": nonsense}}
            item["spec"] = nonsense
        for kind in ("ClusterPolicy", "NVIDIADriver", "Application", "ConfigMap", "DaemonSet"):
            for item in lists_of(body, kind):
                item["spec"] = item["data"] = nonsense
        return body

    for flags in (["-v", "--pool-label", "\x1b[31m"], ["--format", "json"]):
        result = run_cli(["discover", "--root", project, "--from", bundle("prod-eu", spoiled), *flags])
        assert result.code in (0, 1, 2, 3), result.err
        assert "Traceback" not in result.err + result.out
        assert "bug" not in result.err
        assert "\x1b" not in result.out + result.err
        assert all(len(line) < 20_000 for line in result.out.splitlines())


def test_a_thousand_nodes_are_grouped_in_a_moment():
    nodes = tuple(node(f"n{number}", labels={"example.com/pool": f"p{number % 7}"}) for number in range(2_000))
    listed = ListedObjects(NODES, State.READ, nodes)
    found = gpu_nodes(
        Snapshot(context="", server="v1.33.0", taken="", lists=(listed,)), read_node_marks(), Catalog().gpus
    )
    key, _ = pool_label(found, None, (), read_node_marks())

    assert key == "example.com/pool"
    assert len(groups_of(found, key)) == 7


def test_values_come_back_from_the_custom_resource(tmp_path):
    chart = Catalog().chart("gpu-operator", "v26.3.3")
    given = {"driver": {"enabled": False}, "toolkit": {"version": "v1.18.0"}, "mig": {"strategy": "mixed"}}
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump(given))
    (policy,) = [item for item in template("v26.3.3", [path]).objects if item["kind"] == "ClusterPolicy"]

    assert values_of("v26.3.3", policy, chart.defaults) == given


def without_labels(*beginnings):
    def change(body):
        for node in lists_of(body, "Node"):
            labels = node["metadata"]["labels"]
            for key in [key for key in labels if key.startswith(beginnings)]:
                del labels[key]
        return body

    return change


GFD = ("nvidia.com/gpu.product", "nvidia.com/gpu.count", "nvidia.com/gpu.present", "nvidia.com/cuda")


@pytest.mark.rows(1, "a proposal of a whole cluster")
@pytest.mark.parametrize("name", ["prod-eu", "prod-rke2"])
def test_a_gpu_that_nobody_names_is_assumed_to_have_the_slices_that_are_asked_of_it(run_cli, project, bundle, name):
    line = ["discover", "--root", project, "--from", bundle(name, without_labels(*GFD)), "--format", "json"]
    result = run_cli(line)
    rows = {(row["profile"], row["field"]): row for row in json.loads(result.out)["fields"]}
    pool, smallest = {"prod-eu": ("a100-mig", "1g.10gb"), "prod-rke2": ("h200-slices", "1g.18gb")}[name]

    assert result.code == 0, result.out
    assert rows[pool, "gpu.product"]["asked"]
    assert smallest in Catalog().gpus.find(rows[pool, "gpu.product"]["value"]).mig_profiles


def test_without_a_label_of_pools_layouts_tell_them_apart(run_cli, project, bundle):
    line = ["discover", "--root", project, "--from", bundle("prod-rke2", without_labels("example.com/"))]
    told = json.loads(run_cli([*line, "--format", "json"]).out)

    assert len([path for path in told["profiles"] if not path["path"].endswith("/cluster.yaml")]) == 3
    assert len(told["unlabelled"]) == 3
    assert told["unlike"] == []


def test_a_driver_that_no_profile_may_have_stays_in_the_proposal_and_is_told(run_cli, project, tmp_path):
    pool = Pool("v26.7.0", "GB200", "550.163.01", "auto", False, False, "2.1.3", None, None, None, False, False, UBUNTU)
    bundle = as_cluster(pool, tmp_path)
    result = run_cli(["discover", "c", "--root", project, "--from", bundle, "--format", "json"])
    found = json.loads(result.out)

    assert result.code == 1
    assert any("GB200 needs driver 570 or later, and the pool has 550.163.01" in line for line in found["refused"])
    assert any('version: "550.163.01"' in item["text"] for item in found["profiles"])


def test_values_that_no_profile_may_have_are_told_with_the_reason(run_cli, project, tmp_path):
    pool = Pool("v26.7.0", A100, "580", "auto", True, True, "2.1.3", None, None, None, False, False, UBUNTU)
    bundle = as_cluster(pool, tmp_path)
    found = json.loads(run_cli(["discover", "c", "--root", project, "--from", bundle, "--format", "json"]).out)

    assert any(line.startswith("`gds.enabled` of the cluster is in no profile: ") for line in found["warned"])


def test_what_is_told_of_the_profiles_is_told_before_they_are_written(run_cli, project, tmp_path):
    pool = Pool("v25.3.0", A100, "570.148.08", "auto", False, False, "2.1.3", None, None, None, False, False, UBUNTU)
    bundle = as_cluster(pool, tmp_path)
    result = run_cli(["discover", "c", "--root", project, "--from", bundle])

    assert "open to CVE-2025-23266" in result.out
