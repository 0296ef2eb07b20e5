"""YAML that every reader takes alike: what a file has to be whose bytes go to readers that are not ours.

kustomize reads with go-yaml v3, and writes what it read anew; what it writes is read with a fork of go-yaml v2. What
the two, YAML 1.1 and YAML 1.2 take in different ways is told at its place, with what to write in its stead. Texts come
here that `yaml_reader` has read without a problem.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.diagnostics.diagnostic import Position, position_in
from poolsmith.core.diagnostics.message_text import cut, printable
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.scalars import FALSE_WORDS, TRUE_WORDS, NotJsonError, resolve_plain
from poolsmith.core.sources.yaml_library import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    events_of,
)
from poolsmith.core.sources.yaml_nodes import NodeParser
from poolsmith.core.sources.yaml_problem import YamlProblem

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_PROBLEMS = 20
REASON = "ambiguous-yaml"
_LONGEST = 40
_BREAK = pattern("\r(?!\n)|[\x85\u2028\u2029\ufeff]")
_BREAKS = {
    "\r": ("a carriage return without a line feed ends a line for some readers only", "end lines with a line feed"),
    "\x85": ("U+0085 ends a line for some readers only", "take it out"),
    "\ufeff": ("a byte-order mark belongs to the text for some readers", "take it out, or write it as `\\uFEFF`"),
}
_OTHER_BREAK = ("U+{:04X} ends a line for some readers only", "write it as `\\u{:04X}` in double quotes")
_SPELT_OUT = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))
_NUMBER = pattern(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_LIKE_A_NUMBER = pattern(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?"  # a day, or a moment
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"  # YAML 1.1: of base 60
    r"|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]+)?"  # out of range, or with places parted
    r"|[-+]?0[xXoObB][0-9a-fA-F_]+",
    re.ASCII | re.DOTALL,
)
_INT64 = range(-(2**63), 2**63)
_ESCAPE = pattern(r"\\(.)", re.DOTALL)
_LOST = pattern("[\x7f-\x9f\ufffe\uffff]")
_BLOCKS = frozenset("|>")
_NEWLINE_MORE = pattern(r"\n[ \t]")
_NEWLINES_DO_NOTHING = frozenset(("expression", "messageExpression", "valueExpression", "description"))
"""CEL, and prose: kustomize puts a further line break before lines of a folded text (`>`) that are indented."""
_PROSE_BELOW = "annotations"
_DATA = frozenset(("data", "binaryData", "stringData"))


class _Open(NamedTuple):
    """A collection that is open: what kind it is, and the key that it stands under."""

    is_mapping: bool
    is_flow: bool
    key: str


def ambiguities(text: str) -> list[YamlProblem]:
    """Places that readers take in different ways, at most MAX_PROBLEMS."""
    found = [_of_break(text, match) for match, _ in zip(_BREAK.finditer(text), range(MAX_PROBLEMS), strict=False)]
    if found:
        return found  # readers would not agree about the places of others
    walk = _Walk(text)
    return [problem for problem, _ in zip(walk.problems(), range(MAX_PROBLEMS), strict=False)]


def _of_break(text: str, match: re.Match[str]) -> YamlProblem:
    sign, start = match[0], match.start()
    message, advice = _BREAKS.get(sign) or (part.format(ord(sign)) for part in _OTHER_BREAK)
    return _problem(message, advice, position_in(text, start))


def _problem(message: str, advice: str, position: Position) -> YamlProblem:
    return YamlProblem(reason=REASON, message=message, position=position, help=advice)


class _Walk:
    """One pass over the events of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[_Open] = []
        self.awaits_key = False
        self.key = ""
        self.keys: list[tuple[bool, str]] = []
        self.anchors: set[str] = set()

    def problems(self) -> Iterator[YamlProblem]:
        for event in events_of(NodeParser(self.text)):
            yield from self._of(event)

    def _of(self, event: Any) -> Iterator[YamlProblem]:
        kind = event.__class__
        if kind is DocumentStartEvent:
            self.anchors.clear()
            if event.version or event.tags:
                yield _at(event, "a directive (`%`) is refused by some readers", "take it out")
        elif kind is DocumentEndEvent:
            if event.explicit:
                yield _at(event, "what follows `...` is lost for some readers", "part documents with `---`")
        elif kind in (MappingEndEvent, SequenceEndEvent):
            self.open.pop()
            self.awaits_key, self.key = self.keys.pop()
        elif kind in (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent):
            yield from self._node(event)

    def _node(self, event: Any) -> Iterator[YamlProblem]:
        is_key = self.awaits_key
        if self.open and self.open[-1].is_mapping:
            self.awaits_key = not self.awaits_key
        yield from self._anchor(event, is_key=is_key)
        if isinstance(event, AliasEvent):
            return
        if event.tag is not None:
            shown = printable(cut(event.tag.removeprefix("tag:yaml.org,2002:"), _LONGEST))
            yield _at(event, f"the tag `{shown}` is obeyed by some readers only", "take it out; quote what is a text")
        if isinstance(event, ScalarEvent):
            yield from self._scalar(event, is_key=is_key)
            if is_key:
                self.key = event.value
            return
        self.keys.append((self.awaits_key, self.key))
        is_mapping = isinstance(event, MappingStartEvent)
        self.open.append(_Open(is_mapping, bool(event.flow_style), self.key))
        self.awaits_key = is_mapping

    def _anchor(self, event: Any, *, is_key: bool) -> Iterator[YamlProblem]:
        if isinstance(event, AliasEvent):
            if is_key:
                yield _at(event, "an alias as a key is refused by some readers", "write the key out")
        elif event.anchor is not None:
            if event.anchor in self.anchors:
                shown = printable(cut(event.anchor, _LONGEST))
                yield _at(event, f"the anchor `{shown}` stands twice: readers differ in which one counts", "rename one")
            self.anchors.add(event.anchor)

    def _scalar(self, event: Any, *, is_key: bool) -> Iterator[YamlProblem]:
        if is_key and event.value == "<<":
            yield _at(event, "a merge key `<<` is obeyed or dropped, by the reader", "write its keys out")
        elif not event.style:
            yield from self._plain(event, is_key=is_key)
            return
        if match := _LOST.search(event.value):
            yield _at(event, f"U+{ord(match[0]):04X} is lost or refused when the file is rewritten", "take it out")
        if event.value.startswith("\t") and (event.style in _BLOCKS or "\n" in event.value):
            message = "kustomize writes a block that begins with a tab in a way that nobody can read"
            yield _at(event, message, "begin it with another sign")
        if event.style == '"':
            yield from self._escapes(event)
        elif event.style == ">":
            yield from self._folded(event)

    def _plain(self, event: Any, *, is_key: bool) -> Iterator[YamlProblem]:
        text = event.value
        if not text and not is_key and self.open and self.open[-1].is_flow:
            message = "a value that is left out between braces or brackets is null or an empty text, by the reader"
            yield _at(event, message, "write `null`, or `key: value` with a blank after the colon")
        elif reading := _plain_reading(text, is_key=is_key):
            shown = printable(cut(text, _LONGEST))
            advice = f'write "{shown}" with quotes if it is a text' + (", `true` or `false`" if text in _WORDS else "")
            yield _at(event, f"`{shown}` is {reading}", advice)

    def _escapes(self, event: Any) -> Iterator[YamlProblem]:
        written = self.text[event.start_mark.index : event.end_mark.index]
        if any(match[1] == "/" for match in _ESCAPE.finditer(written)):
            yield _at(event, "the escape `\\/` is unknown to some readers", "write `/`")

    def _folded(self, event: Any) -> Iterator[YamlProblem]:
        text = event.value
        indented = text[:1] in (" ", "\t", "\n") or _NEWLINE_MORE.search(text) is not None
        if not indented and not text.endswith("\n\n"):
            return
        within = self.open[-1] if self.open else _Open(is_mapping=False, is_flow=False, key="")
        is_prose = within.key == _PROSE_BELOW or (self.key in _NEWLINES_DO_NOTHING and within.key not in _DATA)
        is_free = within.is_mapping and is_prose
        if not is_free or '"""' in text or "'''" in text:
            message = (
                "kustomize adds line breaks to a folded text (`>`) with lines that are indented, or empty at its end"
            )
            yield _at(event, message, "write `|` in place of `>`")


_WORDS = (TRUE_WORDS | FALSE_WORDS) - _SPELT_OUT


def _plain_reading(text: str, *, is_key: bool) -> str | None:
    """What readers may take a plain scalar for that is neither a text for all of them nor one value for all."""
    if text in _WORDS:
        return "a text for some readers and a boolean for others"
    try:
        value = resolve_plain(text)
    except NotJsonError:
        return "a number for some readers, which no JSON has"
    if is_key and not isinstance(value, str):
        return "a key that is no text: some readers refuse it"
    if isinstance(value, str):
        return "a text for some readers and a number or a date for others" if _LIKE_A_NUMBER.fullmatch(text) else None
    if value is None or isinstance(value, bool):
        return None
    is_plain = _NUMBER.fullmatch(text) is not None and (isinstance(value, float) or value in _INT64)
    return None if is_plain else "a number that readers take in different ways"


def _at(event: Any, message: str, advice: str) -> YamlProblem:
    mark = event.start_mark
    return _problem(message, advice, Position(mark.line + 1, mark.column + 1))
