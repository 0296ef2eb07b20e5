"""What a run takes that is the same on each machine: modules, bytes of code, calls of functions, files that are opened.

Seconds move with the machine and its other work; these do not, so a test can hold them. Counts are of one process, with
one seed for hashes and without the search for cycles; of files, those that are opened to be read below the project or in
poolsmith's data.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

GENERATOR = Path(__file__).parents[2] / "generator"
_PROGRAM = """
import gc, os, sys
sys.path.insert(0, sys.argv.pop(1))
gc.disable()
before = set(sys.modules)
calls, files, code = 0, 0, 0
def count(frame, event, argument):
    global calls
    if event == "call" or event == "c_call":
        calls += 1
def see(event, arguments):
    global files, code
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        name = os.fsdecode(arguments[0])
        files += not name.endswith((".pyc", ".py", ".so")) and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)
    elif event == "marshal.loads":
        code += len(arguments[0])
sys.addaudithook(see)
sys.setprofile(count)
from poolsmith.interface.cli.main import _run
ended = _run(sys.argv[1:])
sys.setprofile(None)
sys.stdout.flush()
loaded = {name for name, module in sys.modules.items() if type(module).__name__ != "LateModule"}
sys.stderr.write("\\n%r" % ([int(ended), len(loaded - before), code, calls, files],))
"""


@dataclass(frozen=True, kw_only=True)
class Counts:
    modules: int
    kilobytes: int
    """Of compiled code that was loaded."""
    calls: int
    files: int


def exact_counts(arguments: Sequence[str], folder: Path, *, ends: tuple[int, ...] = (0,)) -> Counts:
    """Of a run whose modules have been compiled by one before. Raises AssertionError where it ends otherwise."""
    command = [sys.executable, "-I", "-c", _PROGRAM, str(GENERATOR), *arguments]
    environment = os.environ | {"PYTHONHASHSEED": "0", "POOLSMITH_CACHE_DIR": ""}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    ended, modules, code, calls, files = json.loads(result.stderr.splitlines()[-1])
    assert ended in ends, result.stderr
    return Counts(modules=modules, kilobytes=code // 1024, calls=calls, files=files)


def grown(now: Counts, kept: Counts, most: float) -> list[str]:
    """What has grown by more than the factor, in words."""
    pairs = ((name, value, asdict(kept)[name]) for name, value in asdict(now).items())
    return [
        f"{name}: {before:,} to {value:,}" for name, value, before in pairs if value > max(before * most, before + 5)
    ]
