"""A lint hook whose files have nothing to do with GPUs: told from their bytes, before a parser or a rule is loaded.

Most files that a hook names are of that kind. Whoever gives another flag, has a baseline, waivers or a terminal, or
names anything but plain files, is answered by the verb itself; a test holds both answers equal.
"""

from __future__ import annotations

import os
import stat
import sys

from poolsmith.gpu.catalog.stack_words import is_about_gpus

TYPE_CHECKING = False  # as in `main`: `typing` takes longer to load than the bytes to search
if TYPE_CHECKING:
    from collections.abc import Sequence

_CALL = ["check", "--hook"]
_ACCEPTING = ("policies/waivers.yaml", "policies/baseline.yaml", ".poolsmith-baseline.yaml")
"""What accepts findings: it is judged too, in a run that finds nothing."""
_SUMMARY = "checked 0 manifest files: 0 errors, 0 warnings, 0 notes, 0 waived, 0 not evaluated, 0 skipped\n"


def has_nothing_to_judge(arguments: Sequence[str]) -> bool:
    """Whether a hook is called for files without a word about GPUs; its report is printed then."""
    paths = files_of(arguments)
    if not paths or os.environ.get("GITHUB_ACTIONS") == "true" or sys.stdout.isatty():
        return False
    if any(map(os.path.lexists, _ACCEPTING)) or not all(map(_is_plain_and_silent, paths)):
        return False
    files = "1 file" if len(paths) == 1 else f"{len(paths):,} files"
    sys.stdout.write(f"0 of {files} may have to do with GPUs\n{_SUMMARY}")
    return True


def files_of(arguments: Sequence[str]) -> Sequence[str]:
    """The files of a hook without any other flag; none of another call."""
    rest = list(arguments[len(_CALL) :]) if arguments[: len(_CALL)] == _CALL else []
    if rest[:1] == ["--"]:
        return rest[1:]
    return () if any(item.startswith("-") for item in rest) else rest


def _is_plain_and_silent(path: str) -> bool:
    """Whether it is a file below, without a link on the way, and with nothing about GPUs in its name or its bytes."""
    written = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
    try:
        if os.path.realpath(path) != written or not written.startswith(f"{os.getcwd()}{os.sep}"):  # noqa: PTH109 - speed
            return False
        if not stat.S_ISREG(os.lstat(path).st_mode) or is_about_gpus(os.fsencode(path)):
            return False
        with open(path, "rb") as file:  # noqa: PTH123 - for speed
            return not is_about_gpus(file.read())
    except (OSError, ValueError):
        return False
