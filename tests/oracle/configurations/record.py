"""Records what a reader of configurations says of texts that are made here.

PYTHONPATH=tests python tests/oracle/configurations/record.py RECORDING PROGRAM
"""

from __future__ import annotations

import json
import subprocess
import sys

from oracle.configurations.texts import texts
from support.recordings import DATA, ENDING, packed


def main(name: str, program: str) -> None:
    asked = texts(name)
    lines = "".join(f"{json.dumps(text)}\n" for text in asked)
    said = subprocess.run([program], input=lines, text=True, capture_output=True, check=True).stdout.splitlines()
    (DATA / f"{name}{ENDING}").write_bytes(packed(dict(zip(asked, said, strict=True))))


if __name__ == "__main__":
    main(*sys.argv[1:])
