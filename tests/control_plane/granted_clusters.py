"""Random clusters with the grants that poolsmith writes for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings

from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.grants import missing_grants
from property.unlike_pools import fleets
from support.circles import DEEP

CLUSTERS_OF_A_RELEASE = 40 if DEEP else 3
_SEED = 20261123


def granted_clusters(folder: Path, release: str) -> list[Path]:
    """The folders of generated clusters; random profiles that are refused are left out."""
    found: list[Path] = []

    @seed(_SEED)
    @settings(
        max_examples=CLUSTERS_OF_A_RELEASE * 8,
        deadline=None,
        database=None,
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
        if not missing_grants(root, write=True).failed and generate(root).written:
            found.extend(sorted((root / "output/clusters").iterdir()))
        else:
            shutil.rmtree(root)

    draw()
    return found
