"""Batches: each item once, whoever is lost on the way; and never more than can be worked on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import WriteError
from poolsmith.core.diagnostics.diagnostic import WorkersLostError
from poolsmith.project.output.batches import in_batches
from poolsmith.project.output.crew import Crew

ITEMS = tuple(range(60))
PROGRAM = """
import sys
from pathlib import Path
from functools import partial
from project.output.test_batches import ITEMS, {work}
from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.project.output.batches import in_batches
try:
    print(sorted(in_batches(partial({work}, Path(sys.argv[1])), ITEMS, 2, few=1)))
except PoolsmithError as error:
    print(type(error).__name__, error)
"""


def doubled(batch):
    return [item * 2 for item in batch]


def kills_twice(folder, batch):
    """Two items end their process the first time."""
    for item in batch:
        mark = folder / str(item)
        if item in (7, 31) and not mark.exists():
            mark.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        yield item * 2


def always_kills(folder, batch):
    for item in batch:
        if item == 31:
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / str(item)).write_text("")
        yield item * 2


def cannot_write(folder, batch):
    raise WriteError(f"can't write to {folder.name}, batch of {batch[0]}")


LEARNT = []


def learns(folder, batch):
    LEARNT.extend(batch)
    return [f"{item} after {LEARNT[0]}" for item in batch]


def sleeps(folder, batch):
    if batch == ITEMS[:1]:  # of the process that starts the others
        return
    (folder / str(os.getpid())).write_text("")
    time.sleep(600)
    yield from batch


def run(work, folder, **options):
    """In a process of its own: one with the threads of a test runner must not fork."""
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'generator'}:{root / 'tests'}"}
    command = [sys.executable, "-c", PROGRAM.format(work=work), str(folder)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def said(work, folder):
    out, err = run(work, folder).communicate(timeout=120)
    assert err == ""
    return out.strip()


def test_what_a_killed_process_had_is_worked_on_again(tmp_path):
    assert said("kills_twice", tmp_path) == str([item * 2 for item in ITEMS])


def test_an_item_that_kills_each_process_ends_the_run_and_is_named(tmp_path):
    out = said("always_kills", tmp_path)

    assert out.startswith("WorkersLostError workers were lost again and again at `")
    assert "`31`" in out


def test_what_work_raises_is_raised(tmp_path):
    assert said("cannot_write", tmp_path).startswith(f"WriteError can't write to {tmp_path.name}, batch of ")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_the_one_that_started_them(tmp_path, end):
    process = run("sleeps", tmp_path, start_new_session=True)
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    process.send_signal(end)
    process.communicate(timeout=60)

    wait_until(lambda: not any(is_running(int(path.name)) for path in tmp_path.iterdir()))


def wait_until(holds):
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_running(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Threads:
    """A crew of threads, which counts what is handed out, and loses workers where `lost` says so."""

    def __init__(self, count, lost=()):
        self.count, self.lost = count, list(lost)
        self.most, self.started, self.numbers = 0, 0, 0
        self.out = set()

    @contextmanager
    def start(self, work, folders):
        self.started += 1
        self.out = set()
        with ThreadPoolExecutor(self.count) as pool:

            def submit(batch):
                self.numbers += 1
                if self.numbers in self.lost:
                    found = Future()
                    found.set_exception(BrokenExecutor("lost"))
                else:
                    found = pool.submit(lambda: list(work(batch)))
                self.out = {future for future in self.out if not future.done()} | {found}
                self.most = max(self.most, len(self.out))
                return found

            yield Crew(count=self.count, submit=submit)


@given(st.lists(st.integers(), max_size=300), st.integers(1, 9), st.sets(st.integers(1, 40), max_size=2))
def test_each_item_is_worked_on_once_whoever_is_lost(items, count, lost):
    workers = Threads(count, lost)

    assert sorted(in_batches(doubled, items, workers, few=0)) == sorted(item * 2 for item in items)
    assert workers.most <= 2 * count
    assert workers.started <= 1 + 2 * len(lost)


def test_nobody_is_started_for_nothing():
    workers = Threads(2)

    assert list(in_batches(doubled, [], workers, few=0)) == []
    assert workers.started == 0


def test_others_begin_with_what_the_first_item_left_behind(tmp_path):
    assert said("learns", tmp_path) == str([f"{item} after 0" for item in sorted(ITEMS, key=str)])


def test_few_items_stay_in_this_process():
    assert list(in_batches(doubled, range(5), 8, few=5)) == [0, 2, 4, 6, 8]


def test_workers_that_are_all_gone_end_the_wait():
    class Gone(Threads):
        @contextmanager
        def start(self, work, folders):
            def is_there():
                raise WorkersLostError("nobody is left")

            yield Crew(count=1, submit=lambda batch: Future(), is_there=is_there, patience=0.01)

    with pytest.raises(WorkersLostError, match="nobody is left"):
        list(in_batches(doubled, ITEMS, Gone(1), few=0))
