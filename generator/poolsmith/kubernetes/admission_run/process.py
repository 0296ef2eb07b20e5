"""Evaluation in a process that can be stopped: the engine is native code, and what it is fed may be hostile.

The work is a list of parts, each to be blamed on somebody (a policy). They run one after the other in a forked child
with limits on memory and time. When a child crashes, hangs or grows too large, whoever is to blame for the part at work
is stopped, all of its parts count as not done, and a new child goes on with the others. Only JSON comes back.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.admission_run.child import GAVE_UP, NO_MEMORY, TOO_DEEP, Child, Limits, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_POLL = 0.2
_MOST_LETTERS = 50
"""So often a child is given more: it never looks for cycles of what it has made."""
_WHY = {GAVE_UP: "gave up", NO_MEMORY: "ran out of memory", TOO_DEEP: "found something nested too deeply"}
LIMITS = Limits()

__all__ = ["LIMITS", "Limits", "Part", "Standby", "Stopped", "Supervisor", "run_stoppable", "too_late"]


@record(kw_only=False)
class Stopped:
    """In the place of a result: why there is none."""

    why: str


def run_stoppable(parts: Sequence[Part], limits: Limits = LIMITS) -> list[Any]:
    """The result of each part in order, or Stopped. The first exception of a part's own is one of the reasons."""
    with contextlib.closing(Supervisor(parts, limits)) as supervisor:
        return supervisor.results()


def too_late(limits: Limits) -> str:
    return f"all policies together took more than {limits.whole:g} seconds"


class Standby:
    """A child that is kept for what comes next, with what it has made so far. It has to be closed.

    `more` makes in the child, of a letter, the parts that it is to do. It is no better trusted than a new one, and
    nobody is blamed for what earlier work has left in it: whatever it does not finish, a new child tries again.
    """

    def __init__(self, more: Callable[[bytes], Sequence[Part]]) -> None:
        self._more = more
        self._child: Child | None = None

    def start(self, parts: Sequence[Part], limits: Limits, letter: Callable[[], bytes]) -> Child:
        """A child that does the parts, which the letter tells to one that was kept."""
        kept, self._child = self._child, None
        if kept is not None:
            if kept.give(letter(), len(parts), limits.step):
                return kept
            kept.close()
        return self.new(parts, list(range(len(parts))), limits)

    def new(self, parts: Sequence[Part], todo: list[int], limits: Limits) -> Child:
        return Child(parts, todo, limits, self._more)

    def take(self, child: Child) -> None:
        """From whoever needs it no more."""
        if self._child is None and child.waits and child.letters < _MOST_LETTERS:
            self._child = child
        else:
            child.close()

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


