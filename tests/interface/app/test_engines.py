"""Processes and the workers of a Dask cluster make the same bytes and findings; who is lost is replaced, or told."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="not proved here: Dask (the extra `dask`)")

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.diagnostic import WorkersLostError
from poolsmith.core.sources.output_tree import recover
from poolsmith.interface.app.dask_workers import DaskWorkers, Task, seen, work_on
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.run import compare_clusters
from poolsmith.project.run.project import Project
from support.dask_cluster import DaskCluster

ROOT = Path(__file__).resolve().parents[3]
SEVERAL = 20
MANY = 80
"""More than is worked on between the first staged folder and a signal."""


@pytest.fixture
def dask(tmp_path):
    """Starts clusters of so many workers."""
    started = []

    def start(workers):
        folder = tmp_path / f"dask-{len(started)}"
        folder.mkdir()
        started.append(DaskCluster(folder, workers))
        return started[-1]

    yield start
    for cluster in started:
        cluster.end()


def sample(folder):
    """Three clusters of the sample fleet that have little in common."""
    for name in ("profiles", "policies", "output"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("profiles", "output/clusters"):
        for path in (folder / name).glob("[!_.]*"):
            if path.is_dir() and path.name not in ("edge", "manual", "prod-eu"):
                shutil.rmtree(path)
    return folder


def finished(process):
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.real("processes and a Dask cluster")
def test_each_makes_the_bytes_and_findings_of_one_process(tmp_path, start_cli, contents, dask):
    cluster = dask(2)
    root = sample(tmp_path / "fleet")
    policy = next((root / "output/clusters/prod-eu").rglob("*.yaml"))
    policy.write_text(policy.read_text() + "# edited\n")
    told, trees = [], []
    for flags in (["--jobs", "1"], ["--jobs", "2"], ["--scheduler", cluster.address]):
        line = ["--root", root, "--no-cache", *flags, "--format", "json"]
        code, out, err = finished(start_cli(["check", *line, "--today", "2026-11-22"]))
        written = tmp_path / f"output-{len(trees)}"
        written.mkdir()
        made = finished(start_cli(["generate", *line, "--output-root", written]))
        told.append((code, json.loads(out)["diagnostics"], err, made[0], json.loads(made[1])["diagnostics"], made[2]))
        trees.append(contents(written))

    assert told[0] == told[1] == told[2]
    assert trees[0] == trees[1] == trees[2]
    assert told[0][0] == 1
    assert [item["code"] for item in told[0][1]].count("PSM502") == 1
    assert len(trees[0]) > 60


@pytest.mark.deep("five processes of Dask; that a lost worker is told stays")
def test_four_workers_with_one_killed_make_the_same_bytes(tmp_path, synthetic_fleet, start_cli, contents, dask):
    cluster = dask(4)
    alone, shared = (synthetic_fleet(SEVERAL, 4, root=tmp_path / name) for name in ("alone", "shared"))
    assert finished(start_cli(["generate", "--root", alone, "--jobs", "1"]))[0] == 0
    process = start_cli(["generate", "--root", shared, "--scheduler", cluster.address])
    wait_for_a_stage(shared, process)
    cluster.workers[0].kill()

    assert finished(process)[0::2] == (0, b"")
    assert contents(shared / "output") == contents(alone / "output")


@pytest.mark.deep("a scheduler, workers and 80 clusters")
def test_a_scheduler_that_is_lost_is_one_error_and_nothing_is_written(
    tmp_path, synthetic_fleet, start_cli, contents, dask
):
    cluster = dask(2)
    root = synthetic_fleet(MANY, 4, root=tmp_path / "fleet")
    assert finished(start_cli(["generate", "--root", root, "--jobs", "1"]))[0] == 0
    before = contents(root)
    edit_all(root)
    process = start_cli(["generate", "--root", root, "--scheduler", cluster.address])
    wait_for_a_stage(root, process)
    cluster.scheduler.kill()
    code, out, err = finished(process)

    assert (code, out) == (1, b"")
    assert err.decode().startswith(f"poolsmith: the scheduler at {cluster.address} was lost")
    assert len(err.splitlines()) == 1
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    recover(root / "output/clusters")  # what a worker wrote after the end
    assert contents(root / "output") == {
        path.removeprefix("output/"): content for path, content in before.items() if path.startswith("output/")
    }


def test_a_scheduler_that_says_nothing_is_given_up(tmp_path, synthetic_fleet, dask):
    cluster = dask(1)
    root = synthetic_fleet(SEVERAL, 1, root=tmp_path / "fleet")
    workers = DaskWorkers(address=cluster.address, seconds=2)
    with workers.start(partial(compare_clusters, Project(root)), (root,)) as crew:
        cluster.scheduler.send_signal(signal.SIGSTOP)
        with pytest.raises(WorkersLostError, match="was lost"):
            crew.is_there()


@pytest.mark.deep("a scheduler, workers and 80 clusters")
def test_an_interrupt_ends_a_run_on_workers(tmp_path, synthetic_fleet, start_cli, dask):
    cluster = dask(1)
    root = synthetic_fleet(MANY, 4, root=tmp_path / "fleet")
    process = start_cli(["generate", "--root", root, "--scheduler", cluster.address])
    wait_for_a_stage(root, process)
    process.send_signal(signal.SIGINT)
    code, _, err = finished(process)

    assert code == 130
    assert b"Traceback" not in err
    assert not [path for path in (root / "output/clusters").glob("*") if not path.name.startswith(".")]


def test_a_cluster_without_workers_and_an_address_of_nobody_are_told(tmp_path, synthetic_fleet, dask):
    cluster = dask(0)
    root = synthetic_fleet(2, 1, root=tmp_path / "fleet")
    with pytest.raises(WorkersLostError, match="has no workers"):
        generate(root, jobs=DaskWorkers(address=cluster.address, seconds=1))
    with pytest.raises(WorkersLostError, match="can't be reached"):
        generate(root, jobs=DaskWorkers(address="tcp://127.0.0.1:9", seconds=1))
    for address in ("nonsense", "tcp://", "http://127.0.0.1:9", "tcp://127.0.0.1:port", "\x1b[31m:1", ""):
        with pytest.raises((UsageError, WorkersLostError)) as told:
            generate(root, jobs=DaskWorkers(address=address, seconds=1))
        assert "\x1b" not in str(told.value)


def a_task(root, **others):
    folders = (root, root / "profiles")
    work = partial(compare_clusters, Project(root))
    from pickle import dumps

    from poolsmith.core.facts.packs import NO_PACKS

    return Task(
        number=os.urandom(8), work=dumps((work, NO_PACKS)), folders=folders, seen=replace(seen(folders), **others)
    )


def test_a_worker_that_sees_other_things_is_refused(tmp_path, synthetic_fleet):
    root = synthetic_fleet(2, 1, root=tmp_path / "fleet")
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    batch = Project(root).fleet.clusters

    assert [item.name for item in work_on(a_task(root), batch)] == [item.name for item in batch]
    for others, says in (
        ({"folders": seen((copy, copy / "profiles")).folders}, "another folder there"),
        ({"shared": "0"}, "other files there"),
        ({"poolsmith": "0.0.1"}, "it has poolsmith"),
        ({"python": "2.7"}, "it has Python"),
        ({"catalog": "sha256:0"}, "it has a catalog"),
    ):
        with pytest.raises(UsageError, match=says):
            work_on(a_task(root, **others), batch)
    of_a_cloned_disk = a_task(root)
    (root / "policies").mkdir(exist_ok=True)
    (root / "policies/rules.yaml").write_text("")
    with pytest.raises(UsageError, match="other files there"):
        work_on(of_a_cloned_disk, batch)
    gone = a_task(root)
    shutil.rmtree(root / "profiles")
    with pytest.raises(UsageError, match="profiles is not there"):
        work_on(gone, batch)


def test_without_dask_one_line_says_how_to_get_it(tmp_path, synthetic_fleet):
    root = synthetic_fleet(2, 1, root=tmp_path / "fleet")
    program = (
        "import sys; sys.modules['distributed'] = None; sys.argv[1:] = "
        f"['check', '--root', {str(root)!r}, '--scheduler', 'tcp://127.0.0.1:9']; import runpy; "
        "runpy.run_module('poolsmith', run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    found = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )

    assert found.returncode == 2
    assert found.stderr == (
        "poolsmith: --scheduler needs Dask, which is not installed: "
        "`pip install --require-hashes -r requirements-dask.lock`\n"
    )


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--jobs", "2"], "take one"),
        (["profiles"], "--scheduler is for the clusters of the project"),
    ],
)
def test_flags_that_go_against_each_other_are_refused(run_cli, flags, says):
    found = run_cli(["check", "--root", ROOT, "--scheduler", "tcp://127.0.0.1:9", *flags], cwd=ROOT)

    assert found.code == 2
    assert says in found.err


def edit_all(root):
    for path in root.glob("profiles/*/cluster.yaml"):
        path.write_text(path.read_text().replace("v26.3.3", "v26.7.0"))


def wait_for_a_stage(root, process):
    until = time.monotonic() + 60
    while not list((root / "output/clusters").glob(".poolsmith-stage-*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
