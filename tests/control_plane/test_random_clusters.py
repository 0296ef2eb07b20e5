"""Whatever is generated from random profiles, a real API server takes it: strictly, and twice without a difference."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from control_plane.delivered import apply_twice, remove, steps
from poolsmith.interface.app.generate import generate
from property.unlike_pools import any_values, fleets
from support.circles import DEEP, share
from support.control_plane import Scenario

pytestmark = pytest.mark.real("an API server, asked many times")

CLUSTERS_OF_A_RELEASE = 40 if DEEP else 2
SEED = 20261122


class _EnoughError(Exception):
    """Ends a run of Hypothesis."""


def drawn(folder: Path, projects: SearchStrategy, wanted: int) -> list[Path]:
    """The folders of generated clusters; random profiles that are refused are left out, however many they are.

    What Hypothesis draws depends on the modules that other tests loaded, so a seed alone promises no number.
    """
    found: list[Path] = []

    @seed(SEED)
    @settings(
        max_examples=wanted * 200,
        report_multiple_bugs=False,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(files=projects)
    def draw(files):
        if len(found) >= wanted:
            raise _EnoughError
        root = folder / str(len(found))
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(yaml.dump(data, Dumper=yaml.CSafeDumper))
        if generate(root).written:
            found.extend(sorted((root / "output/clusters").iterdir()))
        else:
            _forget(root)

    with suppress(_EnoughError):
        draw()
    return found


def _forget(root: Path) -> None:
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def applied(server: Scenario, folders: list[Path]) -> tuple[list[str], ...]:
    """Each cluster on its own, one after the other: what was refused, what changed, what is held otherwise."""
    client, told, counts = server.client(), ([], [], []), []
    for folder in folders:
        found = steps(folder)
        outcome = apply_twice(client, found)
        remove(client, found)
        place = "/".join(folder.parts[-4:])
        for texts, more in zip(told, (outcome.refused, outcome.changed, outcome.altered), strict=True):
            texts += [f"{place}: {text}" for text in more]
        counts.append(outcome.taken)
    assert min(counts) > 20
    return told


@pytest.mark.tool("kustomize")
@pytest.mark.parametrize("release", share(fleets.RELEASES, 2))
@pytest.mark.parametrize(
    ("projects", "wanted"),
    [(fleets.projects, CLUSTERS_OF_A_RELEASE), (any_values.projects, CLUSTERS_OF_A_RELEASE // 2)],
    ids=["plausible", "any values"],
)
def test_a_random_cluster_is_applied_twice_strictly(control_plane, tmp_path, release, projects, wanted):
    folders = drawn(tmp_path, projects((release,)), wanted)
    server = control_plane.scenario()
    try:
        told = applied(server, folders)
    finally:
        server.end()

    assert told == ([], [], [])
    assert len(folders) >= wanted
