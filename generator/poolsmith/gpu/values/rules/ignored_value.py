"""A key that is written somewhere and has no effect, or that components never read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted, value_at
from poolsmith.gpu.values.rules.unknown_value import DISCOVERY_SWITCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.catalog.value_paths import IgnoredValue
    from poolsmith.gpu.values.document import KnownValue, ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM321")

_SELECTING = ("affinity", "nodeSelector")
_REQUIRED = "requiredDuringScheduling"


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    paths, tag = document.release.paths, document.release.tag
    for unknown in document.unknown:
        note = paths.per_component(unknown.path[-1]) if _is_of_component(unknown.path) else None
        if note is not None:
            message = f"`{dotted(unknown.path)}` is ignored: {note.why}"
            yield Finding(place=unknown.path, message=message, help=_way_out(note))
    for item in document.known:
        note = paths.ignored(item.path, tag)
        if note is None or not _applies(note, item, document):
            continue
        word = "is deprecated" if note.deprecated else f"has no effect in {tag}"
        yield Finding(
            place=item.path,
            message=f"`{dotted(item.path)}` {word}: {note.why}",
            help=_way_out(note),
            severity=Severity.ERROR if note.safety else Severity.WARNING,
        )
    yield from _merged(document)


def _merged(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """An empty mapping that is meant to take the chart's own selection of nodes away."""
    emptied = [item for item in document.known if item.value == {} and item.path[-1] in _SELECTING]
    declared = document.release.paths.declared(document.release.tag) if emptied else ()
    for item in emptied:
        path = dotted(item.path[len(document.above) :])
        if any(_selects(other, path) for other in declared):
            yield Finding(
                place=item.path,
                message=f"`{dotted(item.path)}: {{}}` changes nothing: Helm puts it on the chart's own, which stays",
                help=f"write `{item.path[-1]}: null` to take the chart's own away, or remove the line",
                severity=Severity.WARNING,
            )


def _selects(declared: str, above: str) -> bool:
    """Whether a default below a path decides where pods run; what is merely preferred does not."""
    inside = declared.removeprefix(f"{above}.")
    return inside != declared and (_REQUIRED in inside or above.endswith(_SELECTING[1]))


def _is_of_component(path: tuple[str, ...]) -> bool:
    """Not what is meant for Node Feature Discovery: PSM301 tells where that belongs."""
    return len(path) > 1 and path[0] != DISCOVERY_SWITCH


def _applies(note: IgnoredValue, item: KnownValue, document: ValuesDocument) -> bool:
    """A value that says what holds anyway is not worth a word."""
    if item.value in (None, "", {}, []) or (note.only is not None and item.value != note.only):
        return False
    defaults = document.release.line_defaults
    if defaults is not None and item.value == value_at(defaults, item.path):
        return False
    if note.unless and document.partial:
        return False
    return not note.unless or any(document.effective(path) != wanted for path, wanted in note.unless)


def _way_out(note: IgnoredValue) -> str:
    if note.instead is None:
        return note.advice or "remove it"
    return f"set `{note.instead}`" + (f": {note.advice}" if note.advice else "")
