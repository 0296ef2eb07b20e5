"""Findings as an editor shows them, and the edits of those that have one certain answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Position, Severity
from poolsmith.core.diagnostics.certain_edits import certain_edit
from poolsmith.core.diagnostics.message_text import cut, printable_line
from poolsmith.core.record import record
from poolsmith.interface.app.editor.documents import Document, shown_range, uri_of
from poolsmith.interface.app.fix import applied, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.core.diagnostics.certain_edits import Edit

_SEVERITY = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.NOTE: 3}
_START = Position(1, 1)
_MOST_RELATED = 10
_LONGEST = 60
QUICK_FIX, FIX_ALL = "quickfix", "source.fixAll.poolsmith"


def extent_of(place: Location) -> tuple[Position, Position]:
    """What is underlined; the start of the file where nobody can say."""
    start, end = place.value or (place.span.start, place.span.end)
    start = start or _START
    return start, end if end is not None and end > start else Position(start.line, start.column + 1)


def shown_finding(item: Diagnostic, root: Path, rows: Sequence[str], encoding: str) -> dict[str, Any]:
    """Of a file with these rows."""
    text = item.message if not item.help else f"{item.message}\n{item.help}"
    related = [
        {
            "location": {
                "uri": uri_of(f"{root}/{place.span.path}"),
                "range": shown_range(
                    rows if place.span.path == item.primary.span.path else (), *extent_of(place), encoding
                ),
            },
            "message": printable_line(place.note or "see also"),
        }
        for place in item.related[:_MOST_RELATED]
    ]
    return {
        "range": shown_range(rows, *extent_of(item.primary), encoding),
        "severity": _SEVERITY[item.severity],
        "code": item.code,
        "source": "poolsmith",
        "message": "\n".join(map(printable_line, text.split("\n"))),
        **({"relatedInformation": related} if related else {}),
    }


@record
class Action:
    """`about` are the findings that it mends."""

    title: str
    kind: str
    edits: tuple[Edit, ...]
    about: tuple[Diagnostic, ...]


def actions(root: Path, path: str, document: Document, found: Sequence[Diagnostic]) -> Iterator[Action]:
    """Edits of findings at some place of an open file, where its text is still the one that they are about."""
    if why_not(root, path):
        return
    sure = _sure(path, found)
    for edit, item in sure.items():
        if applied(document.text, [edit])[1]:
            title = f"Write `{cut(edit.text, _LONGEST)}` in the place of `{cut(edit.old, _LONGEST)}`"
            yield Action(title=title, kind=QUICK_FIX, edits=(edit,), about=(item,))


def _sure(path: str, found: Sequence[Diagnostic]) -> dict[Edit, Diagnostic]:
    """The certain edits of one file, each with what it mends."""
    return {edit: item for item in found if (edit := certain_edit(item)) is not None and edit.path == path}


def all_edits(root: Path, path: str, document: Document, found: Sequence[Diagnostic]) -> Action | None:
    """What `check --fix` would write into the file."""
    sure = _sure(path, found)
    fitting = [] if why_not(root, path) else applied(document.text, sorted(sure, key=lambda edit: edit.order))[1]
    about = tuple(sure[edit] for edit in fitting)
    return (
        Action(title="Write every certain edit", kind=FIX_ALL, edits=tuple(fitting), about=about) if fitting else None
    )
