"""The list of known driver images: a repository in it is known as a whole, of others nothing is known."""

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
    """A repository that the list has is known as a whole."""
    what = f"`{image}` is not in the registry, as {LIST} has it"
    if lacks == "repository":
        what = f"whether `{image}` exists is unknown: {LIST} lacks the repository"
    return f"profiles/prod/{pool}.yaml:{line} {what}"


NVIDIA = "nvcr.io/nvidia/driver"


@pytest.mark.rows(3, "a row takes 0.22 s; each value of each column is seen first")
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


LISTINGS = {
    "skopeo list-tags": '{"Repository": "r.example.com/nvidia/driver", "Tags": ["580.126.20-ubuntu22.04", "latest"]}',
    "crane ls": "580.126.20-ubuntu22.04\nlatest\n",
    "crane ls --full-ref": "r.example.com/nvidia/driver:580.126.20-ubuntu22.04\nr.example.com/nvidia/driver:latest\n",
    "oras repo tags": "580.126.20-ubuntu22.04\nlatest\n",
    "oras repo tags --format json": '{"tags": ["580.126.20-ubuntu22.04", "latest"]}',
    "a registry": '{"name": "nvidia/driver", "tags": ["latest", "580.126.20-ubuntu22.04"]}',
}
HERE = "r.example.com/nvidia/driver"


@pytest.fixture
def imported(write_files, run_cli):
    """What an import says, and the list that it leaves."""

    def run(listing, *flags, **files):
        root = write_files({"profiles/prod/cluster.yaml": CLUSTER, "listing": listing, **files})
        result = run_cli(["images", "--root", root, "--import", root / "listing", *flags])
        file = root / LIST
        return result, file.read_text() if file.exists() else None

    return run


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_of_any_tool_becomes_a_list(imported, name):
    result, text = imported(LISTINGS[name], "--repository", HERE)

    assert result.code == 0
    assert f"- repository: {HERE}\n" in text
    assert '- "580.126.20-ubuntu22.04"\n' in text
    assert "latest" not in text


def test_a_listing_takes_the_place_of_the_tags_of_its_repository(imported):
    known = "# ours\n" + images(**{HERE: ["570.1-ubuntu22.04"], NVIDIA: ["a"]})
    result, text = imported(LISTINGS["skopeo list-tags"], **{LIST: known})

    assert text.startswith("# ours\napiVersion")
    assert "570.1" not in text
    assert f"repository: {NVIDIA}" in text
    assert "gone: `570.1-ubuntu22.04`" in result.err
    assert imported(LISTINGS["skopeo list-tags"], **{LIST: text})[1] == text


@pytest.mark.parametrize(
    ("listing", "flags", "says"),
    [
        (LISTINGS["crane ls"], [], "--repository"),
        (LISTINGS["a registry"], [], "no repository with a registry's host"),
        (LISTINGS["skopeo list-tags"], ["--repository", "other.example.com/x/y"], "has tags of"),
        ('{"Tags": 3}', ["--repository", HERE], "without a list of tags"),
        ('{"Tags": [[]]}', ["--repository", HERE], "without a list of tags"),
        ("[" * 100_000, ["--repository", HERE], "is none"),
        ("latest\n", ["--repository", HERE], "no tag of a driver image"),
        ("a/b:1-x1\nc/d:1-x1\n", [], "several repositories"),
        ("1-x1\n" * 20_001, ["--repository", HERE], "more than 20,000"),
        ("\x1b[31m1-x1", ["--repository", "a b"], "no repository"),
    ],
)
def test_a_listing_that_can_not_be_used_changes_nothing(imported, listing, flags, says):
    result, text = imported(listing, *flags)

    assert result.code == 2
    assert says in result.err
    assert "Traceback" not in result.err
    assert text is None
