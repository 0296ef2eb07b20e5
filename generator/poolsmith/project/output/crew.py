"""Workers that are ready for batches, what each is given, and what happens to it when one is lost."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from poolsmith.core.diagnostics.diagnostic import WorkersLostError
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager
    from pathlib import Path

Item = TypeVar("Item")
Result = TypeVar("Result")
_BATCHES_PER_JOB = 5
_LARGEST_BATCH = 25
_AHEAD = 2
"""So many batches are handed out for each worker: the one that it works on, and the one that waits for it."""
_MOST_LOSSES = 3
"""So often in a row, with nothing done between, workers are replaced. A batch that nothing else is worked on beside is
not tried once more when it is that often."""
_FEW = 3


@record
class Crew:
    """Workers that are ready for one kind of work: `count` of them.

    `submit` takes a batch. Its future raises BrokenExecutor where workers were lost, so that what they had must be
    given to others. `is_there`, which is asked each `patience` seconds in which nothing was done, raises
    WorkersLostError where nobody is left.
    """

    count: int
    submit: Callable[[tuple[Any, ...]], Future[list[Any]]]
    is_there: Callable[[], None] = lambda: None
    patience: float | None = None


class Workers(Protocol):
    """Who can be put to work."""

    def start(
        self, work: Callable[[tuple[Any, ...]], Iterable[Any]], folders: tuple[Path, ...]
    ) -> AbstractContextManager[Crew]:
        """For a work that reads and writes below `folders`. Left with an error, what still runs is stopped.

        Raises PoolsmithError where nobody can be had.
        """


class Shift(Generic[Item, Result]):
    """One work on many items."""

    def __init__(
        self,
        work: Callable[[tuple[Item, ...]], Iterable[Result]],
        items: Sequence[Item],
        workers: Workers,
        folders: tuple[Path, ...],
    ) -> None:
        self._folders = folders
        self._work = work
        self._items = items
        self._workers = workers
        self._taken = 0
        self._suspects: list[tuple[Item, ...]] = []
        """What was in work when a worker was lost. Each is tried by itself, so that only who is to blame ends a run."""

    def results(self) -> Iterator[Result]:
        losses = 0
        while self._taken < len(self._items) or self._suspects:
            alone = bool(self._suspects)
            running: dict[Future[list[Result]], tuple[Item, ...]] = {}
            try:
                with self._workers.start(self._work, self._folders) as crew:
                    while self._hand_out(crew, running, alone=alone):
                        for results in _finished(crew, running):
                            losses = 0
                            yield from results
            except BrokenExecutor:
                losses += 1
                self._suspects += running.values()
                if losses > _MOST_LOSSES or (alone and losses == _MOST_LOSSES):
                    raise WorkersLostError(_blame(self._suspects[-1] if self._suspects else ())) from None

    def _hand_out(self, crew: Crew, running: dict[Future[list[Result]], tuple[Item, ...]], *, alone: bool) -> bool:
        """Whether anything runs after each worker was given what it can take."""
        if alone:
            if not running and self._suspects:
                batch = self._suspects[-1]
                running[crew.submit(batch)] = batch
                self._suspects.pop()
            return bool(running)
        size = max(1, min(_LARGEST_BATCH, len(self._items) // (crew.count * _BATCHES_PER_JOB)))
        while self._taken < len(self._items) and len(running) < crew.count * _AHEAD:
            batch = tuple(self._items[self._taken : self._taken + size])
            running[crew.submit(batch)] = batch
            self._taken += len(batch)
        return bool(running)


def _finished(crew: Crew, running: dict[Future[list[Result]], tuple[Item, ...]]) -> Iterator[list[Result]]:
    """What is done, taken from what runs; for one batch at least is waited. Raises what working on it raised."""
    done = wait(running, timeout=crew.patience, return_when=FIRST_COMPLETED).done
    if not done:
        crew.is_there()
    for future in done:
        results = future.result()
        del running[future]
        yield results


def _blame(batch: tuple[Any, ...]) -> str:
    names = listed([str(getattr(item, "name", item)) for item in batch], _FEW)
    at = f" at {names}" if batch else ""
    return f"workers were lost again and again{at}: killed from outside, or for want of memory; the run stops here"
