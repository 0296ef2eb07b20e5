"""The loop: mutate, run, keep what behaves in a new way, and shrink what crashes."""

from __future__ import annotations

import hashlib
import random
import re
import signal
import time
import traceback
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.mutators import mutated, swept

REGRESSIONS = Path(__file__).parent / "regressions"
MOST_KEPT = 600
ASKED_TWICE = 0.1
"""Of the inputs, how many are run a second time: the result must be the same."""
SHRINK_SECONDS = 20
_VARYING = re.compile(r"`[^`\n]*`|'[^'\n]*'|\"[^\"\n]*\"|\d+")


class TooSlowError(BaseException):
    """An input took more CPU time than its target allows. No `except Exception` swallows it."""


@dataclass
class Crash:
    """An input and what it did, told by its kind: the exception and the place where it was raised."""

    kind: str
    data: bytes
    trace: str


@dataclass
class Result:
    runs: int = 0
    kept: int = 0
    crashes: dict[str, Crash] = field(default_factory=dict)


@contextmanager
def cpu_limit(seconds):
    """CPU time of this process, so that a busy machine fails nobody."""

    def stop(_number, _frame):
        raise TooSlowError(f"more than {seconds} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def attempt(target, data):
    """What came of one input: the target's text, or the name of the declared error and what it says."""
    with cpu_limit(target.seconds):
        try:
            return target.run(data)
        except target.declared as error:
            return f"{type(error).__name__}: {error}"


def crash_of(target, data, *, twice=True):
    """What is wrong with how an input is taken, or None."""
    try:
        first = attempt(target, data)
        if twice:
            assert attempt(target, data) == first, "the same input, another result"
    except (Exception, TooSlowError) as error:  # noqa: BLE001 - whatever it is, it is told
        return Crash(_kind(error), data, traceback.format_exc(limit=-12))
    return None


def fuzz(target, seconds, seed, *, most_runs=None, fresh_share=1.0):
    """Run a target for so long, or for so many inputs; crashes of one kind are told once.

    The seeds come first; with a `fresh_share` below 1 only so many of the runs, and not always the same of them.
    """
    source = random.Random(f"{seed}:{target.name}")
    seeds = [data[: target.most_bytes] for data in target.seeds()]
    corpus, result, seen = list(seeds), Result(), set()
    if most_runs is not None:
        seeds_first = source.sample(seeds, min(len(seeds), int(most_runs * fresh_share)))
    else:
        seeds_first = seeds
    end = time.monotonic() + seconds
    while time.monotonic() < end and (most_runs is None or result.runs < most_runs):
        fresh = result.runs < len(seeds_first)
        data = (
            seeds_first[result.runs]
            if fresh
            else mutated(source, source.choice(corpus), seeds, target.most_bytes, target.structures)
        )
        result.runs += 1
        try:
            said = attempt(target, data)
            if source.random() < ASKED_TWICE:
                assert attempt(target, data) == said, "the same input, another result"
        except (Exception, TooSlowError) as error:  # noqa: BLE001 - whatever it is, it is told
            kind = _kind(error)
            if kind not in result.crashes:
                result.crashes[kind] = Crash(kind, data, traceback.format_exc(limit=-12))
            continue
        behaviour = zlib.crc32(_VARYING.sub("", said).encode("utf-8", "replace"))
        if behaviour not in seen:
            seen.add(behaviour)
            if not fresh:
                corpus.insert(0, data)
                del corpus[MOST_KEPT + len(seeds) :]
    result.kept = len(seen)
    return result


def sweep(target, seconds, part, parts):
    """Every input that is one step away from a seed; of those every `parts`-th, from `part` on. All, or so long."""
    result, end = Result(), time.monotonic() + seconds
    for number, data in enumerate(one for seed in target.seeds() for one in swept(seed)):
        if time.monotonic() >= end:
            break
        if number % parts == part:
            result.runs += 1
            crash = crash_of(target, data, twice=False)
            if crash is not None:
                result.crashes.setdefault(crash.kind, crash)
    return result


def _kind(error):
    """Where it was raised in our code, whatever the input was."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/fuzz/engine" not in frame.filename]
    if isinstance(error, TooSlowError):
        return "TooSlow"
    ours = [frame for frame in frames if "/poolsmith/" in frame.filename or "/fuzz/" in frame.filename]
    place = f"{ours[-1].filename.rpartition('/')[2]}:{ours[-1].name}" if ours else "?"
    return f"{type(error).__name__}@{place}"


def shrunk(target, crash):
    """A smaller input with the same crash: halves, then lines, then bytes are left out, for a bounded time."""
    data, end = crash.data, time.monotonic() + SHRINK_SECONDS
    size = len(data) // 2
    while size and time.monotonic() < end:
        at = 0
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + size :]
            found = crash_of(target, shorter, twice=crash.kind.startswith("AssertionError"))
            if found is not None and found.kind == crash.kind:
                data = shorter
            else:
                at += size
        size //= 2
    return data


def save(target, crash):
    """Write the smallest input of a crash as a regression case; the path."""
    data = shrunk(target, crash)
    name = re.sub(r"\W+", "-", crash.kind).strip("-").lower()
    path = REGRESSIONS / target.name / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
