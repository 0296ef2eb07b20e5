"""Records what readers of configurations say of texts that are made here.

PYTHONPATH=generator:tests python tests/oracle/configurations/record.py RECORDING PROGRAM...

Several programs are versions of one, and end with theirs: `oracle-v0.20.0`. Where they say the same it stands once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

from oracle.configurations.texts import CIRCUMSTANCES, gate_texts, plugin_starts, texts
from support.recordings import DATA, ENDING, packed

Circumstances = dict[str, dict[str, str]]
BY_VERSION: dict[str, tuple[Callable[[], tuple[str, ...]], Circumstances]] = {
    "plugin_starts": (plugin_starts, CIRCUMSTANCES),
    "dra_gates": (gate_texts, {"": {}}),
}
"""What is recorded of several versions: texts, and the variables that they are read under."""


def main(name: str, *programs: str) -> None:
    said = _of_versions(name, programs) if name in BY_VERSION else dict(_said(programs[0], texts(name), {}))
    (DATA / f"{name}{ENDING}").write_bytes(packed(said))


def _of_versions(name: str, programs: tuple[str, ...]) -> dict[str, str | dict[str, str]]:
    found: dict[str, str | dict[str, str]] = {}
    asked, circumstances = BY_VERSION[name]
    for under, variables in circumstances.items():
        answers = {program.rpartition("-")[2]: dict(_said(program, asked(), variables)) for program in programs}
        for text in asked():
            said = {version: answer[text] for version, answer in answers.items()}
            key = f"{under}: {text}" if under else text
            found[key] = said if len({*said.values()}) > 1 else min(said.values())
    return found


def _said(program: str, asked: tuple[str, ...], variables: dict[str, str]) -> zip[tuple[str, str]]:
    lines = "".join(f"{json.dumps(text)}\n" for text in asked)
    run = subprocess.run(
        [program], input=lines, text=True, capture_output=True, check=True, env={**os.environ, **variables}
    )
    return zip(asked, run.stdout.splitlines(), strict=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
