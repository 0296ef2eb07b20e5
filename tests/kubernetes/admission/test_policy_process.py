"""Work that can be stopped: what one part does never keeps the others from being done."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolsmith.kubernetes.admission_run.process import Limits, Part, Stopped, run_stoppable

QUICK = Limits(step=0.5, blamed=1.0, whole=20.0)


def fine(tick):
    tick()
    return {"done": True}


def crashes(tick):
    ctypes.string_at(0)


def loops(tick):
    while True:
        pass


def never_ends(tick):
    while True:
        tick()
        time.sleep(0.01)


def grows(tick):
    held = []
    while True:
        held.append(b"x" * (64 << 20))
        tick()


def raises(tick):
    raise ValueError


def ends(tick):
    os._exit(0)


def speaks(tick):
    sys.stdout.write("never shown")
    sys.stdout.flush()
    return 1


def test_results_come_in_order():
    assert run_stoppable([Part(str(index), lambda tick, index=index: index) for index in range(100)]) == list(
        range(100)
    )


def test_nothing_to_do_is_nothing():
    assert run_stoppable([]) == []


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (crashes, "the engine crashed (SIGSEGV)"),
        (raises, "the engine gave up: internal error, ValueError at "),
        (ends, "the engine gave up"),
    ],
)
def test_whoever_is_to_blame_is_stopped_and_the_others_go_on(bad, why):
    parts = [Part("a", fine), Part("bad", bad), Part("b", fine), Part("bad", fine), Part("a", fine)]

    first, stopped, second, also, third = run_stoppable(parts, QUICK)

    assert first == second == third == {"done": True}
    assert isinstance(stopped, Stopped)
    assert stopped == also
    assert stopped.why.startswith(why)


@pytest.mark.parametrize(
    ("bad", "limits", "why"),
    [
        (loops, Limits(step=0.5, blamed=60.0, whole=120.0), "one evaluation took more than 0.5 seconds"),
        (never_ends, Limits(step=60.0, blamed=1.0, whole=120.0), "its evaluations took more than 1 seconds"),
    ],
)
def test_whoever_takes_too_long_is_told_which_limit_it_was(bad, limits, why):
    """One limit is near and the others are far: a busy machine can't reach two of them at once."""
    first, stopped, second = run_stoppable([Part("a", fine), Part("bad", bad), Part("b", fine)], limits)

    assert first == second == {"done": True}
    assert stopped == Stopped(why)


def test_memory_is_bounded():
    first, second = run_stoppable([Part("bad", grows), Part("a", fine)], Limits(memory=256 << 20))

    assert "memory" in first.why or "seconds" in first.why
    assert second == {"done": True}


@pytest.mark.deep("a whole run, 1.2 s; its parts have tests of their own")
def test_all_together_take_only_so_long():
    parts = [Part(str(index), loops) for index in range(50)] + [Part("a", fine)]
    start = time.monotonic()

    found = run_stoppable(parts, Limits(step=0.3, whole=1.0))

    assert time.monotonic() - start < 5
    assert found[-1] == Stopped("all policies together took more than 1 seconds")


def test_large_results_come_whole():
    text = "x" * 3_000_000

    assert run_stoppable([Part("a", lambda tick: text), Part("b", lambda tick: [text])]) == [text, [text]]


def test_the_child_shows_nothing(capfd):
    assert run_stoppable([Part("a", speaks)]) == [1]
    assert capfd.readouterr().out == ""


def held():
    """Open descriptors and children of this process."""
    own = Path("/proc/self")
    if not (own / "fd").is_dir():
        return None
    children = [child for task in (own / "task").iterdir() for child in (task / "children").read_text().split()]
    return len(list((own / "fd").iterdir())), sorted(children)


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_no_child_and_no_descriptor_is_left():
    before = held()

    run_stoppable([Part("bad", loops), Part("bad2", crashes), Part("a", fine)], QUICK)

    assert held() == before


SCRIPT = """
import os, sys
from poolsmith.kubernetes.admission_run.process import Part, run_stoppable
def loops(tick):
    with open(sys.argv[1], "w") as stream:
        stream.write(str(os.getpid()))
    while True:
        pass
run_stoppable([Part("bad", loops)])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent is gone")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_orphan_stays_when_the_run_is_ended(tmp_path, number):
    target = tmp_path / "pid"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(target)], stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 10
    while not (target.exists() and target.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int(target.read_text())

    process.send_signal(number)
    process.wait(10)

    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the child outlived its parent")


def test_it_works_in_a_worker_of_a_pool():
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(run_in_worker).get(60) == [{"done": True}]


def run_in_worker():
    from poolsmith.kubernetes.admission_run.process import Part, run_stoppable

    return run_stoppable([Part("a", lambda tick: {"done": True})])


def test_nobody_is_blamed_for_the_memory_that_another_has_left():
    held = []

    def hoards(tick):
        held.append(b"x" * (200 << 20))
        return "hoarded"

    def needs(tick):
        return len(b"x" * (200 << 20))

    parts = [Part("hoards", hoards), Part("needs", needs), Part("a", fine)]

    assert run_stoppable(parts, Limits(memory=300 << 20)) == ["hoarded", 200 << 20, {"done": True}]


def test_what_one_policy_says_is_bounded():
    parts = [Part("a", fine), *(Part("talks", lambda tick: "x" * 1_000_000) for _ in range(20)), Part("b", fine)]

    found = run_stoppable(parts, Limits(said=4 << 20))

    assert found[0] == found[-1] == {"done": True}
    assert found[1:-1] == [Stopped("its results are larger than 4 MiB")] * 20


SCRIBBLES = """
import os, sys
from poolsmith.kubernetes.admission_run.process import Part, Stopped, run_stoppable
def scribbles(tick):
    for descriptor in range(3, 60):
        try:
            os.write(descriptor, bytes.fromhex(sys.argv[1]))
        except OSError:
            pass
    os._exit(0)
def fine(tick):
    return 1
bad, first, second = run_stoppable([Part("bad", scribbles), Part("a", fine), Part("b", fine)])
print(isinstance(bad, Stopped), first, second)
"""


@pytest.mark.parametrize(
    "garbage",
    ["00" * 40, "ff" * 400, "01000000040000000000000000" + "7b" * 4, "00000000ff", "0000000001000000000000007b"],
)
def test_a_child_that_writes_anything_is_ended(garbage):
    done = subprocess.run(
        [sys.executable, "-c", SCRIBBLES, garbage], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.stdout, done.stderr) == ("True 1 1\n", "")
