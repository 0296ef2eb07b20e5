"""Use case: the report of a run as files, beside what it prints: where they may be written, and how."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError, WriteError
from poolsmith.core.diagnostics.message_text import joined, printable
from poolsmith.core.record import record
from poolsmith.interface.report.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_OURS = ("profiles", "policies", "output", ".git")
"""Folders of a project in which no report is written: what is read, generated or git's own."""
_NO_REPORTS = (".yaml", ".yml")
_STANDARD_OUTPUT = "-"


@record(kw_only=False)
class ReportFile:
    """A file that is to be written; `path` is absolute."""

    format: str
    path: str


ENDINGS = {name: item.ending for name, item in FORMATS.items() if item.ending} | {"csv": ".csv", "yaml": ".yaml"}
"""Of files, by the format: of reports with findings, and of those that only some verbs have."""


def report_files(root: Path, wanted: Sequence[str], known: Sequence[str]) -> tuple[ReportFile, ...]:
    """What `[FORMAT=]PATH` say, checked before anything else is done: nothing is written where it may not be.

    `known` are the formats that there are. Raises UsageError.
    """
    files = tuple(_report_file(root, text, known) for text in wanted)
    if len({file.path for file in files}) < len(files):
        raise UsageError("--output names one file twice")
    return files


def write_reports(root: Path, files: Sequence[ReportFile], text_of: Callable[[str], str]) -> None:
    """Each file as a whole, or not at all; `text_of` makes the text of a format. Raises UsageError, WriteError."""
    for file in files:
        text = text_of(file.format)
        _refuse(root, file.path, file.path)
        try:
            _replace(file.path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise WriteError(f"--output {file.path} can't be written: {error.strerror or error}") from error


def _report_file(root: Path, text: str, known: Sequence[str]) -> ReportFile:
    name, path = _named(text, known)
    if not path or path == _STANDARD_OUTPUT:
        raise UsageError("--output takes the path of a file; what goes to standard output, --format says")
    if not name:
        by_ending = {ENDINGS[one]: one for one in known if one in ENDINGS}
        ending = next((one for one in by_ending if path.lower().endswith(one)), None)
        if ending is None:
            endings = joined([f"`{one}`" for one in by_ending], len(by_ending))
            raise UsageError(
                f"--output {printable(path)}: no format has this ending; there are {endings}. Else write FORMAT=PATH"
            )
        name = by_ending[ending]
    absolute = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
    _refuse(root, absolute, path)
    return ReportFile(name, absolute)


def _named(text: str, known: Sequence[str]) -> tuple[str, str]:
    """Format and path. `=` may stand in a path too, after a slash or a dot."""
    name, equals, path = text.partition("=")
    if not equals or not name.isalnum():
        return "", text
    if name not in known:
        shown = joined([f"`{one}`" for one in known], len(known))
        raise UsageError(f"--output: `{printable(name)}` is no format; there are {shown}")
    return name, path


def _refuse(root: Path, path: str, shown: str) -> None:
    """Raises UsageError where no report may be written."""
    said = f"--output {printable(shown)}"
    _refuse_odd(root, path, said)
    _refuse_ours(root, os.path.dirname(path), said)  # noqa: PTH120
    if path.lower().endswith(_NO_REPORTS) and os.path.exists(path):  # noqa: PTH110
        raise UsageError(f"{said} is a YAML file, and no report; nothing is written there")


def refuse_place(root: Path, folder: str, said: str) -> None:
    """Raises UsageError where no folder of reports may be: in what is generated or judged, or behind a link."""
    path = os.path.abspath(folder)  # noqa: PTH100 - resolve() would follow links
    _refuse_links(root, path, said)
    top = os.path.realpath(root)
    first, *_ = Path(os.path.relpath(os.path.realpath(path), top)).parts or (os.curdir,)
    if first == os.curdir:
        raise UsageError(f"{said} is the project itself; choose another folder")
    if first in _OURS:  # it need not be there yet
        raise UsageError(f"{said} is in {first}/, which holds no reports; choose another folder")
    _refuse_ours(root, path, said)


def _refuse_ours(root: Path, folder: str, said: str) -> None:
    ours = {(state.st_dev, state.st_ino): name for name in _OURS if (state := _state(os.path.join(root, name)))}  # noqa: PTH118
    for parent in _with_parents(os.path.realpath(folder)):
        state = _state(parent)
        if state is not None and (name := ours.get((state.st_dev, state.st_ino))) is not None:
            raise UsageError(f"{said} is in {name}/, which holds no reports; choose another folder")


def _refuse_odd(root: Path, path: str, said: str) -> None:
    """Raises UsageError for what is no regular file, or would be reached by a link."""
    folder = os.path.dirname(path)  # noqa: PTH120
    if not os.path.isdir(folder):  # noqa: PTH112
        raise UsageError(f"{said}: there is no folder {printable(folder)}")
    _refuse_links(root, path, said)
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise UsageError(f"{said}: {getattr(error, 'strerror', None) or error}") from error
    else:
        if not stat.S_ISREG(mode):
            raise UsageError(f"{said} is no regular file; nothing is written there")


def replace_file(root: Path, path: str, content: bytes, flag: str) -> None:
    """A file that a flag asks for, as a whole or not at all. `path` is absolute. Raises UsageError, WriteError."""
    said = f"{flag} {printable(path)}"
    _refuse_odd(root, path, said)
    try:
        _replace(path, content)
    except OSError as error:
        raise WriteError(f"{said} can't be written: {error.strerror or error}") from error


def _refuse_links(root: Path, path: str, said: str) -> None:
    """The file is no link; and no folder of the project or of the current folder on its way: whoever may commit a link
    would choose what is overwritten. What links lead to these folders is the user's own business."""
    if os.path.islink(path):  # noqa: PTH114
        raise UsageError(f"{said} is a symbolic link; nothing is written through it")
    tops = {os.path.abspath(root), os.getcwd()}  # noqa: PTH100, PTH109
    parents = list(_with_parents(os.path.dirname(path)))  # noqa: PTH120
    for top in tops:
        if top in parents:
            for parent in parents[: parents.index(top)]:
                if os.path.islink(parent):  # noqa: PTH114
                    raise UsageError(f"{said}: {printable(parent)} is a symbolic link; nothing is written through it")


def _with_parents(folder: str) -> Iterator[str]:
    """A folder and those that it is in, the innermost first."""
    while True:
        yield folder
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            return
        folder = parent


def _state(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None


def _replace(path: str, content: bytes) -> None:
    """Beside it first, then in its place, with the rights that a new file gets."""
    folder, name = os.path.split(path)
    staged = os.path.join(folder, f".{name[:64]}.{os.getpid()}.tmp")  # noqa: PTH118
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(staged, path)  # noqa: PTH105
    except BaseException:
        os.unlink(staged)  # noqa: PTH108
        raise
