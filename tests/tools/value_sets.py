"""Ask Helm what the operator's chart makes of random sets of values at each release, and record a hash of each object.

    (cd tests/oracle/charts && go build -o /tmp/chart-oracle .)
    PYTHONPATH=generator:tests python tests/tools/value_sets.py CHARTS /tmp/chart-oracle

`CHARTS` holds the charts as `<tag>/gpu-operator`. `tests/recorded/README.md` says what is in the recording.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.recordings import DATA, ENDING, packed
from support.value_sets import RELEASES, for_release, served, value_set
from support.whole_charts import NAMESPACE, by_key, digest

NAME = "value_sets"
SETS = 30


def main(charts: str, oracle: str) -> None:
    drawn = {f"values/{seed:02}": value_set(seed) for seed in range(SETS)}
    questions: list[dict[str, Any]] = [
        {
            "id": f"{release}/{seed:02}",
            "chart": str(Path(charts) / release / "gpu-operator"),
            "release": "gpu-operator",
            "namespace": NAMESPACE,
            "version": release,
            "apis": list(served(seed)),
            "values": for_release(drawn[f"values/{seed:02}"], release, served(seed)),
        }
        for release in RELEASES
        for seed in range(SETS)
    ]
    text = "".join(f"{json.dumps(question)}\n" for question in questions)
    run = subprocess.run([oracle], input=text, capture_output=True, text=True, check=True)
    recorded: dict[str, Any] = dict(drawn)
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(f"{answer['id']}: {answer['error']}")
        recorded[answer["id"]] = {key: digest(body) for key, body in sorted(by_key(answer["objects"]).items())}
    path = DATA / f"{NAME}{ENDING}"
    path.write_bytes(packed(recorded))
    objects = sum(len(recorded[question["id"]]) for question in questions)
    print(f"{path.name}: {len(questions)} renderings, {objects} objects, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
