"""What all tests share: hypothesis profiles, small trees of files, golden trees, real tools and recorded facts."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from support.recordings import as_yaml, recording

pytest_plugins = [
    "support.circles",
    "support.clusters",
    "support.control_plane",
    "support.near_run",
    "support.unproved",
]


os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Tests start hundreds of processes, and where it is set each of them compiles all that it imports."""
os.environ["POOLSMITH_CACHE_DIR"] = ""
"""No store of results, unless a test asks for one."""
if os.environ.pop("CI", ""):
    os.environ["TESTS_RUN_IN_CI"] = "true"
"""A pipeline's variable steers what is judged: a test that is about it sets it; who guards expectations asks this one."""
REPOSITORY = Path(__file__).resolve().parent.parent
_IN_MEMORY, _ROOM = "/dev/shm", 2 << 30


def _runs_programs(folder):
    return not os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0)


if os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > _ROOM and _runs_programs(_IN_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _IN_MEMORY)
"""Folders of tests are made and removed by the ten thousand: a tenth of a run's processor time on a disk. The room is
what a run takes, several times."""
_RARELY = (100_000, 20, 50)
"""New objects between two searches for cycles. Tests read documents all day, which have none, beside all the tests and
what is cached; searching was an eighth of the processor time."""
_FOUR = ("edge", "edge-talos", "manual", "prod-eu")
_STEERS_REPORTS = frozenset(("GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR"))


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/*/expected anew; never in CI")


def pytest_configure(config):
    if config.getoption("--update-golden") and os.environ.get("TESTS_RUN_IN_CI"):
        raise pytest.UsageError("--update-golden is refused where CI is set: expectations are changed by people")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's job in the background: what it starts inherits it
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    gc.set_threshold(*_RARELY)
    gc.freeze()


def pytest_runtest_setup(item):
    for mark in item.iter_markers("tool"):
        if shutil.which(mark.args[0]) is None:
            pytest.skip(f"the tool `{mark.args[0]}` is not on PATH")


@pytest.fixture(scope="session")
def repository():
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def upstream(tmp_path_factory):
    """Write the published files below a folder of another project, restated as data: no comments, no descriptions."""
    root = tmp_path_factory.mktemp("upstream")

    @cache
    def write(folder):
        files = recording("gpu_operator" if folder.startswith("gpu-operator") else "neighbours")
        for path in files.below(folder) if folder else ():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(as_yaml(files[path]), "utf-8")
        return root / folder

    return write


@pytest.fixture(scope="session")
def checkouts():
    """The folder of other projects' checkouts that a variable of the environment names."""

    def find(variable):
        if not (folder := os.environ.get(variable)):
            pytest.skip(f"{variable} names no folder of checkouts")
        return Path(folder)

    return find


@pytest.fixture
def write_files(tmp_path):
    """Write texts (dedented) by their relative paths; the folder that holds them."""

    def write(files):
        for path, text in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(textwrap.dedent(text).encode())
        return tmp_path

    return write


@dataclass(frozen=True)
class CliResult:
    """What a run of poolsmith came to."""

    code: int
    out: str
    err: str

    @property
    def report(self):
        return json.loads(self.out)

    @property
    def diagnostics(self):
        return self.report["diagnostics"]


@pytest.fixture
def run_cli(capsys, monkeypatch):
    """Run poolsmith in this process, into pipes and outside of GitHub Actions.

    For more than a few clusters pass `--jobs 1`: a process with the threads of a test runner must not fork.
    """
    for name in _STEERS_REPORTS:
        monkeypatch.delenv(name, raising=False)

    def run(args, cwd=None):
        from poolsmith.interface.cli.main import _run

        capsys.readouterr()
        with contextlib.chdir(cwd or "."):
            code = _run([str(argument) for argument in args])
        captured = capsys.readouterr()
        return CliResult(int(code), captured.out, captured.err)

    return run


@pytest.fixture
def start_cli():
    """Start poolsmith as a process of its own, in a group of its own; what still runs is killed."""
    started = []

    def start(args, **options):
        environment = {name: value for name, value in os.environ.items() if name not in _STEERS_REPORTS}
        environment |= {"PYTHONPATH": str(REPOSITORY / "generator"), **options.pop("env", {})}
        process = subprocess.Popen(
            [sys.executable, "-m", "poolsmith", *map(str, args)],
            env=environment,
            start_new_session=True,
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=options.pop("stderr", subprocess.PIPE),
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in filter(None, (process.stdout, process.stderr)):
            stream.close()


def _sample(root, clusters, folders):
    """Folders of this repository's sample fleet, cut down to some clusters; all of them without any."""
    for folder in folders:
        shutil.copytree(REPOSITORY / folder, root / folder)
    for folder in ("profiles", "output/clusters") if clusters else ():
        for path in (root / folder).glob("[!_.]*"):
            if path.is_dir() and path.name not in clusters:
                shutil.rmtree(path)
    return root


@pytest.fixture
def sample_project(request, tmp_path):
    """A copy of profiles that this repository shows, without output: of four clusters that have little in common, of
    those that the marker `sample` names, or of all where it names none."""
    mark = request.node.get_closest_marker("sample")
    return _sample(tmp_path / "sample", mark.args if mark else _FOUR, ("profiles",))


@pytest.fixture
def synthetic_fleet(tmp_path):
    """Make a project of many sound clusters; the folder that holds it."""

    def make(clusters, pools, *, root=tmp_path / "fleet", release="v26.3.3", backwards=False):
        files = {}
        for number in range(clusters):
            folder = root / "profiles" / f"c{number:03}"
            files[folder / "cluster.yaml"] = _CLUSTER.format(name=folder.name, release=release)
            for pool in range(pools):
                files[folder / f"pool-{pool}.yaml"] = _POOL.format(name=f"pool-{pool}")
        for path in sorted(files, reverse=backwards):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path])
        return root

    return make


@pytest.fixture
def contents():
    """Everything below a folder by its relative path: bytes, the target of a link, or None for the rest."""

    def read(folder):
        found = {}
        for path in sorted(folder.rglob("*")):
            shown = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[shown] = f"-> {path.readlink()}"
            elif path.is_file():
                found[shown] = path.read_bytes()
            elif not path.is_dir():
                found[shown] = None
        return found

    return read


_CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata:
  name: {name}
spec:
  kubernetes:
    version: "1.34"
    distribution: kubeadm
  stack:
    release: {release}
    driverMode: nvidia-driver
  poolLabel: example.com/gpu-pool
  delivery:
    engine: argocd
    repoURL: https://git.example.com/gpu.git
    destination:
      name: {name}
"""

_POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: {name}
spec:
  os:
    id: ubuntu
    version: "24.04"
  kernel:
    release: 6.8.0-60-generic
  runtime:
    name: containerd
    version: "1.7.30"
  gpu:
    product: NVIDIA-L4
    count: 8
  driver:
    version: 580.126.20
    upgradePolicy: {{}}
    source: container
"""
