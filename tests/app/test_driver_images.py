"""The list of known driver images: what is not in it is unknown, never absent and never there."""

from __future__ import annotations

import textwrap

import pytest

LIST = "profiles/_driver-images.yaml"
HEAD = "apiVersion: poolsmith/v1\nkind: DriverImageList\nmetadata: {name: seen}\n"
CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: prod}}
spec:
  kubernetes: {{version: "1.33", distribution: kubeadm}}
  stack: {{release: {release}, driverMode: {mode}}}
  delivery: {{engine: argocd, repoURL: https://git.example.com/gpu.git}}
  registry: {{mirrors: {mirrors}}}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: {os}, version: "{version}"}}
  kernel: {{release: {kernel}}}
  arch: {arch}
  runtime: {{name: containerd, version: "2.1"}}
  gpu: {{product: NVIDIA-A100-SXM4-80GB, count: 8}}
  driver: {driver}
"""
COMPILED = "{source: container, version: 580.126.20, upgradePolicy: {}}"
PRECOMPILED = '{source: precompiled, version: "580", upgradePolicy: {}}'
WITH_STORAGE = (
    "{source: container, version: 580.126.20, kernelModuleType: open, gds: true, gdrcopy: true, upgradePolicy: {}}"
)
UBUNTU = {"os": "ubuntu", "version": "22.04", "kernel": "5.15.0-105-generic", "arch": "amd64"}
RHEL = {"os": "rhel", "version": "9.6", "kernel": "5.14.0-570.el9_6.x86_64", "arch": "amd64"}


def images(**tags):
    entries = [f"    - repository: {name}\n      tags: [{', '.join(found)}]\n" for name, found in tags.items()]
    return f"{HEAD}spec:\n  images:\n{''.join(entries)}" if entries else f"{HEAD}spec: {{images: []}}\n"


@pytest.fixture
def check(write_files, run_cli):
    """The unknown images of a cluster, with their places; the whole report."""

    def run(pools, known=None, release="v26.3.3", mode="nvidia-driver", mirrors="{}"):
        files = {"profiles/prod/cluster.yaml": CLUSTER.format(release=release, mode=mode, mirrors=mirrors)}
        for name, (system, driver) in pools.items():
            files[f"profiles/prod/{name}.yaml"] = POOL.format(name=name, driver=driver, **system)
        if known is not None:
            files[LIST] = known
        root = write_files(files)
        run_cli(["generate", "--root", root])
        result = run_cli(["check", "--root", root, "--format", "json"])
        found = [item for item in result.diagnostics if item["code"] == "PSM218"]
        return [f"{item['primary']['path']}:{item['primary']['line']} {item['message']}" for item in found], result

    return run


def unknown(pool, line, image, lacks="tag"):
    return f"profiles/prod/{pool}.yaml:{line} whether `{image}` exists is unknown: {LIST} lacks the {lacks}"


NVIDIA = "nvcr.io/nvidia/driver"


@pytest.mark.parametrize("mode", ["nvidia-driver", "cluster-policy"])
@pytest.mark.parametrize(
    ("release", "system", "driver", "tag", "line"),
    [
        ("v26.3.3", UBUNTU, COMPILED, "580.126.20-ubuntu22.04", 10),
        ("v26.3.3", UBUNTU, PRECOMPILED, "580-5.15.0-105-generic-ubuntu22.04", 6),
        ("v26.3.3", RHEL, COMPILED, "580.126.20-rhel9.6", 10),
        ("v26.7.0", RHEL, COMPILED, "580.126.20-rhel9", 10),
    ],
)
def test_a_tag_is_known_or_unknown(check, mode, release, system, driver, tag, line):
    pools = {"a": (system, driver)}

    assert check(pools, images(**{NVIDIA: [tag]}), release, mode)[0] == []
    assert check(pools, images(**{NVIDIA: ["other"]}), release, mode)[0] == [unknown("a", line, f"{NVIDIA}:{tag}")]
    assert check(pools, images(), release, mode)[0] == [unknown("a", line, f"{NVIDIA}:{tag}", "repository")]


def test_modules_beside_the_driver_have_images_of_their_own(check):
    known = images(**{NVIDIA: ["580.126.20-ubuntu22.04"], "nvcr.io/nvidia/cloud-native/nvidia-fs": ["x"]})

    assert check({"a": (UBUNTU, WITH_STORAGE)}, known)[0] == [
        unknown("a", 10, "nvcr.io/nvidia/cloud-native/nvidia-fs:2.27.3-ubuntu22.04"),
        unknown("a", 10, "nvcr.io/nvidia/cloud-native/gdrdrv:v2.5.2-ubuntu22.04", "repository"),
    ]


def test_the_image_that_counts_is_the_one_in_the_mirror(check):
    mirrored = "registry.example.com:5000/nvcr/nvidia/driver"
    mirrors = "{nvcr.io: 'registry.example.com:5000/nvcr'}"
    pools = {"a": (UBUNTU, COMPILED)}

    assert check(pools, images(**{mirrored: ["580.126.20-ubuntu22.04"]}), mirrors=mirrors)[0] == []
    assert check(pools, images(**{NVIDIA: ["580.126.20-ubuntu22.04"]}), mirrors=mirrors)[0] == [
        unknown("a", 10, f"{mirrored}:580.126.20-ubuntu22.04", "repository")
    ]


def test_without_a_list_a_run_says_that_nobody_looked(check):
    found, result = check({"a": (UBUNTU, COMPILED), "b": (UBUNTU, "{source: preinstalled}"), "c": (RHEL, COMPILED)})
    skipped = [item for item in result.report["summary"]["skippedReasons"] if item["what"].startswith("driver image")]

    assert found == []
    assert skipped == [{"what": "driver image tags of 2 pools", "reason": f"no list: there is no {LIST}"}]


def test_a_list_changes_nothing_that_is_generated(check, tmp_path, contents):
    check({"a": (UBUNTU, COMPILED)})
    before = contents(tmp_path / "output")
    check({"a": (UBUNTU, COMPILED)}, images(**{NVIDIA: ["x"]}))

    assert contents(tmp_path / "output") == before


BAD = {
    "another kind": (HEAD.replace("DriverImageList", "DriverImages") + "spec: {images: []}\n", "unknown-kind", 2),
    "no images": (HEAD + "spec: {}\n", "missing-field", 4),
    "an unknown field": (HEAD + "spec: {images: [], image: []}\n", "unknown-field", 4),
    "a tag in the repository": (images(**{f"{NVIDIA}:580": ["x"]}), "invalid-name", 6),
    "a repository twice": (
        HEAD
        + f"spec:\n  images:\n    - {{repository: {NVIDIA}, tags: []}}\n    - {{repository: {NVIDIA}, tags: []}}\n",
        "duplicate-item",
        7,
    ),
    "a tag twice": (images(**{NVIDIA: ["a", "a"]}), "duplicate-item", 7),
    "a tag that is a number": (images(**{NVIDIA: ["580.10"]}), "ambiguous-scalar", 7),
    "no text": ("", "empty-document", None),
}


@pytest.mark.parametrize("name", BAD)
def test_mistakes_in_the_list_are_told_at_their_lines(check, name):
    text, rule, line = BAD[name]
    _, result = check({"a": (UBUNTU, COMPILED)}, text)
    found = [(item["name"], item["primary"]["line"]) for item in result.diagnostics if item["primary"]["path"] == LIST]

    assert result.code == 1
    assert len(found) == 1
    assert found == [(rule, line)]


def test_beside_the_list_no_file_is_expected(write_files, run_cli):
    root = write_files({LIST.replace(".yaml", ".yml"): textwrap.dedent(images()), "profiles/images.yaml": images()})
    found = run_cli(["check", "--root", root, "--format", "json"]).diagnostics

    assert [item["name"] for item in found] == ["misplaced-file"] * 2
