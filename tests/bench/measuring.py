"""Whole processes, in processor time, against an interpreter that does nothing.

Seconds move by a factor of two with the machine; the ratio of processor time to `python -c pass`, run in between, hardly
does. What a process's children take counts as its own.
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
    """Medians of seconds by the clock and of the processor's seconds in the system; the ratio of the medians of
    processor time; and the largest resident set in MiB, of any run or child."""

    seconds: float
    ratio: float | None = None
    mebibytes: float | None = None
    system: float | None = None


@dataclass(frozen=True)
class _Taken:
    seconds: float
    user: float
    system: float
    mebibytes: float

    @property
    def processor(self) -> float:
        return self.user + self.system


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
    found: list[list[_Taken]] = []
    others: list[float] = []
    for _ in range(runs):
        before()
        others += [_run(beside, root, None, (0,)).processor for _ in range(_NOTHINGS if beside is NOTHING else 1)]
        found.append([_run(command, root, environment, ends) for command in commands])
    processor = statistics.median(sum(one.processor for one in run) for run in found)
    return Measured(
        seconds=statistics.median(sum(one.seconds for one in run) for run in found),
        ratio=processor / statistics.median(others),
        mebibytes=max(one.mebibytes for run in found for one in run),
        system=statistics.median(sum(one.system for one in run) for run in found),
    )


def _run(command: Sequence[str], root: Path, environment: dict[str, str] | None, ends: tuple[int, ...]) -> _Taken:
    start = time.perf_counter()
    given = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, env=given | (environment or {}))
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ends:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return _Taken(seconds, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024)
