"""A forked process that works through parts and can be killed at any moment.

What it writes is read with suspicion: whoever runs native code may write anything.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_HEAD = struct.Struct("<IQ")
_MARK = struct.Struct("<QQ")
_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 16
_USER_TICKS = 11
"""Place of `utime` in /proc/PID/stat after the name; `stime` follows (proc_pid_stat(5))."""
_DEATH_SIGNAL = 1
_BUG = 0xFFFF_FFFF
"""In the place of a part's index: what follows tells where a bug is."""

GAVE_UP, NO_MEMORY, TOO_DEEP = 1, 2, 3


@record
class Limits:
    """Seconds and bytes. `step`: between two signs of life, in processor time; `blamed`: all parts of one policy;
    `whole`: all of them.

    `memory` is what the process may grow by, `said` the most bytes of all results of one policy. `left` are the seconds
    that are left of `whole`, where others were before.
    """

    step: float = 5.0
    blamed: float = 30.0
    whole: float = 120.0
    memory: int = 1 << 29
    said: int = 1 << 25
    left: float | None = None

    @property
    def is_used_up(self) -> bool:
        return self.left is not None and self.left <= 0


@record(kw_only=False)
class Part:
    """`run` is called with a function that it calls for each small step, and returns something that JSON can say."""

    blame: str
    run: Callable[[Callable[[], None]], Any]


class Child:
    """A forked process that works through parts. Each result is a head (part, length) and JSON.

    With `more`, it stays when it is done, and makes of each letter that it is given the parts that it does next.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        todo: list[int],
        limits: Limits,
        more: Callable[[bytes], Sequence[Part]] | None = None,
    ) -> None:
        self._shared = mmap.mmap(-1, _MARK.size)
        self._expect(todo, len(parts))
        self._reader, writer = os.pipe()
        pipe: tuple[int | None, int | None] = os.pipe() if more is not None else (None, None)
        letters, self._letters = pipe
        self._buffer = bytearray()
        self._status: int | None = None
        self.letters = 0
        self.ended = False
        self.bug = ""
        sys.stdout.flush()
        sys.stderr.flush()
        with _deaf():
            self._pid = os.fork()
            if self._pid == 0:
                _close(self._reader, self._letters)
                _work(_all_work(parts, todo, letters, more), limits, writer, self._shared)
        _close(writer, letters)

    def _expect(self, todo: list[int], parts: int) -> None:
        self._todo = set(todo)
        self._parts = parts
        self.first = todo[0]
        _MARK.pack_into(self._shared, 0, self.first, 0)

    @property
    def finished(self) -> bool:
        """Whether it came to the end of its parts."""
        return not self._todo

    @property
    def waits(self) -> bool:
        """Whether it is done with its parts, and waits for a letter."""
        return self.finished and not self.ended and not self._buffer and self._letters is not None

    def give(self, letter: bytes, parts: int, seconds: float) -> bool:
        """More to do, to one that waits: so many parts. False: it did not take the letter, and is of no use."""
        if self._letters is None or select.select([self._reader], [], [], 0)[0]:
            return False
        self.letters += 1
        self._expect(list(range(parts)), parts)
        until = time.monotonic() + seconds
        view = memoryview(_LENGTH.pack(len(letter)) + letter)
        os.set_blocking(self._letters, False)
        while view:
            _, ready, _ = select.select([], [self._letters], [], max(0.0, until - time.monotonic()))
            if not ready:
                return False
            try:
                view = view[os.write(self._letters, view) :]
            except OSError:
                return False
        return True

    def mark(self) -> tuple[int, int]:
        """The part at work, and its last step."""
        part, step = _MARK.unpack_from(self._shared, 0)
        return (part if part < self._parts else self.first), step

    def busy(self) -> float:
        """Processor seconds that it has used so far: a machine with much else to do is nobody's fault.

        Where the system does not say (macOS), what the clock says.
        """
        try:
            fields = Path(f"/proc/{self._pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
            return (int(fields[_USER_TICKS]) + int(fields[_USER_TICKS + 1])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return time.monotonic()

    @property
    def unread(self) -> int:
        """Bytes of a result that is not complete."""
        return len(self._buffer)

    def read(self, seconds: float) -> Iterator[tuple[int, Any, int]]:
        """Results that have come, with their length; waits for the first at most so long.

        What is no result of an open part ends it: whoever runs native code may write anything.
        """
        ready, _, _ = select.select([self._reader], [], [], seconds)
        if not ready:
            return
        piece = os.read(self._reader, _CHUNK)
        if not piece:
            self.ended = True
            return
        self._buffer += piece
        while len(self._buffer) >= _HEAD.size:
            index, length = _HEAD.unpack_from(self._buffer)
            if len(self._buffer) < _HEAD.size + length:
                return
            body = bytes(self._buffer[_HEAD.size : _HEAD.size + length])
            del self._buffer[: _HEAD.size + length]
            try:
                result = json.loads(body)
            except ValueError:
                index = -1
            if index == _BUG:
                self.bug = str(result)
            elif index in self._todo:
                self._todo.discard(index)
                yield index, result, length
            else:
                self.ended = True
                return

    def kill(self) -> None:
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self.wait()

    def wait(self) -> int:
        if self._status is None:
            with contextlib.suppress(ChildProcessError):
                _, self._status = os.waitpid(self._pid, 0)
        return self._status or 0

    def close(self) -> None:
        self.kill()
        _close(self._reader, self._letters)
        self._shared.close()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """No interrupt between the fork and the child's own decision to ignore it, and no warning of threads.

    NOTE: Python warns of a fork beside threads, for the child may wait for a lock that one of them holds; this child
    is watched, and stopped if it does.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _close(*descriptors: int | None) -> None:
    for descriptor in descriptors:
        if descriptor is not None:
            os.close(descriptor)


