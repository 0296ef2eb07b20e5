"""The operand entries are what the importer makes of the operator's repository, and a later release needs data only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zlib

import pytest

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import version_key
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.kubernetes.schema.schemas import SchemaPack, read_pack
from tools.import_operands import import_operands

TAGS = sorted(operand_releases(), key=version_key)
KINDS = ("operands", "nvidia_driver", "gpu_cluster", "crds")
NEWEST = TAGS[-1]
LATER = f"v{version_key(NEWEST)[0]}.99.0"
REAL = {
    "operands": "assets",
    "golden-driver": "internal/state/testdata/golden",
    "crds": "deployments/gpu-operator/crds",
}
PACK = "schemas/gpu-operator.schemas.z"
NODES = """\
- name: gpu-1
  runtime: containerd://1.7.24
  labels:
    feature.node.kubernetes.io/pci-10de.present: "true"
    feature.node.kubernetes.io/kernel-version.full: 5.15.0-91-generic
    feature.node.kubernetes.io/system-os_release.ID: ubuntu
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "22.04"
"""
POLICY = """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: cluster-policy}
spec:
  operator: {defaultRuntime: containerd}
  daemonsets: {}
  driver: {useNvidiaDriverCRD: true}
  toolkit: {repository: a, image: b, version: c}
  devicePlugin: {repository: a, image: b, version: c}
  dcgm: {enabled: false}
  dcgmExporter: {repository: a, image: b, version: c}
  nodeStatusExporter: {enabled: false}
  gfd: {repository: a, image: b, version: c}
  validator: {repository: a, image: b, version: c}
  migManager: {enabled: false}
---
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: ubuntu, uid: d1}
spec:
  driverType: gpu
  repository: a
  image: driver
  version: 580.126.20
  manager: {repository: a, image: driver-manager, version: c}
"""
GPU_CLUSTER = """\
apiVersion: nvidia.com/v1alpha1
kind: GPUCluster
metadata: {name: gpu-cluster}
spec:
  draDriver: {repository: a, image: dra, version: c}
"""


def assert_imported(folder, tag):
    """The entries of a tag, the pack of definitions, and the tables kept by hand are complete."""
    made = import_operands(folder, tag)

    assert (made.errors, made.diagnostics) == ([], ())
    for kind in KINDS:
        name = f"{kind}/{tag}.json"
        assert (store.DATA / name).exists() == (name in made.files)
    assert PACK not in made.files
    for name, content in made.files.items():
        assert content.decode() == (store.DATA / name).read_text("utf-8"), name
    assert made.by_hand == []


@pytest.mark.rows(3, "one of each line of releases")
@pytest.mark.parametrize("tag", TAGS)
def test_entries_are_made_from_the_repository_at_its_tag(upstream, tag):
    assert_imported(upstream(f"gpu-operator/{tag}"), tag)


def test_entries_are_made_from_real_checkouts(checkouts):
    """POOLSMITH_OPERATOR: a folder with a checkout of the operator's repository for each tag, named by its tag."""
    folder = checkouts("POOLSMITH_OPERATOR")
    for tag in TAGS:
        assert_imported(folder / tag, tag)
        made = import_operands(folder / tag, tag).files
        assert {f"charts/gpu-operator/{tag}.json", f"projection/{tag}.json"} <= made.keys()


def test_there_is_no_entry_without_operands():
    for kind in ("nvidia_driver", "crds"):
        assert set(store.names(kind)) == set(TAGS)
    assert set(store.names("gpu_cluster")) <= set(TAGS)


UNRECORDED = {"v24.9.0": "v24.9.2", "v24.9.1": "v24.9.2", "v25.3.1": "v25.3.2", "v26.3.2": "v26.3.3"}
"""Releases at which the operator was not run, and the recorded ones whose code they have."""


@pytest.mark.parametrize("tag", sorted(UNRECORDED))
def test_code_that_was_not_run_is_that_of_a_recorded_release(checkouts, tag):
    folder = checkouts("POOLSMITH_OPERATOR")

    def code(release):
        return {
            path.relative_to(folder / release).as_posix(): path.read_bytes()
            for part in ("api", "controllers", "internal")
            for path in (folder / release / part).rglob("*.go")
            if not path.name.endswith("_test.go")
        }

    own = code(tag)
    assert own == code(UNRECORDED[tag])
    assert own


@pytest.fixture
def checkout(upstream, tmp_path):
    """The parts of the newest release where they stand in the repository, beside others."""
    folder = tmp_path / "gpu-operator"
    for part, place in REAL.items():
        shutil.copytree(upstream(f"gpu-operator/{NEWEST}") / part, folder / place)
    shutil.copy(upstream(f"gpu-operator/{NEWEST}") / "Chart.yaml", folder / "deployments/gpu-operator")
    (folder / "manifests/state-driver").mkdir(parents=True)
    (folder / "manifests/state-driver/0500_daemonset.yaml").write_text("{{ if }}")
    return folder


def test_the_places_in_the_repository_give_the_same_as_the_parts(upstream, checkout):
    assert import_operands(checkout, NEWEST).files == import_operands(upstream(f"gpu-operator/{NEWEST}"), NEWEST).files


@pytest.fixture(scope="module")
def package(repository, tmp_path_factory):
    """A copy of the package, whose data folder a test may change."""
    folder = tmp_path_factory.mktemp("later") / "generator"
    shutil.copytree(repository / "generator", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def import_tool(package, repository):
    """Run the maintainers' tool over the copy: its exit code, output and errors."""

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "tools.import_operands", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{repository / 'tests'}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def poolsmith(package, start_cli, write_files):
    """Run the copy: output and errors as texts, and the exit code."""
    files = {"nodes.yaml": NODES, "policy.yaml": POLICY, "gpu_cluster.yaml": GPU_CLUSTER}
    folder = write_files(files)

    def run(*arguments):
        process = start_cli(arguments, cwd=folder, env={"PYTHONPATH": str(package)})
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode()

    return run


@pytest.mark.deep("a copy of the package")
def test_a_later_release_is_a_change_of_data(checkout, package, poolsmith, import_tool):
    data = package / "poolsmith/data"
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    refused = poolsmith("expand", "--release", LATER, "--resources", "policy.yaml", "--nodes", "nodes.yaml")
    code, out, _ = import_tool(checkout, "--release", LATER, "--into", data)
    changed = {path for path in data.rglob("*") if path.is_file() and before.get(path) != path.read_bytes()}

    assert refused[0] == 2
    assert code == 0
    assert f"operands/overlay.yaml: nobody has read yet whether {LATER}" in out
    assert changed == {*(data / kind / f"{LATER}.json" for kind in KINDS), data / PACK}
    for file, flags in (
        ("policy.yaml", ()),
        ("gpu_cluster.yaml", ("--api-versions", "resource.k8s.io/v1/DeviceClass")),
    ):
        given = ("--resources", file, "--nodes", "nodes.yaml", *flags)
        known, later = (poolsmith("expand", "--release", tag, *given) for tag in (NEWEST, LATER))
        assert (later[0], later[2]) == (known[0], known[2]) == (0, known[2])
        assert later[1] == known[1].replace(NEWEST, LATER)
        kinds = [item["kind"] for item in read_documents(later[1])]
        assert kinds.count("DaemonSet") > 1

    pack = SchemaPack(zlib.decompress((data / PACK).read_bytes()).decode())
    assert pack.versions == (*read_pack("gpu-operator").versions, LATER)
