"""Whatever is generated from random profiles, a real API server takes it: strictly, and twice without a difference."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings

from control_plane.delivered import apply_twice, remove, steps
from poolsmith.app.generate import generate
from property.unlike_pools import fleets

CLUSTERS_OF_A_RELEASE = 40 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 7
SEED = 20261122


def drawn(folder: Path, release: str) -> list[Path]:
    """The folders of generated clusters; random profiles that are refused are left out."""
    found: list[Path] = []

    @seed(SEED)
    @settings(
        max_examples=CLUSTERS_OF_A_RELEASE * 8,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(files=fleets.projects((release,)))
    def draw(files):
        if len(found) >= CLUSTERS_OF_A_RELEASE:
            return
        root = folder / str(len(found))
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(yaml.dump(data, Dumper=yaml.CSafeDumper))
        if generate(root).written:
            found.extend(sorted((root / "output/clusters").iterdir()))
        else:
            _forget(root)

    draw()
    return found


def _forget(root: Path) -> None:
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


@pytest.mark.tool("kustomize")
@pytest.mark.parametrize("release", fleets.RELEASES)
def test_a_random_cluster_is_applied_twice_strictly(control_plane, tmp_path, release):
    server = control_plane.scenario()
    client, refused, changed, altered, taken = server.client(), [], [], [], []
    try:
        for folder in drawn(tmp_path, release):
            found = steps(folder)
            applied = apply_twice(client, found)
            remove(client, found)
            place = folder.relative_to(tmp_path).as_posix()
            refused += [f"{place}: {text}" for text in applied.refused]
            changed += [f"{place}: {text}" for text in applied.changed]
            altered += [f"{place}: {text}" for text in applied.altered]
            taken.append(applied.taken)
    finally:
        server.end()

    assert (refused, changed, altered) == ([], [], [])
    assert len(taken) >= CLUSTERS_OF_A_RELEASE
    assert min(taken) > 20
