"""Records what readers of configurations say of texts that are made here.

PYTHONPATH=generator:tests python tests/oracle/configurations/record.py RECORDING PROGRAM...

Several programs are versions of one, and end with theirs: `oracle-v0.20.0`. Where they say the same it stands once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from oracle.configurations.texts import CIRCUMSTANCES, gate_texts, plugin_starts, texts
from support.recordings import DATA, ENDING, packed


def main(name: str, *programs: str) -> None:
    asked = gate_texts() if name == "dra_gates" else () if name == "plugin_starts" else texts(name)
    said = _starts(programs) if name == "plugin_starts" else dict(_said(programs[0], asked, {}))
    (DATA / f"{name}{ENDING}").write_bytes(packed(said))


def _starts(programs: tuple[str, ...]) -> dict[str, str | dict[str, str]]:
    found: dict[str, str | dict[str, str]] = {}
    for name, variables in CIRCUMSTANCES.items():
        asked = plugin_starts()
        answers = {program.rpartition("-")[2]: dict(_said(program, asked, variables)) for program in programs}
        for text in asked:
            said = {version: answer[text] for version, answer in answers.items()}
            found[f"{name}: {text}"] = said if len({*said.values()}) > 1 else min(said.values())
    return found


def _said(program: str, asked: tuple[str, ...], variables: dict[str, str]) -> zip[tuple[str, str]]:
    lines = "".join(f"{json.dumps(text)}\n" for text in asked)
    run = subprocess.run(
        [program], input=lines, text=True, capture_output=True, check=True, env={**os.environ, **variables}
    )
    return zip(asked, run.stdout.splitlines(), strict=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
