"""What a Go template prints for a value, what Kubernetes reads back from that text, and Go's cleaning of paths.

A chart writes text, and the text is read again as YAML. A value written without quotes is therefore typed anew:
the string `yes` comes back as true, `570.10` as a number. A quoted one comes back as the string that Go printed.
What stands around a text decides what it becomes: a line break, `: ` or a quote can add keys, containers and documents.
So a text is accepted only where it stays in its place, however that place is indented, in a mapping or in a list.

Rules of paths: the standard packages `path` and `path/filepath` of Go.
"""

from __future__ import annotations

import posixpath
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import mapped
from poolsmith.core.sources.scalars import NotJsonError, key_text, resolve_plain
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Sequence


_SAFE = pattern(r"(?!-\Z)[A-Za-z0-9_./+-][A-Za-z0-9_./+@-]*(?::[A-Za-z0-9_./+@-]+)*\Z")
_STEERS = pattern("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Line breaks of YAML, tabs, and what no YAML may hold."""
_WRITTEN_WELL = pattern("[\x01-\x1f]")
_INDICATORS = frozenset(",[]{}#&*!|>'\"%@`")
_ENTRY = pattern(r"[-?:](?: |\Z)")
_QUOTES = ('"', "'")
_ESCAPES = frozenset('"\\')
_KEY = "value"
_MERGE = "<<"


class LeavesPlace(ValueError):  # noqa: N818 - says what a text does
    """Why a text is not the one scalar that its place is for."""


def bare(text: str) -> Any:
    """Of a text that stands without quotes, up to the end of its line. Raises LeavesPlace.

    Line breaks and blanks at its end change nothing. A text that brings its own quotes is what stands in them.
    """
    if not text or _SAFE.match(text):
        return _typed(text)
    kept = text.rstrip(" \n").lstrip(" ")
    _refuse_steering(kept)
    if kept.startswith(_QUOTES):
        return _in_own_quotes(kept)
    if kept[:1] in _INDICATORS:
        raise LeavesPlace(f"a leading `{kept[0]}` is no text to YAML")
    if _ENTRY.match(kept):
        raise LeavesPlace(f"a leading `{kept[0]} ` begins a list or a mapping")
    if ": " in kept or kept.endswith(":"):
        raise LeavesPlace("`: ` in it makes a mapping")
    if " #" in kept:
        raise LeavesPlace("what follows ` #` is a comment")
    return _typed(kept)


def between_quotes(text: str) -> str:
    """Of a text that the template puts between `"` as it is. Raises LeavesPlace."""
    _refuse_steering(text)
    for letter in text:
        if letter in _ESCAPES:
            raise LeavesPlace(f"`{letter}` in it ends the quotes or begins an escape")
    return text


def key(text: str) -> str:
    """Of a text that stands where a key of a mapping does. Raises LeavesPlace."""
    if text.endswith(("\n", " ")):
        raise LeavesPlace("it ends in a blank")
    value = bare(text)
    if value is None or value == _MERGE:
        raise LeavesPlace("it is no key")
    return key_text(value)


def block(text: str) -> str:
    """Of a text that stands, indented, below `|`. Raises LeavesPlace."""
    lines = text.split("\n")
    for line in lines:
        _refuse_steering(line.replace("\t", ""))
    if text[:1] in (" ", "\t") or (not lines[0] and text.strip("\n")[:1] in (" ", "\t")):
        raise LeavesPlace("its first line is indented, and the others are not where they seem to be")
    try:
        documents = read_documents(f"{_KEY}: |\n" + "\n".join(f"  {line}" for line in lines) + "\n")
    except YamlProblem as error:
        raise LeavesPlace(error.message) from None
    read: str = documents[0][_KEY]
    return read


def data(node: Any) -> None:
    """Of a value that `toYaml` writes, whose texts may have many lines. Raises LeavesPlace.

    The writer of Helm leaves some line breaks of YAML as they are, and an indented first line moves with `nindent`.
    """
    if isinstance(node, dict):
        for name, value in node.items():
            data(name)
            data(value)
    elif isinstance(node, list):
        for item in node:
            data(item)
    elif isinstance(node, str):
        _refuse_steering(_WRITTEN_WELL.sub("", node))
        if node.startswith((" ", "\n")) and "\n" in node:
            raise LeavesPlace("its first line is blank or indented, and the text comes back with more blanks")


def flow(text: str) -> Any:
    """Of a list as templates print it, `[a b]`. Raises LeavesPlace."""
    inner = text[1:-1]
    if inner and not all(_SAFE.match(word) for word in inner.split(" ")):
        raise LeavesPlace("a printed list is no list to YAML")
    return [bare(inner)] if inner else []


def _refuse_steering(text: str) -> None:
    found = _STEERS.search(text)
    if found is not None:
        what = "a line break" if found[0] in "\n\r\x85\u2028\u2029" else f"the character U+{ord(found[0]):04X}"
        raise LeavesPlace(f"{what} in it ends its place")


def _in_own_quotes(text: str) -> str:
    try:
        documents = read_documents(f"{_KEY}: {text}\n")
    except YamlProblem as error:
        raise LeavesPlace(error.message) from None
    read = documents[0] if len(documents) == 1 else None
    value = read.get(_KEY) if isinstance(read, dict) and set(read) == {_KEY} else None
    if not isinstance(value, str) or text[-1] != text[0]:
        raise LeavesPlace("text follows its quotes")
    return value


def _typed(text: str) -> Any:
    try:
        return resolve_plain(text)
    except NotJsonError:
        raise LeavesPlace("the number has no JSON form") from None


_EXPONENT_FROM, _EXPONENT_BELOW = 6, -4


class SetInteger(int):
    """An integer of `--set`. Those of values files are floats to Helm, and print as such: 1000000 as 1e+06."""


class TemplateError(Exception):
    """Helm stops here, or would render something else than the template means. `path` is the value's, with dots."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


def look_up(values: Any, path: Sequence[str], above: str = "") -> Any:
    """`.Values.a.b.c`: a missing last key is null; below null or a scalar there is nothing to ask for.

    `values` stand at `above`. Raises TemplateError.
    """
    node: Any = values
    start = [above] if above else []
    for depth, key in enumerate(path):
        if node is None:
            shown = ".".join((*start, *path))
            raise TemplateError(f"at <.Values.{shown}>: nil pointer evaluating interface {{}}.{key}", shown)
        if not isinstance(node, dict):
            shown, place = ".".join((*start, *path)), ".".join((*start, *path[:depth]))
            raise TemplateError(f"at <.Values.{shown}>: can't evaluate field {key}: `{place}` is not a map", shown)
        node = node.get(key)
    return node


def is_true(value: Any) -> bool:
    """Whether `if` takes its branch: not for false, zero, null and what is empty."""
    return bool(value)


def printed(value: Any) -> str:
    """The text of `{{ value }}`. Helm turns null into nothing."""
    return "" if value is None else _go(value)


def plain(value: Any, shown: str) -> Any:
    """What Kubernetes reads where the chart wrote `key: {{ value }}`.

    Raises TemplateError when that is not one scalar.
    """
    text = printed(value)
    try:
        return flow(text) if isinstance(value, list) else bare(text)
    except LeavesPlace as error:
        raise left_place(error, shown) from None


def as_data(value: Any, shown: str) -> Any:
    """What Kubernetes reads where the chart wrote `{{ toYaml value }}`, fresh. Raises TemplateError."""
    try:
        data(value)
    except LeavesPlace as error:
        raise left_place(error, shown) from None
    return mapped(value, lambda item: int(item) if isinstance(item, SetInteger) else item)


def left_place(error: LeavesPlace, shown: str) -> TemplateError:
    """Of a value that would not stay where the chart writes it."""
    return TemplateError(f"at <.Values.{shown}>: the chart writes the value into YAML as it is: {error}", shown)


def quoted(value: Any) -> str | None:
    """What Kubernetes reads where the chart wrote `key: {{ value | quote }}`: null is not quoted."""
    return None if value is None else _go(value)


def _go(value: Any) -> str:
    """Go's `%v`."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SetInteger):
        return str(int(value))
    if isinstance(value, int | float):
        return _float(float(value))
    if isinstance(value, list):
        return "[" + " ".join(_go(item) for item in value) + "]"
    return "map[" + " ".join(f"{key}:{_go(value[key])}" for key in sorted(value)) + "]"


def _float(value: float) -> str:
    """The shortest digits; with an exponent from a million on, and below 0.0001."""
    digits = Decimal(repr(value)).normalize()
    exponent = digits.adjusted()
    if _EXPONENT_BELOW <= exponent < _EXPONENT_FROM:
        return format(digits, "f")
    sign, numbers, _ = digits.as_tuple()
    text = "".join(map(str, numbers))
    mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{'-' if sign else ''}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def cleaned(path: str) -> str:
    """Without dots, doubled and closing slashes."""
    short = posixpath.normpath(path)
    return short[1:] if short.startswith("//") else short


def folder_of(path: str) -> str:
    """Everything up to the last slash: a path that ends in one is a folder itself."""
    return cleaned(path[: path.rfind("/") + 1])


def name_of(path: str) -> str:
    """The last part, closing slashes aside."""
    return path.rstrip("/").rpartition("/")[2] or "/"


def joined(*parts: str) -> str:
    """All parts that are not empty, below each other even where one starts with a slash."""
    path = "/".join(part for part in parts if part)
    return cleaned(path) if path else ""