class Supervisor:
    """Starts the work at once, and looks after it when its results are wanted: meanwhile others can do theirs.

    With a `standby`, by the child that it has; `letter` says the parts to that.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        limits: Limits,
        standby: Standby | None = None,
        letter: Callable[[], bytes] = bytes,
    ) -> None:
        self.parts = parts
        self.limits = limits
        self._standby = standby
        self.found: dict[int, Any] = {}
        self.stopped: dict[str, Stopped] = {}
        self.spent: dict[str, float] = {}
        self.said: dict[str, int] = {}
        self.suspect: int | None = None
        self.until = time.monotonic() + (limits.whole if limits.left is None else limits.left)
        self._started: Child | None = None
        if parts and standby is not None:
            self._started = standby.start(parts, limits, letter)
        elif parts:
            self._started = self._new(list(range(len(parts))))

    def close(self) -> None:
        """Whoever wants no results ends what works on them."""
        if self._started is not None:
            self._started.close()
            self._started = None

    def results(self) -> list[Any]:
        """Of each part in order, or Stopped."""
        while todo := self._todo():
            if time.monotonic() >= self.until:
                late = Stopped(too_late(self.limits))
                self.stopped.update((self.parts[index].blame, late) for index in todo)
                break
            self._run_child(todo)
        return [
            self.stopped[part.blame] if part.blame in self.stopped else self.found[index]
            for index, part in enumerate(self.parts)
        ]

    def _todo(self) -> list[int]:
        """What is open; the suspect first, so that nothing else has been done in its process."""
        open_ = [
            index for index, part in enumerate(self.parts) if index not in self.found and part.blame not in self.stopped
        ]
        return sorted(open_, key=lambda index: index != self.suspect)

    def _run_child(self, todo: list[int]) -> None:
        started, self._started = self._started, None
        child = started or self._new(todo)
        try:
            self._follow(child)
        finally:
            child.close() if self._standby is None else self._standby.take(child)

    def _new(self, todo: list[int]) -> Child:
        if self._standby is not None:
            return self._standby.new(self.parts, todo, self.limits)
        return Child(self.parts, todo, self.limits)

    def _follow(self, child: Child) -> None:
        """Take results until the child has ended, or somebody has to be stopped."""
        last = child.mark()
        since: float | None = None
        started = time.monotonic()
        while True:
            for index, result, length in child.read(_POLL):
                self.found[index] = result
                now = time.monotonic()
                self._spend(self.parts[index].blame, now - started, length)
                started = now
            now, mark = time.monotonic(), child.mark()
            if mark != last:
                last, since = mark, None
            elif since is None:  # it is slow: from now on its time is counted
                since = child.busy()
            if child.ended or child.waits:
                break
            at_work = self.parts[mark[0]].blame
            if since is not None and child.busy() - since > self.limits.step:
                self._stop(child, at_work, f"one evaluation took more than {self.limits.step:g} seconds")
                return
            if self.spent.get(at_work, 0.0) + now - started > self.limits.blamed:
                self._stop(child, at_work, f"its evaluations took more than {self.limits.blamed:g} seconds")
                return
            if self.said.get(at_work, 0) + child.unread > self.limits.said:
                self._stop(child, at_work, f"its results are larger than {self.limits.said >> 20} MiB")
                return
            if now >= self.until:
                child.kill()
                return
        if not child.finished:
            self._blame_for_end(child)

    def _spend(self, blame: str, seconds: float, said: int) -> None:
        self.spent[blame] = self.spent.get(blame, 0.0) + seconds
        self.said[blame] = self.said.get(blame, 0) + said

    def _stop(self, child: Child, blame: str, why: str) -> None:
        child.kill()
        self.stopped[blame] = Stopped(why)

    def _blame_for_end(self, child: Child) -> None:
        """Whoever was at work, unless what came before may have left too little memory: then it is tried alone."""
        at_work = child.mark()[0]
        if at_work != child.first or child.letters:
            self.suspect = at_work
            return
        status = child.wait()
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
            why = "took too much processor time" if number == signal.SIGXCPU else f"crashed ({name})"
        elif child.bug:
            why = f"gave up: internal error, {child.bug}"
        else:
            why = _WHY.get(os.WEXITSTATUS(status), _WHY[GAVE_UP])
        self.stopped.setdefault(self.parts[at_work].blame, Stopped(f"the engine {why}"))


class Budget:
    """Seconds to begin with, and those that each use adds: honest policies need less than that."""

    def __init__(self, seconds: float = LIMITS.whole, each: float = 1.0) -> None:
        self._left = seconds
        self._each = each
        self._start = 0.0

    @contextlib.contextmanager
    def limits(self) -> Iterator[Limits]:
        """The limits of one use. What it takes is gone for the next."""
        try:
            yield self.begin()
        finally:
            self.end()

    def begin(self) -> Limits:
        """The same for a use that goes on meanwhile; it has to end."""
        self._left += self._each
        self._start = time.monotonic()
        return replace(LIMITS, left=max(0.0, min(LIMITS.whole, self._left)))

    def end(self) -> None:
        self._left -= time.monotonic() - self._start
