"""Run the health scripts as Argo CD does, and keep what they answer.

    PYTHONPATH=generator:tests python tests/project/output/record_health.py ORACLE

ORACLE is the program of tests/oracle/argocd/health. Writes tests/recorded/data/argocd_health.jsonl.xz.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from poolsmith.core.sources.source_file import digest
from poolsmith.project.output.argocd_fleet import SCRIPTS
from project.output.health_cases import CASES
from support.recordings import DATA, ENDING, packed


def main() -> None:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, cases in CASES.items():
            script = Path(folder) / kind
            script.write_text(SCRIPTS[kind])
            lines = "".join(f"{json.dumps(body)}\n" for body, _ in cases.values())
            run = subprocess.run([sys.argv[1], str(script)], input=lines, capture_output=True, text=True, check=True)
            answers = map(json.loads, run.stdout.splitlines())
            found[kind] = {
                "script": digest(SCRIPTS[kind].encode()),
                "answers": dict(zip(cases, answers, strict=True)),
            }
    (DATA / f"argocd_health{ENDING}").write_bytes(packed(found))


if __name__ == "__main__":
    main()
