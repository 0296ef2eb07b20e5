"""Batches on the workers of a Dask cluster, where a fleet outgrows one machine.

The workers read and write the very folder that this process has, on a file system that all of them share. Each says
which poolsmith it is and which folder it sees before it works; another one is refused. What comes back is read as
Python's pickles: the cluster must be your own.
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import threading
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from poolsmith import __version__
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.diagnostic import WorkersLostError
from poolsmith.core.diagnostics.message_text import one_line, printable
from poolsmith.core.facts.packs import active, using
from poolsmith.core.record import record
from poolsmith.gpu.catalog import Catalog
from poolsmith.interface.app.memory import PROFILES, shared_input
from poolsmith.project.output.crew import Crew

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from distributed import Client

    from poolsmith.core.facts.packs import Packs

    Work = Callable[[tuple[Any, ...]], Iterable[Any]]

MISSING = "--scheduler needs Dask, which is not installed: `pip install --require-hashes -r requirements-dask.lock`"
_LONGEST = 300
_CLOSING_SECONDS = 5.0


@record
class SeenTasks:
    """What a process works with. `folders`: by which numbers the file system knows what a work reads and writes, and
    the profiles of each cluster; `shared` is a digest of the files that all clusters follow from.

    A file system that is shared knows them by the same numbers everywhere. Copies have others; those of a whole disk
    have the same, until one of the two is changed.
    """

    poolsmith: str
    python: str
    catalog: str
    folders: tuple[int, ...]
    shared: str

    def differs(self, other: SeenTasks) -> str:
        """What an `other` process has otherwise; empty for nothing."""
        if other.folders != self.folders:
            return "it has another folder there: all must share one file system"
        if other.shared != self.shared:
            return "it has other files there: all must share one file system"
        for what, ours, theirs in (
            ("poolsmith", self.poolsmith, other.poolsmith),
            ("Python", self.python, other.python),
            ("a catalog", self.catalog, other.catalog),
        ):
            if ours != theirs:
                return f"it has {what} {theirs}, and this process has {ours}"
        return ""


def seen(folders: tuple[Path, ...]) -> SeenTasks:
    """`folders` are the project's, and others that work reads and writes. Raises OSError where one is not there."""
    return SeenTasks(
        poolsmith=__version__,
        python=".".join(platform.python_version_tuple()[:2]),
        catalog=Catalog().digest,
        folders=(*(folder.stat().st_ino for folder in folders), *_numbers_in(folders[0] / PROFILES)),
        shared=shared_input(str(folders[0])),
    )


def _numbers_in(folder: Path) -> tuple[int, ...]:
    """Of the folders that stand in it, by their names."""
    with os.scandir(folder) as entries:
        known = {entry.name: entry.inode() for entry in entries if entry.is_dir(follow_symlinks=False)}
    return tuple(known[name] for name in sorted(known))


