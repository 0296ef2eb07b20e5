"""A run that is killed leaves every folder old or new, and the next run makes good."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

SMALL, LARGE = (12, 2, 4), (100, 10, 20)


@pytest.mark.real("a dozen runs that are killed")
@pytest.mark.rows(1, "a dozen runs that are killed at moments of their own")
@pytest.mark.parametrize(
    ("clusters", "pools", "kills"),
    [
        pytest.param(*SMALL, id="small"),
        pytest.param(
            *LARGE,
            id="large",
            marks=pytest.mark.deep("the same on a fleet that takes minutes"),
        ),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_kill_leaves_no_mixture_and_the_next_run_makes_good(
    synthetic_fleet, start_cli, contents, clusters, pools, kills, jobs
):
    trees, releases = [], ("v26.3.3", "v26.7.0")
    for release in releases:
        root = synthetic_fleet(clusters, pools, release=release)
        started = time.monotonic()
        finish(start_cli, root, jobs)
        duration = time.monotonic() - started
        trees.append(folders(contents, root))
    for number in range(kills):
        synthetic_fleet(clusters, pools, release=releases[number % 2])
        process = start_cli(["generate", "--root", root, "--jobs", jobs])
        time.sleep(random.uniform(0.1, duration))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        old, new = trees[(number + 1) % 2], trees[number % 2]
        for name, found in folders(contents, root).items():
            assert found in (old[name], new[name])
        finish(start_cli, root, jobs)
        assert folders(contents, root) == new
        assert not list(root.rglob(".poolsmith-*"))


def finish(start_cli, root, jobs):
    process = start_cli(["generate", "--root", root, "--jobs", jobs])
    _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")


def folders(contents, root):
    """What each generated folder holds; what is hidden is a leftover of the killed run."""
    found = [path for path in (root / "output").glob("*/*") if path.parent.name == "clusters"]
    return {path.name: contents(path) for path in found if not path.name.startswith(".")}
