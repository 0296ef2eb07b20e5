"""Swap two folders in one step, where the system can."""

from __future__ import annotations

import errno
import os
import sys
from functools import cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
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