@record(kw_only=False)
class DaskWorkers:
    """Those of the scheduler at `address`, such as `tcp://10.0.0.5:8786`, of one project.

    `seconds` limits each question to the scheduler; certificates are those of Dask's own configuration.
    """

    address: str
    seconds: float = 30.0

    @contextmanager
    def start(self, work: Work, folders: tuple[Path, ...]) -> Iterator[Crew]:
        """Raises UsageError, WorkersLostError."""
        try:
            from distributed import Client, KilledWorker  # on demand
        except ImportError:
            raise UsageError(MISSING) from None
        from concurrent.futures import CancelledError  # on demand

        task = Task(os.urandom(12), pickle.dumps((work, active())), folders, seen(folders))
        client = self._connected(Client)
        try:
            count = self._workers(client)
            executor: Executor = client.get_executor(pure=False)  # type: ignore[no-untyped-call]

            def submit(batch: tuple[Any, ...]) -> Future[list[Any]]:
                found: Future[list[Any]] = executor.submit(work_on, task, batch)
                return found

            yield Crew(count=count, submit=submit, is_there=partial(self._check, client), patience=self.seconds)
        except KilledWorker as error:
            times = client.scheduler_info().get("allowed_failures", "several")
            raise WorkersLostError(
                f"workers of {self._shown} were lost {times} times at the same part of the clusters: killed from "
                f"outside, or for want of memory ({_said(error)})"
            ) from None
        except (CancelledError, OSError) as error:
            raise WorkersLostError(f"{self._lost}: {_said(error)}") from None
        except (ImportError, AttributeError) as error:
            raise UsageError(f"a worker of {self._shown} has no poolsmith {__version__}: {_said(error)}") from None
        finally:
            with suppress(Exception):  # of a scheduler that is gone
                client.close(timeout=_CLOSING_SECONDS)  # type: ignore[no-untyped-call]

    def _connected(self, client: type[Client]) -> Client:
        for name in tuple(logging.root.manager.loggerDict):
            if name.startswith(("distributed", "tornado")):
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # other versions of Dask's parts: it works, or it says why not
                return client(self.address, timeout=self.seconds, set_as_default=False)
        except OSError as error:
            raise WorkersLostError(f"the scheduler at {self._shown} can't be reached: {_said(error)}") from None
        except (ValueError, TypeError, ImportError, RuntimeError) as error:
            raise UsageError(f"`{self._shown}` is no address of a scheduler: {_said(error)}") from None

    def _workers(self, client: Client) -> int:
        from distributed import TimeoutError as OutOfTime  # on demand

        try:
            client.wait_for_workers(1, timeout=self.seconds)
        except (OutOfTime, TimeoutError):
            raise WorkersLostError(f"the scheduler at {self._shown} has no workers") from None
        return max(1, self._ask(client))

    def _check(self, client: Client) -> None:
        if not self._ask(client):
            raise WorkersLostError(f"the scheduler at {self._shown} has lost all of its workers")

    def _ask(self, client: Client) -> int:
        """How many workers there are. Raises WorkersLostError where nobody answers."""
        from distributed import TimeoutError as OutOfTime  # on demand

        try:
            ask: Any = client.scheduler
            found = client.sync(ask.identity, callback_timeout=self.seconds)  # type: ignore[no-untyped-call]
        except (OutOfTime, TimeoutError, OSError, RuntimeError, AttributeError) as error:
            raise WorkersLostError(f"{self._lost}: {_said(error)}") from None
        return int(found.get("n_workers", len(found["workers"])))

    @property
    def _shown(self) -> str:
        return printable(self.address)

    @property
    def _lost(self) -> str:
        return f"the scheduler at {self._shown} was lost"


@record(kw_only=False)
class Task:
    """One kind of work in one run. `number` tells it from the same work of another run, which other files may have."""

    number: bytes
    work: bytes
    folders: tuple[Path, ...]
    seen: SeenTasks


class _Worker:
    """What a worker keeps of the task that it works at: what the clusters of a project share is loaded once."""

    one_at_a_time: ClassVar[threading.Lock] = threading.Lock()
    number: ClassVar[bytes] = b""
    work: ClassVar[Work]
    packs: ClassVar[Packs]

    @classmethod
    def take(cls, task: Task) -> None:
        if cls.number == task.number:
            return
        where = f"a worker on {platform.node()} can't work in {task.folders[0]}"
        try:
            differs = task.seen.differs(seen(task.folders))
        except OSError as error:
            differs = f"{error.filename} is not there: all must share one file system"
        if differs:
            raise UsageError(f"{where}: {differs}")
        cls.work, cls.packs = pickle.loads(task.work)  # noqa: S301 - of who may run any code here: that is what a worker is for
        cls.number = task.number


def work_on(task: Task, batch: tuple[Any, ...]) -> list[Any]:
    """What a worker does with a batch. Threads of one worker take turns."""
    with _Worker.one_at_a_time:
        _Worker.take(task)
        with using(_Worker.packs):
            return list(_Worker.work(batch))


def _said(error: BaseException) -> str:
    return one_line(printable(str(error)), _LONGEST) or type(error).__name__
