"""Answers to what an editor asks about a place: what stands there, what may, and what would mend it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError, Position
from poolsmith.core.diagnostics.message_text import joined
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.interface.app.editor.documents import Document, place_in, shown_range
from poolsmith.interface.app.editor.findings import (
    FIX_ALL,
    QUICK_FIX,
    actions,
    all_edits,
    extent_of,
    shown_finding,
)
from poolsmith.interface.app.editor.requests import BAD_PARAMS, RequestError, items_of, text_of
from poolsmith.interface.app.editor.schema_words import field_at, words_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.interface.app.editor.findings import Action
    from poolsmith.interface.app.editor.session import Session

_MOST_EFFECTS = 8
_CODE = pattern(r"\bPSM[0-9]{3}\b")


def hover(session: Session, params: dict[str, Any]) -> Any:
    """The field at the place and what follows from it, the rules of what is found there, the rule that is named."""
    document, place = _at(session, params)
    texts = list(_about(session, document, place))
    return {"contents": {"kind": "markdown", "value": "\n\n---\n\n".join(texts)}} if texts else None


def _about(session: Session, document: Document, place: Position) -> Iterator[str]:
    root, path = session.home_of(document.path)
    field = field_at(path, document.text, place)
    if field is not None:
        yield field[1]
        if told := _effects(session, root, path, field[0]):
            yield f"What follows: {joined(told, _MOST_EFFECTS, '; ')}"
    row = document.rows[place.line - 1]
    codes = [match[0] for match in _CODE.finditer(row) if match.start() < place.column <= match.end() + 1]
    for item in session.all_found().get(document.path, ()):
        start, end = extent_of(item.primary)
        codes += [item.code] if start <= place <= end else []
    yield from _rule_pages(dict.fromkeys(codes))


def _effects(session: Session, root: str, path: str, pointer: str) -> list[str]:
    if not path.startswith("profiles/"):
        return []
    from poolsmith.interface.app.editor.field_effects import effects  # on demand

    try:
        with session.project(root).project() as project:
            return effects(project, path, pointer)
    except PoolsmithError:
        return []


def completion(session: Session, params: dict[str, Any]) -> Any:
    document, place = _at(session, params)
    root, path = session.home_of(document.path)
    items = []
    for number, word in enumerate(words_at(path, document.text, place, partial(_names_for, root))):
        extent = (Position(place.line, word.start), Position(place.line, word.end))
        items.append(
            {
                "label": word.label,
                "kind": 5 if word.is_field else 12,
                "sortText": f"{number:04}",
                "textEdit": {"range": shown_range(document.rows, *extent, session.encoding), "newText": word.text},
                **({"documentation": word.about} if word.about else {}),
            }
        )
    return {"isIncomplete": False, "items": items}


def code_actions(session: Session, params: dict[str, Any]) -> Any:
    document, place = _at(session, {**params, "position": value_at(params, ("range", "start"))})
    last = place_in(document.rows, value_at(params, ("range", "end")), session.encoding) or place
    kinds = [kind for kind in items_of(params, "context", "only") if isinstance(kind, str)]
    root, path = session.home_of(document.path)
    found = session.all_found().get(document.path, [])
    near = [item for item in found if _meet(extent_of(item.primary), (place, last))]
    several = [*actions(Path(root), path, document, near)] if _wanted(QUICK_FIX, kinds) else []
    whole = all_edits(Path(root), path, document, found) if _wanted(FIX_ALL, kinds) else None
    return [_action(session, item, document, Path(root)) for item in (*several, *([whole] if whole else ()))]


def _action(session: Session, item: Action, document: Document, root: Path) -> Any:
    rows = document.rows
    edits = [
        {"range": shown_range(rows, edit.start, edit.end, session.encoding), "newText": edit.text}
        for edit in item.edits
    ]
    return {
        "title": item.title,
        "kind": item.kind,
        "isPreferred": True,
        "diagnostics": [shown_finding(one, root, rows, session.encoding) for one in item.about],
        "edit": {"changes": {document.uri: edits}},
    }


def _at(session: Session, params: dict[str, Any]) -> tuple[Document, Position]:
    document = session.documents.get(text_of(params, "textDocument", "uri"))
    if document is None:
        raise RequestError(BAD_PARAMS, "no such file is open, in the folder that the editor opened")
    place = place_in(document.rows, params.get("position"), session.encoding)
    if place is None:
        raise RequestError(BAD_PARAMS, "there is no such place in the text")
    return document, place


def _names_for(root: str, field: str) -> Iterable[str]:
    """Names that stand in the project, and codes of rules, for the field that takes them."""
    if field == "extends":
        return _names(f"{root}/profiles/_bases", is_folder=False)
    if field in ("cluster", "clusters"):
        return _names(f"{root}/profiles", is_folder=True)
    if field in ("rule", "rules"):
        from poolsmith.core.diagnostics.rule_info import rules_by_code  # on demand

        return (word for rule in rules_by_code().values() for word in (rule.name, rule.code))
    return ()


def _names(folder: str, *, is_folder: bool) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.is_dir() is is_folder and entry.name[0] not in "._"]
    except OSError:
        return []
    return sorted(name.partition(".")[0] for name in found)


def _rule_pages(codes: Iterable[str]) -> Iterator[str]:
    from poolsmith.guard.rules.rule_book import find_rule  # on demand
    from poolsmith.interface.report.rule_page import format_rule  # on demand

    for code in codes:
        if (rule := find_rule(code)) is not None:
            yield format_rule(rule)


def _meet(one: tuple[Position, Position], other: tuple[Position, Position]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _wanted(kind: str, asked: Sequence[str]) -> bool:
    return not asked or any(f"{kind}.".startswith(f"{one}.") for one in asked)
