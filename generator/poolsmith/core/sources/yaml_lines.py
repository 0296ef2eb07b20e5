"""YAML as nearly all of it is written, line by line: plain data, or None where a line needs a whole parser.

Read are blocks of keys and items, plain and quoted scalars, texts behind `|` and `>`, collections in brackets, and
scalars with an anchor. What is anything else, or might be a mistake, is left to the parser of `yaml_reader`, which says
the same of whatever this reads; a test holds the two against each other.
"""

from __future__ import annotations

import marshal
from functools import cache, lru_cache
from typing import Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.scalars import NotJsonError, key_text, resolve_plain
from poolsmith.core.sources.yaml_brackets import (
    AFTER,
    COMMENT,
    ESCAPE,
    IN_DOUBLE,
    IN_SINGLE,
    OtherError,
    opened,
    unquoted,
    whole_collection,
)
from poolsmith.core.sources.yaml_layouts import Layouts, Spot

CONFLICT_MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
_PLAIN_KEY = r"[A-Za-z0-9_./$][A-Za-z0-9_./$@%+:,=*~()-]{0,200}"
_LINE = pattern(rf"""( *)((?:- +)*+)(?:({_PLAIN_KEY}|"[^"\\]{{1,200}}"|'[^']{{1,200}}'):(?: ++|$))?+(.*)""")
"""Indent, dashes, key, and what stands behind it."""
_DASH = pattern(r"- +")
_BLOCK = pattern(rf"([|>])([1-9]?)(-?){COMMENT}")
_QUOTED = pattern(rf"""(?:"({IN_DOUBLE})"|'({IN_SINGLE})'){COMMENT}""")
_QUOTED_ALONE = pattern(rf"""(?s:"({IN_DOUBLE})"|'({IN_SINGLE})')""")
_ANCHOR = pattern(r"&([A-Za-z0-9_-]{1,60}) +([^#].*)")
_ALIAS = pattern(rf"\*([A-Za-z0-9_-]{{1,60}}){COMMENT}")
_MOST_ALIASES = 1_000
_BEFORE_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./$~+(=^;\\<")
_NO_PLAIN = frozenset("\"'[{")
_NO_BREAK = "\xa0"
"""A blank that YAML takes for a letter."""
_PRINTABLE = bytes((*range(32, 127), *b"\n\t"))
_LARGEST = 1 << 23
_LONGEST_OF_A_LAYOUT = 1 << 16
_DEEPEST = 90
_NODES_OF_A_LINE = 3
_REMEMBERED, _LONGEST_REMEMBERED = 4_096, 120
"""Lines and collections that are read once, since files have many of them alike; and how long they are at most."""
_OTHER = object()
"""Stands for what is no plain scalar."""


def documents_in(text: str, most: int) -> list[Any] | None:
    """The documents of a text with fewer than `most` keys and values; None where a parser has to read it."""
    if len(text) > _LARGEST:
        return None
    lines = text.split("\n")
    if "*" in text and text.count("*") > _MOST_ALIASES:
        return None
    is_long = _NODES_OF_A_LINE * (len(lines) + len(text)) > most
    if is_long and _NODES_OF_A_LINE * (len(lines) + sum(map(text.count, ("- ", ",", "[", "{")))) > most:
        return None
    has_tabs, layouts = "\t" in text, _layouts()
    found = None if has_tabs else layouts.documents(lines)
    if found is not None or not _is_printable(text):
        return found
    is_wanted = not has_tabs and len(text) <= _LONGEST_OF_A_LAYOUT and layouts.is_wanted(lines)
    spots: list[Spot] | None = [] if is_wanted else None
    try:
        found = _read(lines, spots, has_tabs=has_tabs)
    except (OtherError, NotJsonError):
        return None
    if spots is not None:
        layouts.keep(lines, found, spots)
    return found


@cache
def _layouts() -> Layouts:
    return Layouts(_scalar)


def _scalar(text: str) -> Any:
    """What ends a line as a scalar, whatever stands below it. Raises KeyError where it may be no scalar."""
    try:
        found = _whole(text) if text and text.isprintable() else _OTHER
    except NotJsonError:
        found = _OTHER
    if found is _OTHER or found.__class__ is bytes:
        raise KeyError(text)
    return found


def _is_printable(text: str) -> bool:
    """Whether it has no signs but printable ones, ends of lines and tabs."""
    if text.isascii():
        return not text.encode().translate(None, _PRINTABLE)
    signs = text.replace("\n", "").replace("\t", "")
    return signs.isprintable() or signs.replace(_NO_BREAK, "").isprintable()


def _read(lines: list[str], spots: list[Spot] | None, *, has_tabs: bool) -> list[Any]:  # noqa: PLR0915 - the loop of every line
    """`box` and `key` are where the next value goes, `at` is the column of the collection that `box` is.

    `is_open`: a key or a dash stands there without its value. `raw` is the text of the last plain scalar, and `raw_end`
    the number of the line that may go on with it. Into `spots` go the scalars that end on their lines.
    """
    documents: list[Any] = []
    root: list[Any] = [None]
    box: Any = root
    key: Any = 0
    at, is_open, is_told = -1, True, False
    stack: list[tuple[int, Any]] = []
    raw, raw_end, number, end = "", -1, 0, len(lines)
    known, longest, resolve, other, loads = _known_line, _LONGEST_REMEMBERED, resolve_plain, _OTHER, marshal.loads
    anchors: dict[str, Any] = {}
    while number < end:
        line = lines[number]
        number += 1
        column, dashes, name, value, plain = known(line) if len(line) <= longest else _parts(line)
        if column == at and name is not None and not (is_open or dashes or plain is other) and box.__class__ is dict:
            if name in box or (has_tabs and "\t" in line):
                raise OtherError
            key, raw, raw_end = name, value, number
            box[name] = loads(plain) if plain.__class__ is bytes else plain
            if spots is not None:
                spots.append((number - 1, value, box, name))
            continue
        if name is None and not dashes and (not value or value[0] == "#"):
            continue
        if has_tabs and "\t" in line:
            raise OtherError
        if not column and name is None and not dashes and value[:3] in ("---", "..."):
            if value[0] == "." or AFTER.fullmatch(value, 3) is None:
                raise OtherError
            if is_told:
                documents.append(root[0])
            root = [None]
            box, key, at, is_open, is_told = root, 0, -1, True, True
            stack.clear()
            anchors.clear()
            continue
        if value == "-" and name is None:
            dashes, value = f"{dashes}-", ""
        is_told = True
        if is_open:
            is_open = column > at or (column == at and bool(dashes) and box.__class__ is dict)
        elif column > at:
            goes_on = at >= 0 and raw_end == number - 1 and name is None and not dashes and raw[0] not in _NO_PLAIN
            if not goes_on or not _goes_on(value.rstrip(" ")):
                raise OtherError
            raw, number = _more_of_plain(raw, lines, number - 1, at)
            box[key], raw_end = resolve(raw), -1
            if spots:
                spots.pop()
            continue
        if not is_open:
            while at > column or (at == column and not dashes and box.__class__ is list):
                at, box = stack.pop()
            if at != column:
                raise OtherError
        while dashes:
            if is_open:
                inner: Any = []
                box[key] = inner
                stack.append((at, box))
                at, box = column, inner
                if len(stack) > _DEEPEST:
                    raise OtherError
            elif box.__class__ is not list:
                raise OtherError
            box.append(None)
            key, is_open = -1, True
            width = 2 if dashes == "- " else 1 if dashes == "-" else _width(dashes)
            column, dashes = column + width, dashes[width:]
        if name is not None:
            if is_open:
                inner = {}
                box[key] = inner
                stack.append((at, box))
                at, box = column, inner
                if len(stack) > _DEEPEST:
                    raise OtherError
            elif box.__class__ is not dict:
                raise OtherError
            if name in box:
                raise OtherError
            key, box[name], is_open = name, None, True
        elif not is_open:
            raise OtherError
        if plain is not other:
            is_open, raw, raw_end = False, value, number
            box[key] = loads(plain) if plain.__class__ is bytes else plain
            if spots is not None:
                spots.append((number - 1, value, box, len(box) - 1 if box.__class__ is list else key))
            continue
        if not value or value[0] == "#":
            continue
        is_open, anchor = False, ""
        first = value[0]
        if first == "&":
            anchor, value = _anchored(value)
            first = value[0]
        elif first == "*":
            box[key] = _of_alias(value, anchors)
            continue
        if _may_be_plain(value):
            raw = value if _is_bare(value) else _plain(value)
            raw_end = number if len(raw) == len(value) or " #" not in value else -1
            box[key] = resolve(raw)
        elif first in "\"'":
            box[key], number = _quoted(value, lines, number, at)
        elif first in "[{":
            box[key], number = _in_brackets(value, lines, number)
        elif first in "|>":
            box[key], number = _block(value, lines, number, at)
        else:
            raise OtherError
        if anchor:
            raw_end, anchors[anchor] = -1, box[key]
            if box[key].__class__ in (dict, list):
                raise OtherError
    if is_told:
        documents.append(root[0])
    return documents


def _parts(line: str) -> tuple[int, str, str | None, str, Any]:
    """The indent, the dashes, the key if there is one, what stands behind it, and what that is where it ends on its
    line: a scalar, or a collection in brackets as bytes, of which each reader makes its own."""
    found: Any = _LINE.match(line)
    indent, dashes, name, value = found.groups()
    if not indent and value.startswith(CONFLICT_MARKERS):
        raise OtherError
    return len(indent), dashes, None if name is None else _key(name), value, _whole(value) if value else _OTHER


def _whole(value: str) -> Any:
    first = value[0]
    if first in _NO_PLAIN:
        return _alone(value)
    return resolve_plain(value) if _may_be_plain(value) and _is_bare(value) else _OTHER


def _alone(value: str) -> Any:
    """A text in quotes or a collection in brackets that ends on its line; whatever else is there, its reader says."""
    if value[0] in "\"'":
        found = _QUOTED.fullmatch(value)
        return _OTHER if found is None else unquoted(*found.groups())
    try:
        return marshal.dumps(whole_collection(value)) if opened(value) <= 0 else _OTHER
    except (OtherError, NotJsonError):
        return _OTHER


def _may_be_plain(value: str) -> bool:
    return value[0] in _BEFORE_PLAIN or (value[0] in "-:?" and value[1:2] not in ("", " "))


def _is_bare(value: str) -> bool:
    """Whether all of a text belongs to a plain scalar."""
    return "#" not in value and value[-1] not in ": " and ": " not in value


_known_line = lru_cache(_REMEMBERED)(_parts)


def _width(dashes: str) -> int:
    found = _DASH.match(dashes)
    return found.end() if found is not None else 1


def _anchored(value: str) -> tuple[str, str]:
    found = _ANCHOR.fullmatch(value)
    if found is None:
        raise OtherError
    return found[1], found[2]


def _of_alias(value: str, anchors: dict[str, Any]) -> Any:
    """The scalar that an alias stands for. A text with many of them is not read here."""
    found = _ALIAS.fullmatch(value)
    if found is None or found[1] not in anchors:
        raise OtherError
    return anchors[found[1]]


def _more_of_plain(raw: str, lines: list[str], number: int, at: int) -> tuple[str, int]:
    """A plain scalar with the lines that go on with it, and the number of the line after them."""
    parts = [raw]
    while number < len(lines) and _indent(lines[number]) > at and _goes_on(text := lines[number].strip(" ")):
        parts.append(text)
        number += 1
    return " ".join(parts), number


def _goes_on(text: str) -> bool:
    return bool(text) and text[0] != "#" and not any(sign in text for sign in (": ", " #", "\t")) and text[-1] != ":"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _plain(value: str) -> str:
    text = value.partition(" #")[0].rstrip(" ")
    if ": " in text or text[-1] == ":":
        raise OtherError
    return text


def _key(name: str) -> str:
    if name[0] in "\"'":
        return name[1:-1]
    value = resolve_plain(name)
    if value.__class__ is str:
        return value
    if value is None:
        raise OtherError
    return key_text(value)


def _quoted(value: str, lines: list[str], number: int, at: int) -> tuple[str, int]:
    """A text in quotes, and the number of the line after it."""
    found = _QUOTED.fullmatch(value)
    if found is None:
        quote, text = value[0], value.rstrip(" ")
        texts, is_odd = [[text]], _has_odd(quote, value[1:])
        while not is_odd:
            is_cut = quote == '"' and _is_cut(lines[number - 1], text)
            number, text = _next(lines, number, max(at, 0) + 1)
            is_odd = _has_odd(quote, text)
            if not is_cut:
                texts.append([text])
            elif text:
                texts[-1][-1] = texts[-1][-1][:-1]
                texts[-1].append(text)
            else:
                raise OtherError
        found = _QUOTED_ALONE.fullmatch(_folded(["".join(parts) for parts in texts]))
    if found is None:
        raise OtherError
    return unquoted(*found.groups()), number


def _is_cut(line: str, text: str) -> bool:
    """Whether a backslash takes away the end of a line."""
    if not ESCAPE.sub("", text).endswith("\\"):
        return False
    if line.endswith(" "):
        raise OtherError
    return True


def _has_odd(quote: str, text: str) -> bool:
    return (ESCAPE.sub("", text) if quote == '"' else text).count(quote) % 2 == 1


def _next(lines: list[str], number: int, least: int) -> tuple[int, str]:
    """A line that goes on with a value, without the blanks around it, and its number; `least` is its least indent."""
    line = lines[number] if number + 1 < len(lines) else "\t"
    text = line.strip(" ")
    if "\t" in line or (text and _indent(line) < least) or text.startswith(("---", "...", *CONFLICT_MARKERS)):
        raise OtherError
    return number + 1, text


def _block(head: str, lines: list[str], number: int, at: int) -> tuple[str, int]:
    """The text behind `|` or `>`, and the number of the line after it."""
    found = _BLOCK.fullmatch(head)
    if found is None or at < 0:
        raise OtherError
    width = at + int(found[2]) if found[2] else _indent_of_text(lines, number)
    if width <= at:
        raise OtherError
    pad, texts = " " * width, []
    while number < len(lines):
        line = lines[number]
        rest = line.lstrip(" ")
        if line.startswith(pad):
            texts.append(line[width:])
        elif not rest:
            texts.append("")
        elif rest[0] == "\t":
            raise OtherError
        else:
            break
        number += 1
    else:
        if lines[-1]:
            raise OtherError
    while texts and not texts[-1]:
        texts.pop()
    if not texts or (texts[0].startswith(" ") and not found[2]):  # a line of blanks that is longer than the indent
        raise OtherError
    if found[1] == ">" and (not texts[0] or any(text[:1] in ("\t", " ") for text in texts if text)):
        raise OtherError
    text = "\n".join(texts) if found[1] == "|" else _folded(texts)
    return (text if found[3] else f"{text}\n"), number


def _indent_of_text(lines: list[str], number: int) -> int:
    while number < len(lines) and not lines[number].strip(" "):
        number += 1
    line = lines[number] if number < len(lines) else "\t"
    return -1 if line.lstrip(" ")[0] == "\t" else _indent(line)


def _folded(texts: list[str]) -> str:
    """Lines as one: a blank for each end of a line, and an end of a line for each empty one."""
    parts, empty = [texts[0]], 0
    for text in texts[1:]:
        if not text:
            empty += 1
            continue
        parts.append("\n" * empty or " ")
        parts.append(text)
        empty = 0
    return "".join(parts)


def _in_brackets(text: str, lines: list[str], number: int) -> tuple[Any, int]:
    """A list or a mapping in brackets, and the number of the line after it."""
    depth = opened(text)
    if depth > 0:
        parts = [text.rstrip(" ")]
        while depth > 0:
            number, text = _next(lines, number, 0)
            if "#" in text or not (parts[-1][-1] in ",[{" or text[:1] in ("]", "}", ",")):
                raise OtherError
            parts.append(text or " ")
            depth += opened(text)
        text = " ".join(parts)
    return whole_collection(text), number
