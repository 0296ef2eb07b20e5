"""Everything that the sample fleet delivers, and all that is predicted to follow, is taken by a real API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from control_plane.delivered import apply_twice, steps

ROOT = Path(__file__).resolve().parents[2]
FIRST = "edge"
CLUSTERS = sorted((ROOT / "output/clusters").iterdir())


@pytest.mark.tool("kustomize")
@pytest.mark.every_run("the first proof of all: what is committed can be applied")
@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(
            folder,
            id=folder.name,
            marks=() if folder.name == FIRST else pytest.mark.real("the same of another cluster"),
        )
        for folder in CLUSTERS
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
