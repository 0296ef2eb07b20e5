"""Ask Helm for what the charts install that clusters without the operator ask for, and record the answers.

    (cd tests/oracle/charts && go build -o /tmp/chart-oracle .)
    PYTHONPATH=generator:tests python tests/recorded/record_hand_installed.py CHARTS /tmp/chart-oracle

`CHARTS` holds the charts as their projects publish them, in folders `<chart>-<version>`. `tests/recorded/README.md`
says what is in the recording.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from support.hand_installed import CASES, RELEASES, charts_of, theirs
from support.recordings import DATA, ENDING, packed

NAME = "hand_installed"


def main(charts: str, oracle: str) -> None:
    questions, asked = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for release in RELEASES:
            for case in CASES:
                for chart, version, namespace, values in charts_of(Path(folder), release, case):
                    key = f"{release}/{case}/{chart}"
                    asked[key] = (version, namespace, values)
                    place = {"chart": str(Path(charts) / f"{chart}-{version}"), "release": chart}
                    questions.append({"id": key, "values": values, "namespace": namespace, **place})
    text = "".join(f"{json.dumps(question)}\n" for question in questions)
    run = subprocess.run([oracle], input=text, capture_output=True, text=True, check=True)
    recorded: dict[str, Any] = {}
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        version, namespace, values = asked[answer["id"]]
        if "error" in answer:
            raise ValueError(f"{answer['id']}: {answer['error']}")
        objects = theirs(answer["objects"], namespace)
        recorded[answer["id"]] = {"version": version, "namespace": namespace, "values": values, "objects": objects}
    path = DATA / f"{NAME}{ENDING}"
    path.write_bytes(packed(recorded))
    print(f"{path.name}: {len(recorded)} keys, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
