"""One fleet by each who can work on it: processes of this machine, Dask clusters of processes, shards of a CI matrix; the
same bytes of all.

A machine with fewer processors than workers says nothing of speed, only that the result is the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from measuring import POOLSMITH

from fleet import write_fleet

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.dask_cluster import DaskCluster

if TYPE_CHECKING:
    from collections.abc import Iterator

PROCESSES = (1, 2)
WORKERS = (1, 2, 4)
SHARDS = 8
_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True)
class Found:
    """Seconds of a whole `generate`; the largest resident sets in MiB: of the process that the user started, and of a
    worker; and a digest of all that was written."""

    seconds: float
    coordinator: float
    worker: float
    digest: str


def compare_engines(folder: Path, pools: int) -> bool:
    """Print a table; whether all wrote the same."""
    clusters = write_fleet(folder, pools)
    print(f"{pools:,} pools in {clusters:,} clusters: generate, nothing cached; {os.cpu_count()} processors")
    print(f"{'by':<16} {'seconds':>8} {'ratio':>6} {'MiB':>6} {'MiB of a worker':>16}")
    first: Found | None = None
    same = True
    for name, found in _all(folder):
        first = first or found
        same = same and found.digest == first.digest
        ratio = found.seconds / first.seconds
        print(f"{name:<16} {found.seconds:>8.1f} {ratio:>6.2f} {found.coordinator:>6.0f} {found.worker:>16.0f}")
    print("all wrote the same bytes" if same else "NOT all wrote the same bytes")
    return same


def _all(folder: Path) -> Iterator[tuple[str, Found]]:
    for count in PROCESSES:
        found = _generate(folder, ("--jobs", str(count)), ())
        yield f"{count} process{'es' if count > 1 else ''}", found
    for count in WORKERS:
        with _dask(folder, count) as cluster:
            numbers = tuple(worker.pid for worker in cluster.workers)
            found = _generate(folder, ("--scheduler", cluster.address), numbers)
        yield f"Dask, {count} worker{'s' if count > 1 else ''}", found
    yield f"{SHARDS} shards, merge", _by_shards(folder)


def _by_shards(folder: Path) -> Found:
    """One after the other, as if each had a machine: the seconds are those of the longest one and of the merge."""
    shutil.rmtree(folder / "output", ignore_errors=True)
    parts, found = [], []
    for number in range(1, SHARDS + 1):
        parts.append(folder.parent / f"shard-{number}.json")
        flags = ("generate", "--no-cache", "--jobs", "1", "--shard", f"{number}/{SHARDS}", "--format", "json")
        with parts[-1].open("wb") as report:
            found.append(_watched(folder, flags, (), report))
    seconds, memory, _ = _watched(folder, ("report", "merge", "--write", *map(str, parts)), (), subprocess.DEVNULL)
    longest = max(one[0] for one in found)
    return Found(longest + seconds, memory, max(one[1] for one in found), _digest(folder / "output"))


@contextmanager
def _dask(folder: Path, workers: int) -> Iterator[DaskCluster]:
    scratch = folder.parent / f"dask-{workers}"
    scratch.mkdir()
    cluster = DaskCluster(scratch, workers)
    try:
        yield cluster
    finally:
        cluster.end()


def _generate(folder: Path, flags: tuple[str, ...], others: tuple[int, ...]) -> Found:
    shutil.rmtree(folder / "output", ignore_errors=True)
    seconds, coordinator, worker = _watched(folder, ("generate", "--no-cache", *flags), others, subprocess.DEVNULL)
    return Found(seconds, coordinator, worker, _digest(folder / "output"))


def _watched(
    folder: Path, line: tuple[str, ...], others: tuple[int, ...], out: IO[bytes] | int
) -> tuple[float, float, float]:
    """Seconds, and the largest resident sets in MiB: of the process itself, and of its children and the others."""
    start = time.perf_counter()
    process = subprocess.Popen((*POOLSMITH, *line), cwd=folder, stdout=out)
    coordinator = worker = 0.0
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        coordinator = max(coordinator, _peak(process.pid))
        worker = max(worker, *(_peak(number) for number in (*others, *_children(process.pid))), 0.0)
        time.sleep(_BETWEEN_LOOKS)
    process.wait()
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(line)} ended with {process.returncode}")
    return seconds, coordinator, worker


def _children(number: int) -> tuple[int, ...]:
    try:
        return tuple(map(int, Path(f"/proc/{number}/task/{number}/children").read_text().split()))
    except OSError:
        return ()


def _peak(number: int) -> float:
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for where, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            path = Path(where, name)
            total.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return total.hexdigest()
