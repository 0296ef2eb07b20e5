"""Record what the operator's own binary of a release makes of scenarios, in the form of `operator_runs`.

    PYTHONPATH=generator:tests python -m oracle.operator.record TAG [--like TAG] [SCENARIO ...]

`--like` is a recorded release whose scenarios are run anew for this one; those of `more_scenarios.py` come on top, and the sample clusters of the release. What
was recorded is put into `tests/recorded/data/operator_binaries.jsonl.xz`, in place of what stood there for the same
release and scenario. README.md says what is needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

from fleet.operands.oracle import recorded_form
from oracle.operator.more_scenarios import scenarios
from oracle.operator.samples import PREFIX, sample_clusters, sample_inputs
from oracle.operator.scenario import RefusedError, Stage
from support import control_plane
from support.recordings import DATA, ENDING, packed, recording

NAME = "operator_binaries"


def recorded(stage: Stage, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """One recording; `chartError` where Helm renders nothing."""
    found = {"tag": stage.tag, "scenario": name, "inputs": inputs}
    try:
        expansion, stored = stage.run(inputs)
    except RefusedError as error:
        return {**found, "result": {"chartError": str(error).splitlines()[-1]}}
    result = recorded_form(expansion, inputs)
    result["appliedCRs"] = [
        {
            "kind": item["kind"],
            "name": item["metadata"]["name"],
            "uid": item["metadata"]["uid"],
            "spec": item.get("spec"),
            "pruned": [],
            "schemaViolations": [],
        }
        for item in stored
    ]
    return {**found, "result": result}


def inputs_like(tag: str) -> dict[str, Any]:
    """The inputs of all scenarios of a recorded release, by name."""
    runs = recording("operator_runs")
    return {key.partition("/")[2]: runs[key]["inputs"] for key in runs.below(tag)}


def keep(values: dict[str, Any]) -> int:
    """Put recordings into the file, by `release/scenario`; its size."""
    path = DATA / f"{NAME}{ENDING}"
    held = dict(recording(NAME)) if path.exists() else {}
    path.write_bytes(packed({**held, **values}))
    return path.stat().st_size


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tag")
    parser.add_argument("--like")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args(words)
    inputs = inputs_like(arguments.like) if arguments.like else {}
    inputs |= scenarios()
    inputs |= {
        f"{PREFIX}{name}": sample_inputs(name) for name, tag in sample_clusters().items() if tag == arguments.tag
    }
    wanted = arguments.names or sorted(inputs)
    chart = Path(os.environ["POOLSMITH_CHARTS"]) / arguments.tag / "gpu-operator"
    helm = shutil.which("helm")
    assert helm, "the real helm is needed on PATH"
    found = {}
    with tempfile.TemporaryDirectory() as folder, control_plane.started(Path(folder)) as plane:
        stage = Stage(plane.scenario(), arguments.tag, chart, helm)
        for name in wanted:
            begun = monotonic()
            found[f"{arguments.tag}/{name}"] = value = recorded(stage, name, inputs[name])
            count = len(value["result"].get("workloads", ()))
            print(f"{arguments.tag}/{name}: {count} workloads, {monotonic() - begun:.0f} s", flush=True)
    print(f"{NAME}: {keep(found):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
