"""Generated folders: what is in them, and replacing one as a whole.

A folder is replaced by staging its successor beside it and swapping the two, in one step where the system can. A reader
sees the old folder or the new one. Files that are not ours move along untouched (as hard links, so they keep their
identity), and so do generated files whose bytes stay the same: a link costs a fraction of a new file. The old folder
goes with the swap, and each file is in one place again. A run that was killed leaves a `.poolsmith-*` folder behind;
`recover` cleans it up.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import WriteError
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path


_AT_FDCWD_LINUX, _RENAME_EXCHANGE = -100, 2
_AT_FDCWD_DARWIN, _RENAME_SWAP = -2, 2
_UNSUPPORTED = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM))


def exchange(left: Path, right: Path) -> bool:
    """Swap two existing paths atomically. False when the system or the file system can't.

    Raises OSError for anything else. Linux: renameat2(RENAME_EXCHANGE); macOS: renameatx_np(RENAME_SWAP).
    """
    call = _system_call()
    if call is None:
        return False
    if call(os.fsencode(left), os.fsencode(right)) == 0:
        return True
    import ctypes  # only a run that replaces a folder needs it

    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(left), None, str(right))


@cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    import ctypes  # as above

    library = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else None
    for name, folder, flag in (
        ("renameat2", _AT_FDCWD_LINUX, _RENAME_EXCHANGE),
        ("renameatx_np", _AT_FDCWD_DARWIN, _RENAME_SWAP),
    ):
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            function.restype = ctypes.c_int
            return partial(_rename, function, folder, flag)
    return None


def _rename(function: Callable[..., int], folder: int, flag: int, left: bytes, right: bytes) -> int:
    return function(folder, left, folder, right, flag)


MAX_GENERATED_BYTES = 32 << 20
MAX_OTHER_BYTES = 1 << 20
MAX_FILES = 20_000
MAX_FOLDERS = 32
_SHOWN = 60
_OF_ATTEMPT = "~"
"""Ends the name of a folder in the name of its successor; what follows is chosen anew for each attempt."""
_LINKED = 2
"""Names of a file that stands in a folder and in its successor."""
_NOTHING: Mapping[str, bytes | None] = MappingProxyType({})
_Nature = tuple[int, int, int, int]
STAGE, OLD, JOURNAL = ".poolsmith-stage-", ".poolsmith-old-", ".poolsmith-swap-"


@record(kw_only=False)
class Staged:
    """The successor of `target`, complete and not yet in place. `path` is None for a removal."""

    target: Path
    path: Path | None

    def commit(self) -> None:
        """Put the successor in place. Raises WriteError; the old folder then still stands."""
        try:
            _swap(self.target, self.path)
        except OSError as error:
            self.discard()
            raise WriteError(_sentence("write", self.target, error)) from error

    def discard(self) -> None:
        if self.path is not None:
            _remove(self.path)


def read_files(folder: Path, known: Collection[str] = ()) -> dict[str, bytes | None]:
    """Every file below `folder` by its relative path; None for what is not a regular file.

    Files that are not `known` to be generated are read under the limit of profiles. Raises OSError, also for what
    exceeds a limit.
    """
    from poolsmith.core.sources.input_tree import content_of  # on demand

    found: dict[str, bytes | None] = {}
    start = f"{folder}/"
    for path, mode in _walk(folder):
        if stat.S_ISREG(mode):
            limit = MAX_GENERATED_BYTES if path in known else MAX_OTHER_BYTES
            content = content_of(start + path, limit + 1)
            if len(content) > limit:
                raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", path)
            if len(found) >= MAX_FILES:
                raise OSError(errno.EFBIG, f"more than {MAX_FILES:,} files in one folder of the output", path)
            found[path] = content
        else:
            found[path] = None
    return found


def files_below(folder: Path) -> list[str]:
    """Their relative paths, links among them. Raises OSError."""
    return [path for path, _ in _walk(folder)]


def stage(
    target: Path, files: Mapping[str, bytes], owned: Collection[str], present: Mapping[str, bytes | None] = _NOTHING
) -> Staged:
    """Write the successor of `target` beside it: `files`, plus what stands there and is not `owned`.

    `present` is what was read there: files that stay as they are need not be written again.

    Two attempts at the same folder never meet: one may have been given up for lost, and still write. Raises WriteError,
    and leaves nothing behind.
    """
    staging = target.parent / f"{STAGE}{target.name}{_OF_ATTEMPT}{os.urandom(6).hex()}"
    if outside := next((path for path in files if not _is_below(path)), None):
        raise WriteError(f"nothing was written: `{printable(outside)[:_SHOWN]}` is no path of a file in a folder")
    try:
        keep = _foreign(target, {*files, *owned})
        if not files and not keep:
            return Staged(target, None)
        staging.mkdir(parents=True)
        _fill(staging, target, files, keep, () if target.is_symlink() else _unchanged(files, present))
    except OSError as error:
        _remove(staging)
        raise WriteError(_sentence("write", target, error)) from error
    except BaseException:  # Ctrl-C: leave nothing behind
        _remove(staging)
        raise
    return Staged(target, staging)


def _is_below(path: str) -> bool:
    """Whether it leads to a place below the folder that it is joined to, whatever that folder is."""
    return "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def recover(parent: Path) -> tuple[str, ...]:
    """Finish or roll back what a killed run left in `parent`; the names of the folders concerned."""
    try:
        names = sorted(entry.name for entry in parent.iterdir())
    except FileNotFoundError:
        return ()
    touched: list[str] = []
    try:
        for name in names:
            if name.startswith(JOURNAL):
                touched.append(name.removeprefix(JOURNAL))
                _finish_swap(parent, touched[-1])
        for name in names:
            for prefix in (STAGE, OLD):
                if name.startswith(prefix):
                    touched.append(name.removeprefix(prefix).partition(_OF_ATTEMPT)[0])
                    _remove(parent / name)
    except OSError as error:
        raise WriteError(_sentence("recover", parent, error)) from error
    return tuple(dict.fromkeys(touched))


def is_interrupted(parent: Path) -> bool:
    """Whether a killed run left something in `parent` that only writing can clean up."""
    try:
        return any(entry.name.startswith((STAGE, OLD, JOURNAL)) for entry in parent.iterdir())
    except OSError:
        return False


def _walk(folder: Path) -> list[tuple[str, int]]:
    """Relative paths and modes of everything below `folder` that is not a folder; links not followed."""
    found: list[tuple[str, int]] = []
    pending = [""]
    while pending:
        below = pending.pop()
        with os.scandir(os.path.join(folder, below) if below else folder) as entries:
            for entry in entries:
                path = f"{below}/{entry.name}" if below else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if path.count("/") >= MAX_FOLDERS:
                        raise OSError(errno.ENAMETOOLONG, f"nested deeper than {MAX_FOLDERS} folders", path[:_SHOWN])
                    pending.append(path)
                else:
                    mode = stat.S_IFREG if entry.is_file(follow_symlinks=False) else stat.S_IFLNK
                    found.append((path, mode))
    return found


def _foreign(target: Path, ours: set[str]) -> list[str]:
    if not os.path.lexists(target):
        return []
    return [path for path, _ in _walk(target) if path not in ours]


def _unchanged(files: Mapping[str, bytes], present: Mapping[str, bytes | None]) -> frozenset[str]:
    return frozenset(path for path, content in files.items() if present.get(path) == content)


def _fill(staging: Path, target: Path, files: Mapping[str, bytes], keep: list[str], unchanged: Collection[str]) -> None:
    old, new = f"{target}/", f"{staging}/"  # strings, for speed: a fleet has thousands of files
    made: set[str] = {""}

    def make_parent(path: str) -> None:
        folder = path.rpartition("/")[0]
        if folder not in made:
            make_parent(folder)
            os.mkdir(new + folder)
            made.add(folder)

    nature: _Nature | None = None
    for path in sorted(files, key=unchanged.__contains__):
        make_parent(path)
        if nature is not None and path in unchanged and _link(old + path, new + path, files[path], nature):
            continue
        _write(new + path, files[path])
        if unchanged:
            nature = _nature(os.lstat(new + path))
    for path in keep:
        if path in files:
            continue
        make_parent(path)
        _carry(old + path, new + path)


def _nature(state: os.stat_result) -> _Nature:
    """All by which a file that was just written differs from others, but for its bytes and times."""
    return state.st_mode, state.st_uid, state.st_gid, state.st_dev


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def _link(source: str, destination: str, content: bytes, new: _Nature) -> bool:
    """The very same file under its new parent, where nothing tells it from one that would be written.

    False: nothing was made. A file with another name elsewhere is left to that: whoever edits the one does not mean the
    other. What was linked is read again, for somebody may have put something else there.
    """
    try:
        state = os.lstat(source)
        if state.st_nlink != 1 or _nature(state) != new:
            return False
        os.link(source, destination, follow_symlinks=False)
    except OSError:
        return False
    if _is(destination, content):
        return True
    os.unlink(destination)
    return False


def _is(path: str, content: bytes) -> bool:
    """Whether a file that was just linked has the content, and one other name."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return False
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        return os.fstat(descriptor).st_nlink == _LINKED and stream.read(len(content) + 1) == content


