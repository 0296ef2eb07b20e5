"""Many clusters on several processors, in bounded memory.

A batch is a part of the clusters. Processes share nothing, and what comes back from them is small. Results come in
any order; who needs one sorts them.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from poolsmith.catalog.packs import active, hold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.context import BaseContext

    from poolsmith.catalog.packs import Packs

Item = TypeVar("Item")
Result = TypeVar("Result")
_BATCHES_PER_JOB = 5
_LARGEST_BATCH = 25


def default_jobs() -> int:
    return max(1, min(8, os.cpu_count() or 1))


def in_batches(
    work: Callable[[tuple[Item, ...]], Iterable[Result]], items: Sequence[Item], jobs: int, *, few: int
) -> Iterator[Result]:
    """The results of `work`, which takes some of the items.

    With one job, or up to `few` items, all is done in this process, in order. Otherwise work, items and results must
    be picklable; what `work` holds is loaded once in each process.
    """
    if jobs <= 1 or len(items) <= few:
        yield from work(tuple(items))
        return
    size = max(1, min(_LARGEST_BATCH, len(items) // (jobs * _BATCHES_PER_JOB)))
    batches = [tuple(items[start : start + size]) for start in range(0, len(items), size)]
    pool = None
    try:
        with _interrupts_held():
            pool = _context().Pool(min(jobs, len(batches)), initializer=_Worker.start, initargs=(work, active()))
        found: Iterator[list[Result]] = pool.imap_unordered(_Worker.run, batches)  # type: ignore[arg-type] # of `work`
        for results in found:
            yield from results
        pool.close()
    except BaseException:
        if pool is not None:
            pool.terminate()
        raise
    finally:
        if pool is not None:
            pool.join()


class _Worker:
    """A process of the pool, which does one kind of work."""

    work: ClassVar[Callable[[tuple[Any, ...]], Iterable[object]]]

    @classmethod
    def start(cls, work: Callable[[tuple[Any, ...]], Iterable[object]], packs: Packs) -> None:
        """Ctrl-C reaches the whole group; only the parent acts on it. What it knows of releases, the worker does."""
        hold(packs)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        cls.work = work

    @classmethod
    def run(cls, batch: tuple[Any, ...]) -> list[object]:
        return list(cls.work(batch))


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """What is started meanwhile takes no interrupt: a worker that ends by one may hold a lock that others wait for."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> BaseContext:
    import multiprocessing  # on demand

    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
