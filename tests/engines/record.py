"""Record what the real Flux and Argo CD do in each scenario.

    PYTHONPATH=generator:tests python -m engines.record [SCENARIO or PAIR ...]

It needs `make tools` and `make engines`; POOLSMITH_CHARTS gives the operator's published charts, without which a
miniature of the same objects stands for them. Into `tests/recorded/data/engine_runs.jsonl.xz` goes what was seen of each
scenario, in place of what stood there; of random pairs into `engine_pairs.jsonl.xz`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

from engines.pairs import PAIRS
from engines.programs import VERSIONS
from engines.scenarios import BY_NAME, Scenario
from engines.world import World
from support.control_plane import ControlPlane, started
from support.recordings import DATA, ENDING, packed, recording

NAME, PAIRS_NAME = "engine_runs", "engine_pairs"
BY_PAIR = {item.name: item.scenario for item in PAIRS}
_CHART = "NVIDIA/gpu-operator, as published"
_MINIATURE = "a miniature of it"


def record_of(plane: ControlPlane, scenario: Scenario, folder: Path) -> dict[str, Any]:
    """What was seen of a scenario, in a world of its own."""
    folder.mkdir()
    world = World(plane, folder, scenario.engines or (scenario.engine,))
    try:
        steps = [item.as_json() for item in scenario.run(world)]
    finally:
        world.end()
    engines = [VERSIONS[name] for name in scenario.engines or (scenario.engine,)]
    chart = _CHART if os.environ.get("POOLSMITH_CHARTS") else _MINIATURE
    return {"engines": engines, "chart": chart, "steps": steps}


def main(names: list[str]) -> None:
    known = BY_NAME | BY_PAIR
    chosen = [known[name] for name in names] or list(known.values())
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as plane:
        for number, scenario in enumerate(chosen):
            begun = monotonic()
            try:
                _keep(scenario.name, record_of(plane, scenario, Path(folder) / f"world-{number}"))
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                print(f"{scenario.name}: {error!r:.2000}", flush=True)
            print(f"{scenario.name}: {monotonic() - begun:.0f} s", flush=True)


def _keep(name: str, found: dict[str, Any]) -> None:
    file, there = (NAME, BY_NAME) if name in BY_NAME else (PAIRS_NAME, BY_PAIR)
    path = DATA / f"{file}{ENDING}"
    recording.cache_clear()
    held = dict(recording(file).items()) if path.exists() else {}
    known = {key: value for key, value in held.items() if key in there}
    path.write_bytes(packed(known | {name: found}))


if __name__ == "__main__":
    main(sys.argv[1:])
