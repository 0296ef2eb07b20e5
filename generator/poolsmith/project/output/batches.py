"""Many clusters on several processors, in bounded memory.

A batch is a part of the clusters, and its result is a function of its files. It is done by an executor of
`concurrent.futures`: processes of this machine, or other workers. They share nothing, and what they return is
small. Results arrive in any order; who needs one sorts them. The interpreter's search for cycles runs rarely: trees of
documents have none.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from poolsmith.project.output.crew import Workers


Item = TypeVar("Item")
Result = TypeVar("Result")


def default_jobs() -> int:
    return max(1, min(8, os.cpu_count() or 1))


def in_batches(
    work: Callable[[tuple[Item, ...]], Iterable[Result]],
    items: Sequence[Item],
    jobs: int | Workers,
    *,
    few: int,
    folders: tuple[Path, ...] = (),
) -> Iterator[Result]:
    """The results of `work`, which takes some of the items. `jobs` is a number of processes, or other workers.

    With one process, or up to `few` items, all is done in this one, in order. Otherwise work, items and results must be
    picklable; what `work` holds is loaded once in each process, and `folders` are what it reads and writes. The first
    item is done here, so that processes that are forked begin with what it took to load and to learn. What a lost
    worker had is worked on once more, which `work` must bear. Raises WorkersLostError.
    """
    if isinstance(jobs, int):
        first = len(items) if jobs <= 1 or len(items) <= few else 1
        yield from work(tuple(items[:first]))
        items = items[first:]
        if not items:
            return
        from poolsmith.project.output.processes import Processes  # on demand

        jobs = Processes(min(jobs, len(items)))
    from poolsmith.project.output.crew import Shift  # on demand

    yield from Shift(work, items, jobs, folders).results()


_RARELY = 500_000


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Looking for cycles takes a quarter of the time of reading and making documents."""
    before = gc.get_threshold()
    gc.set_threshold(_RARELY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