def _carry(source: str, destination: str) -> None:
    """The very same file under its new parent; where the file system has no links, a copy."""
    try:
        os.link(source, destination, follow_symlinks=False)
    except FileExistsError:  # a generated file or folder is in the way
        raise
    except OSError:
        import shutil  # it loads four compression libraries

        shutil.copy2(source, destination, follow_symlinks=False)


def _swap(target: Path, staging: Path | None) -> None:
    parent, name = target.parent, target.name
    old = parent / f"{OLD}{name}"
    if staging is None:
        _remove(old)
        if os.path.lexists(target):
            target.rename(old)
            _remove(old)
        return
    if not os.path.lexists(target):
        staging.rename(target)
        return
    if exchange(target, staging):
        _remove(staging)
        return
    _swap_in_two_steps(target, staging, old)


def _swap_in_two_steps(target: Path, staging: Path, old: Path) -> None:
    """Without an atomic exchange: a journal tells the next run which way to go."""
    journal = target.parent / f"{JOURNAL}{target.name}"
    _remove(old)
    journal.write_bytes(b"")
    try:
        staging = staging.rename(target.parent / f"{STAGE}{target.name}")  # by which the journal finds it
        target.rename(old)
        staging.rename(target)
    except OSError:
        if not os.path.lexists(target):
            old.rename(target)
        _remove(staging)
        raise
    finally:
        _finish_swap(target.parent, target.name)


def _finish_swap(parent: Path, name: str) -> None:
    """Whatever point a two-step swap was stopped at: the target is the new folder, else the old one."""
    target = parent / name
    staging, old, journal = parent / f"{STAGE}{name}", parent / f"{OLD}{name}", parent / f"{JOURNAL}{name}"
    if not os.path.lexists(target):
        if os.path.lexists(staging):
            staging.rename(target)
        elif os.path.lexists(old):
            old.rename(target)
    _remove(old)
    _remove(journal)


def _remove(path: Path) -> None:
    """As far as it goes: what stays behind is hidden, and the next run tries again."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        import shutil  # as above

        shutil.rmtree(path, ignore_errors=True)


def _sentence(verb: str, path: Path, error: OSError) -> str:
    where = error.filename2 or error.filename or path
    return f"can't {verb} {path}: {error.strerror or error} ({os.fsdecode(where)}); nothing there was changed"
