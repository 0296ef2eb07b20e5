"""Collections in brackets and texts in quotes, as they stand in a YAML text; what is anything else raises."""

from __future__ import annotations

from typing import Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.scalars import key_text, resolve_plain

COMMENT = r" *(?: #.*)?"
AFTER = pattern(COMMENT)
IN_DOUBLE = r'[^"\\]*+(?:\\["\\nt ][^"\\]*+)*+'
IN_SINGLE = r"[^']*+(?:''[^']*+)*+"
_IN_QUOTES = pattern(r"""\"[^"]*+"|'[^']*+'""")
ESCAPE = pattern(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t"}
_FLOW = r"""[^,\[\]{}:#?"']*+(?:(?::(?![ ,\[\]{}?]|$)|(?<! )#)[^,\[\]{}:#?"']*+)*+"""
_TOKEN = pattern(
    rf""" *+(?:([\[\]{{}},])|((?:[A-Za-z0-9_./$~+(=^;\\<]|-(?=[A-Za-z0-9_./])){_FLOW})"""
    rf"""|"({IN_DOUBLE})"|'({IN_SINGLE})')(: ++)?"""
)
_DEEPEST_IN_BRACKETS = 8
_MERGE = "<<"


class OtherError(Exception):
    """What stands there is not for this reader."""


def unquoted(double: str | None, single: str | None) -> str:
    """What stands between quotes."""
    if double is None:
        return (single or "").replace("''", "'")
    return ESCAPE.sub(lambda sign: _ESCAPED.get(sign[1], sign[1]), double) if "\\" in double else double


def whole_collection(text: str) -> Any:
    value, end = _collection(text, 0, 0)
    if AFTER.fullmatch(text, end) is None:
        raise OtherError
    return value


def opened(text: str) -> int:
    """How many brackets are open behind a text; what is in quotes does not count, and ends on its line."""
    bare = _IN_QUOTES.sub("", text)
    if '"' in bare or "'" in bare:
        raise OtherError
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")


def _collection(text: str, start: int, depth: int) -> tuple[Any, int]:
    """The list or mapping that begins at `start`, and where it ends."""
    is_list = text[start] == "["
    closer = "]" if is_list else "}"
    items: Any = [] if is_list else {}
    place = start + 1
    if depth > _DEEPEST_IN_BRACKETS:
        raise OtherError
    while True:
        sign, place, value, has_colon = _token(text, place, depth)
        if sign == closer and not has_colon:
            return items, place
        if sign or has_colon == is_list:
            raise OtherError
        if is_list:
            items.append(value)
        else:
            key = value
            if not isinstance(key, (str, int, float)) or key == _MERGE:
                raise OtherError
            key = key_text(key)
            sign, place, value, has_colon = _token(text, place, depth)
            if sign or has_colon or key in items:
                raise OtherError
            items[key] = value
        sign, place, _, has_colon = _token(text, place, depth)
        if has_colon or sign not in (",", closer):
            raise OtherError
        if sign == closer:
            return items, place


def _token(text: str, place: int, depth: int) -> tuple[str, int, Any, bool]:
    """A sign (`,` or what closes), or a value; where it ends, and whether a colon follows."""
    found = _TOKEN.match(text, place)
    if found is None:
        raise OtherError
    sign, plain, double, single, colon = found.groups()
    if sign and sign in "[{":
        if colon:
            raise OtherError
        value, end = _collection(text, found.start(1), depth + 1)
        return "", end, value, False
    if plain is not None:
        return "", found.end(), resolve_plain(plain.rstrip(" ")), colon is not None
    if sign:
        return sign, found.end(), None, colon is not None
    return "", found.end(), unquoted(double, single), colon is not None
