"""Many clusters on several processors, in bounded memory.

A batch is a part of the clusters. Processes share nothing, and what comes back from them is small. Results come in
any order; who needs one sorts them.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.context import BaseContext

Item = TypeVar("Item")
Result = TypeVar("Result")
_FEW = 12
_BATCHES_PER_JOB = 5
_LARGEST_BATCH = 25


def default_jobs() -> int:
    return max(1, min(8, os.cpu_count() or 1))


def in_batches(
    work: Callable[[tuple[Item, ...]], Result], items: Sequence[Item], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Apply `work` to batches of `items`; yields how many items a result covers, and the result.

    Work, items and results must be picklable. With one job, or few items, everything runs in this process.
    """
    if jobs <= 1 or len(items) <= _FEW:
        for item in items:
            yield 1, work((item,))
        return
    size = max(1, min(_LARGEST_BATCH, len(items) // (jobs * _BATCHES_PER_JOB)))
    batches = [tuple(items[start : start + size]) for start in range(0, len(items), size)]
    pool = None
    try:
        with _interrupts_held():
            pool = _context().Pool(min(jobs, len(batches)), initializer=_ignore_interrupts)
        yield from pool.imap_unordered(_Counted(work), batches)
        pool.close()
    except BaseException:
        if pool is not None:
            pool.terminate()
        raise
    finally:
        if pool is not None:
            pool.join()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """What is started meanwhile takes no interrupt: a worker that ends by one may hold a lock that others wait for."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Counted:
    """`work` with the size of its batch; a class, so that it can be pickled."""

    def __init__(self, work: Callable[[tuple[Any, ...]], object]) -> None:
        self._work = work

    def __call__(self, batch: tuple[Any, ...]) -> tuple[int, object]:
        return len(batch), self._work(batch)


def _context() -> BaseContext:
    import multiprocessing

    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def _ignore_interrupts() -> None:
    """Ctrl-C reaches the whole group; only the parent acts on it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
