"""Use case: what a commit would lack of the output. A hook sees what git tracks; new files it does not."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.sources.git import Git
from poolsmith.project.run.project import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from poolsmith.interface.app.results import GenerateResult

_FLAG = "--hook"


def to_be_added(root: Path, result: GenerateResult) -> Iterator[str]:
    """Sentences on what has to be added to the commit; none if it has all of the output. Raises UsageError."""
    if not result.written:
        return
    command = f"git add {shlex.quote((root / OUTPUT).as_posix())}"
    if not result.is_current:
        yield f"the output was generated again: look at it, run `{command}`, and commit again"
    elif unknown := _unknown(root):
        count = "a generated file is" if len(unknown) == 1 else f"{len(unknown)} generated files are"
        told = f"{count} not in git, such as {unknown[0]}"
        if line := _ignoring(root, unknown[0]):
            yield f"{told}: {line} keeps git from taking it. Take that line out, run `{command}`, and commit again"
        else:
            yield f"{told}: run `{command}`, and commit again"


def _ignoring(root: Path, path: str) -> str:
    """The line of a file by which git ignores a path; empty where none does."""
    asked = ("check-ignore", "--verbose", "--stdin", "-z")
    answer = Git(root, _FLAG).run(*asked, may_fail=True, given=os.fsencode(path)).stdout
    source, line, rule, *_ = (*answer.decode("utf-8", "replace").split("\0"), "", "")
    return f"line {line} of {printable(source)}, `{printable(rule)}`," if line else ""


def _unknown(root: Path) -> list[str]:
    """Files of the output that are not in git's index, ignored ones too: a commit would not have them. Hidden files and
    copies that editors leave are nobody's output."""
    listed = Git(root, _FLAG).run("ls-files", "--others", "-z", "--", f":(glob){OUTPUT}/**").stdout
    paths = (path.decode("utf-8", "surrogateescape") for path in listed.split(b"\0") if path)
    return sorted(path for path in paths if "/." not in f"/{path}" and not path.endswith("~"))
