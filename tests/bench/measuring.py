"""Whole processes against the clock, and against an interpreter that does nothing.

Seconds move by a factor of two with the machine; the ratio to `python -c pass`, run in between, hardly does.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

POOLSMITH = (sys.executable, "-m", "poolsmith")
NOTHING = (sys.executable, "-c", "pass")
_NOTHINGS = 3
"""Runs of the interpreter before each run of the work."""


@dataclass(frozen=True)
class Measured:
    """Median seconds, the ratio of the medians, and the largest resident set in MiB, of any run or child."""

    seconds: float
    ratio: float | None = None
    mebibytes: float | None = None


def measure(
    commands: Sequence[Sequence[str]],
    root: Path,
    runs: int,
    *,
    before: Callable[[], None] = lambda: None,
    beside: Sequence[str] = NOTHING,
    environment: dict[str, str] | None = None,
    ends: tuple[int, ...] = (0,),
) -> Measured:
    """The commands one after the other, as one piece of work; the ratio is to the command `beside`.

    `before` runs ahead of each run, off the clock; `ends` are the exit codes that are no failure.
    """
    seconds, others, memory = [], [], 0.0
    for _ in range(runs):
        before()
        others += [_run(beside, root, None, (0,))[0] for _ in range(_NOTHINGS if beside is NOTHING else 1)]
        found = [_run(command, root, environment, ends) for command in commands]
        seconds.append(sum(taken for taken, _ in found))
        memory = max(memory, *(mebibytes for _, mebibytes in found))
    median = statistics.median(seconds)
    return Measured(median, median / statistics.median(others), memory)


def _run(
    command: Sequence[str], root: Path, environment: dict[str, str] | None, ends: tuple[int, ...]
) -> tuple[float, float]:
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, env=os.environ | (environment or {}))
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ends:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, usage.ru_maxrss / 1024