def _all_work(
    parts: Sequence[Part], todo: list[int], letters: int | None, more: Callable[[bytes], Sequence[Part]] | None
) -> Iterator[tuple[int, Part]]:
    """The parts with their indices, and then those of each letter."""
    yield from ((index, parts[index]) for index in todo)
    if letters is None or more is None:
        return
    with os.fdopen(letters, "rb") as stream:
        while head := stream.read(_LENGTH.size):
            yield from enumerate(more(stream.read(*_LENGTH.unpack(head))))


def _work(work: Iterator[tuple[int, Part]], limits: Limits, writer: int, shared: mmap.mmap) -> None:
    """The child. Never returns, and shows nothing: whatever happens, the parent sees where."""
    code = GAVE_UP
    try:
        _settle(limits)
        for index, part in work:
            _limit_time(limits)
            _MARK.pack_into(shared, 0, index, 0)
            _write(writer, _framed(index, part.run(_ticker(shared, index))))
        code = 0
    except MemoryError:
        code = NO_MEMORY
    except RecursionError:
        code = TOO_DEEP
    except Exception as error:  # noqa: BLE001 - a bug is told, and the other policies go on
        _write(writer, _framed(_BUG, _place(error)))
    finally:
        os._exit(code)


def _framed(index: int, result: Any) -> bytes:
    body = json.dumps(result, separators=(",", ":")).encode()
    return _HEAD.pack(index, len(body)) + body


def _place(error: Exception) -> str:
    """Where a bug is, for a report; never the user's data."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename.rpartition('poolsmith/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


def _ticker(shared: mmap.mmap, index: int) -> Callable[[], None]:
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        _MARK.pack_into(shared, 0, index, count)

    return tick


def _settle(limits: Limits) -> None:
    """Ends with its parent, ignores Ctrl-C (the parent acts on it), leaves no core, is bounded in memory."""
    import resource  # on demand

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    gc.disable()
    faulthandler.disable()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.stdout = sys.stderr = os.fdopen(silent, "w", encoding="utf-8")
    _die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    size = _own_size()
    if size is not None:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (size + limits.memory, size + limits.memory))


def _limit_time(limits: Limits) -> None:
    """Processor time of one part, in case that nobody is left to look at the clock."""
    import resource  # on demand

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + limits.blamed) + 1
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))


def _die_with_parent() -> None:
    """Linux only; elsewhere a child whose parent is killed ends at its next result or by its processor time."""
    if sys.platform != "linux":
        return
    import ctypes  # on demand

    parent = os.getppid()
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _own_size() -> int | None:
    """Bytes of address space in use."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[0]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _write(writer: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(writer, view) :]
