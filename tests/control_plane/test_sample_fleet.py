"""Everything that the sample fleet delivers, and all that is predicted to follow, is taken by a real API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from control_plane.delivered import apply_twice, steps

ROOT = Path(__file__).resolve().parents[2]
FIRST = "edge"
UNLIKE = ("claims", "kata-l40s", "machines", "prod-eu")
"""Each has kinds of objects that none of the others has."""


def circle(name):
    """The first one in every run, with the real tools those that are least alike, the rest each night."""
    if name == FIRST:
        return ()
    if name in UNLIKE:
        return pytest.mark.real("the same of another cluster")
    return pytest.mark.deep("the same of a cluster that is like others")


@pytest.mark.tool("kustomize")
@pytest.mark.every_run("the first proof of all: what is committed can be applied")
@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(folder, id=folder.name, marks=circle(folder.name))
        for folder in sorted((ROOT / "output/clusters").iterdir())
    ],
)
def test_each_unit_of_a_cluster_is_applied_twice_strictly(control_plane, folder):
    server = control_plane.scenario()
    try:
        found = apply_twice(server.client(), steps(folder))
    finally:
        server.end()

    assert (found.refused, found.changed, found.altered) == ([], [], [])
    assert found.taken > 25
