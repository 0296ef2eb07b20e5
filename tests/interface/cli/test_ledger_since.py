"""`poolsmith ledger --since REV`: what a cluster gained and lost, and which driver pods that replaces, and how."""

from __future__ import annotations

import pytest

from support.git_repository import commit_all

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: lab}}
spec:
  kubernetes: {{version: "1.33", distribution: kubeadm}}
  stack: {{release: {release}, driverMode: {mode}}}
  delivery: {{engine: flux, repoURL: "https://git.example.com/gpu.git"}}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "22.04"}}
  kernel: {{release: 5.15.0-105-generic}}
  runtime: {{name: containerd, version: "1.7.27"}}
  gpu: {{product: NVIDIA-A100-SXM4-80GB, count: 8}}
  driver: {driver}
"""
COMPILED = "{source: container, version: 580.126.20}"
NEWER = "{source: container, version: 580.159.03}"
PRECOMPILED = '{source: precompiled, version: "580"}'
AT_ONCE = "the driver pods of all its nodes are deleted at once, and others start"
BY_NODE = "running driver pods stay until the driver upgrade replaces them, node by node"


def profiles(mode="cluster-policy", release="v26.3.3", **pools):
    files = {f"profiles/lab/{name}.yaml": POOL.format(name=name, driver=driver) for name, driver in pools.items()}
    return {"profiles/lab/cluster.yaml": CLUSTER.format(mode=mode, release=release), **files}


@pytest.fixture
def since(write_files, run_cli):
    """Commit the first profiles, write the second ones, and ask what changed."""

    def run(then, now, *arguments):
        root = write_files({"README.md": "x\n", **then})
        commit_all(root)
        for path in then.keys() - now.keys():
            (root / path).unlink()
        write_files(now)
        result = run_cli(["ledger", "--root", root, "--since", "HEAD", "--format", "json", *arguments])
        assert result.code == 0, result.err
        return result.report["clusters"]

    return run


def drivers(clusters):
    (cluster,) = clusters
    return [(item["pool"], item["change"], (item["new"] or item["old"])["owner"]) for item in cluster["drivers"]]


def test_without_a_change_nothing_is_told(since):
    (cluster,) = since(profiles(a=COMPILED), profiles(a=COMPILED))

    assert (cluster["changes"], cluster["drivers"]) == ([], [])


def test_another_driver_mode_deletes_all_driver_pods_before_26_7(since):
    clusters = since(profiles(a=COMPILED, b=COMPILED), profiles(mode="nvidia-driver", a=COMPILED, b=COMPILED))

    assert drivers(clusters) == [
        ("a", "deleted", "NVIDIADriver/a-gpu-compiled"),
        ("b", "deleted", "NVIDIADriver/b-gpu-compiled"),
    ]
    assert clusters[0]["drivers"][0]["what"] == AT_ONCE
    assert clusters[0]["changes"] != []


def test_from_26_7_driver_objects_take_the_running_pods_over(since):
    then, now = (profiles(mode=mode, release="v26.7.0", a=COMPILED) for mode in ("cluster-policy", "nvidia-driver"))
    clusters = since(then, now)

    assert drivers(clusters) == [("a", "handed-over", "NVIDIADriver/a-gpu-compiled")]
    assert clusters[0]["drivers"][0]["what"] == BY_NODE


def test_the_way_back_deletes_them_in_every_release(since):
    then, now = (profiles(mode=mode, release="v26.7.0", a=COMPILED) for mode in ("nvidia-driver", "cluster-policy"))

    assert drivers(since(then, now)) == [("a", "deleted", "ClusterPolicy")]


def test_an_immutable_field_makes_another_object_of_that_pool_only(since):
    then = profiles(mode="nvidia-driver", a=COMPILED, b=COMPILED)
    now = profiles(mode="nvidia-driver", a=PRECOMPILED, b=COMPILED)

    assert drivers(since(then, now)) == [("a", "deleted", "NVIDIADriver/a-gpu-precompiled")]


@pytest.mark.parametrize(("mode", "told"), [("nvidia-driver", ["a"]), ("cluster-policy", ["a", "b"])])
def test_another_version_is_an_upgrade_of_whom_it_is_for(since, mode, told):
    b = COMPILED if mode == "nvidia-driver" else NEWER
    clusters = since(profiles(mode=mode, a=COMPILED, b=COMPILED), profiles(mode=mode, a=NEWER, b=b))

    assert [(pool, kind) for pool, kind, _ in drivers(clusters)] == [(pool, "updated") for pool in told]
    assert clusters[0]["drivers"][0]["new"]["image"] == "nvcr.io/nvidia/driver:580.159.03-ubuntu22.04"


def test_pools_that_come_and_go_and_drivers_of_the_host(since):
    then = profiles(mode="nvidia-driver", a=COMPILED, gone=COMPILED, kept=COMPILED)
    now = profiles(mode="nvidia-driver", a="{source: preinstalled}", new=COMPILED, kept=COMPILED)

    assert drivers(since(then, now)) == [
        ("a", "removed", "NVIDIADriver/a-gpu-compiled"),
        ("gone", "removed", "NVIDIADriver/gone-gpu-compiled"),
        ("new", "installed", "NVIDIADriver/new-gpu-compiled"),
    ]


def test_a_filter_by_pool_holds_for_drivers_too(since):
    then, now = (profiles(mode=mode, a=COMPILED, b=COMPILED) for mode in ("cluster-policy", "nvidia-driver"))

    assert [pool for pool, _, _ in drivers(since(then, now, "--pool", "b"))] == ["b"]


def test_a_cluster_that_is_new_and_one_whose_profiles_had_errors(since, write_files):
    (new,) = since({}, profiles(a=COMPILED))
    assert new["notes"][0] == "the cluster is new"
    assert [item["change"] for item in new["drivers"]] == ["installed"]


def test_profiles_that_had_errors_then_are_unknown(since):
    (cluster,) = since(profiles(a="{source: nowhere}"), profiles(a=COMPILED))

    assert (cluster["drivers"], cluster["unknown"]) == ([], ["what it was then: its profiles had errors"])


def test_the_text_names_owners_and_images(write_files, run_cli, since):
    since(profiles(a=COMPILED), profiles(mode="nvidia-driver", a=NEWER))
    root = write_files({})
    result = run_cli(["ledger", "--root", root, "--since", "HEAD"])

    assert "lab  v26.3.3  since HEAD\n" in result.out
    assert (
        "driver pods\n"
        f"  a  {AT_ONCE}\n"
        "     ClusterPolicy -> NVIDIADriver/a-gpu-compiled, nvcr.io/nvidia/driver:580.126.20-ubuntu22.04 -> "
        "nvcr.io/nvidia/driver:580.159.03-ubuntu22.04\n"
    ) in result.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--since", "nowhere"], "--since: the repository has no revision `nowhere`"),
        (["--since", "HEAD", "--set", "driver.enabled=false"], "--since compares the project with a revision"),
        (["--since", "HEAD", "--cluster", "lib"], "there is no cluster `lib`; did you mean `lab`?"),
    ],
)
def test_what_cannot_be_compared_is_refused(write_files, run_cli, since, arguments, said):
    since(profiles(a=COMPILED), profiles(a=COMPILED))
    result = run_cli(["ledger", "--root", write_files({}), *arguments])

    assert result.code == 2
    assert said in result.err
