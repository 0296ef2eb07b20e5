"""Processes of this machine that work on batches."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, ClassVar

from poolsmith.core.facts.packs import active, hold
from poolsmith.core.record import record
from poolsmith.project.output.crew import Crew

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from poolsmith.core.facts.packs import Packs

_METHOD = "fork" if sys.platform == "linux" else "spawn"


@record(kw_only=False)
class Processes:
    """Processes of this machine."""

    count: int

    @contextmanager
    def start(
        self, work: Callable[[tuple[Any, ...]], Iterable[Any]], _folders: tuple[Path, ...] = ()
    ) -> Iterator[Crew]:
        """Each knows what this process knows of releases. Ctrl-C reaches all of them; only this one acts on it."""
        others = set(multiprocessing.active_children())
        pool = ProcessPoolExecutor(self.count, multiprocessing.get_context(_METHOD), _Process.start, (work, active()))

        def submit(batch: tuple[Any, ...]) -> Future[list[Any]]:
            with _interrupts_held():
                return pool.submit(_Process.run, batch)

        try:
            yield Crew(count=self.count, submit=submit)
        except BaseException:
            for child in multiprocessing.active_children():
                if child not in others:
                    child.terminate()
            pool.shutdown(cancel_futures=True)
            raise
        pool.shutdown()


class _Process:
    """A process of the pool, which does one kind of work."""

    work: ClassVar[Callable[[tuple[Any, ...]], Iterable[object]]]

    @classmethod
    def start(cls, work: Callable[[tuple[Any, ...]], Iterable[object]], packs: Packs) -> None:
        threading.Thread(target=cls.end_with_parent, daemon=True).start()
        hold(packs)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        cls.work = work

    @staticmethod
    def end_with_parent() -> None:
        """A worker would wait for work without end: when its parent is killed, the pipes of its siblings stay open."""
        parent = multiprocessing.parent_process()
        if parent is not None:
            wait([parent.sentinel])
        os._exit(1)

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
