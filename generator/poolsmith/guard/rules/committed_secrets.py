"""Secrets in profiles and policy files, by the shapes that no other text has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, point_in
from poolsmith.core.diagnostics.codes.privilege import COMMITTED_SECRET
from poolsmith.core.diagnostics.masking import shape_of, shapes_hinted
from poolsmith.guard.policies.policies import MAX_ADMISSION_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.guard.policies.policies import Policies

SHOWN_BY = frozenset(("PSM109", "PSM429"))
"""Rules that tell of some secrets more exactly: at the value, or the address, that holds one."""


def committed_secrets(files: Iterable[tuple[str, str]], told: Iterable[Diagnostic] = ()) -> Iterator[Diagnostic]:
    """Of files by path and text, one finding for each line that nobody has told of."""
    known = {(item.primary.span.path, _line(item)) for item in told if item.code in SHOWN_BY}
    for path, text in files:
        shapes = shapes_hinted(text)
        for number, line in enumerate(text.splitlines() if shapes else (), 1):
            what = shape_of(line, shapes)
            if what and (path, number) not in known:
                column = len(line) - len(line.lstrip()) + 1
                yield diagnose(COMMITTED_SECRET, f"the line holds {what}", point_in(path, number, column), subject=path)


def _line(item: Diagnostic) -> int | None:
    start = item.primary.span.start
    return start.line if start is not None else None


def policy_texts(policies: Policies) -> Iterator[tuple[str, str]]:
    """Of the files that can be read; what can't is told elsewhere."""
    for path in policies.files.paths:
        text = policies.tree.read_text(path, limit=MAX_ADMISSION_BYTES)
        if isinstance(text, str):
            yield path, text
