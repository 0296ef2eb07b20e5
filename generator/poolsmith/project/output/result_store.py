"""Results of earlier runs, in a folder of the user's own outside of every repository.

An entry is a file with a checksum. What is torn, foreign, writable by others or of an unknown kind is as good as not
there; a store that can't be written is never an error. Python's own pickles are used, for nobody but the user can
write them (as with `__pycache__`), and only classes of poolsmith are made from them.
"""

from __future__ import annotations

import os
import stat
import time
from _pickle import Unpickler, UnpicklingError, dumps  # what pickle gives, without loading its part in Python
from contextlib import suppress
from io import BytesIO
from typing import Any

from poolsmith.core.record import record

MOST_BYTES = 64 << 20
"""Of a whole store; the oldest entries go first."""
MOST_OF_ENTRY = 32 << 20
_MAGIC = b"poolsmith result 1\n"
_CHECKSUM = 32
_WRITABLE_BY_OTHERS = 0o022
_ENDING = ".result"
_PACKAGE = "poolsmith."


@record(kw_only=False)
class ResultStore:
    """A folder that belongs to this user alone."""

    folder: str

    def read(self, name: str) -> Any:
        """What was written under a name, or None."""
        content = self._content(name)
        if content is None or not content.startswith(_MAGIC):
            return None
        body = content[len(_MAGIC) + _CHECKSUM :]
        if content[len(_MAGIC) : len(_MAGIC) + _CHECKSUM] != _checksum(body):
            return None
        try:
            return _Unpickler(BytesIO(body)).load()
        except Exception:  # noqa: BLE001 - an entry of other code than this; there is nothing to tell about it
            return None

    def write(self, name: str, value: Any) -> None:
        """Put it there as a whole, or not at all."""
        body = dumps(value, protocol=5)
        if len(body) > MOST_OF_ENTRY:
            return
        with suppress(OSError):
            if not _is_private(os.lstat(self.folder), stat.S_ISDIR):
                return
            path = f"{self.folder}/.{os.getpid()}-{time.monotonic_ns()}{_ENDING}"
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(_MAGIC + _checksum(body) + body)
                os.replace(path, self._path(name))  # noqa: PTH105 - strings here, for speed
            except BaseException:
                with suppress(OSError):
                    os.unlink(path)  # noqa: PTH108
                raise
            self._make_room()

    def _content(self, name: str) -> bytes | None:
        try:
            if not _is_private(os.lstat(self.folder), stat.S_ISDIR):
                return None
            descriptor = os.open(self._path(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            state = os.fstat(descriptor)
            if not _is_private(state, stat.S_ISREG) or state.st_size > MOST_OF_ENTRY + 1024:
                return None
            return _all_of(descriptor, state.st_size)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def _path(self, name: str) -> str:
        return f"{self.folder}/{name}{_ENDING}"

    def _make_room(self) -> None:
        found = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(_ENDING):
                    with suppress(OSError):
                        state = entry.stat(follow_symlinks=False)
                        found.append((state.st_mtime_ns, state.st_size, entry.path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= MOST_BYTES:
                return
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108
            total -= size


def open_store(folder: str) -> ResultStore | None:
    """The store in a folder, which is made where it is not there; None where it can't be one of this user's alone."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        return ResultStore(folder) if _is_private(os.lstat(folder), stat.S_ISDIR) else None
    except (OSError, ValueError):
        return None


def _is_private(state: os.stat_result, is_kind: Any) -> bool:
    return bool(is_kind(state.st_mode)) and state.st_uid == os.geteuid() and not state.st_mode & _WRITABLE_BY_OTHERS


def _all_of(descriptor: int, size: int) -> bytes:
    content = b""
    while len(content) < size and (piece := os.read(descriptor, size - len(content))):
        content += piece
    return content


class _Unpickler(Unpickler):
    """Makes nothing but poolsmith's own values."""

    def find_class(self, module: str, name: str) -> Any:
        if not module.startswith(_PACKAGE):
            raise UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def _checksum(body: bytes) -> bytes:
    from _blake2 import blake2b  # on demand

    return blake2b(body, digest_size=_CHECKSUM).digest()
