"""What Kubernetes reads where a template wrote a text: one scalar, or the text has left its place.

A template writes text, and what stands around a text decides what it becomes: a line break, `: ` or a quote can add
keys, containers and documents. So a text is taken only where it stays in its place, however that place is indented,
in a mapping or in a list. What stays there is typed anew: the string `yes` is read as true.
"""

from __future__ import annotations

import re
from typing import Any

from poolsmith.core.sources.scalars import NotJsonError, key_text, resolve_plain
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

_SAFE = re.compile(r"(?!-\Z)[A-Za-z0-9_./+-][A-Za-z0-9_./+@-]*(?::[A-Za-z0-9_./+@-]+)*\Z")
_STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Line breaks of YAML, tabs, and what no YAML may hold."""
_WRITTEN_WELL = re.compile("[\x01-\x1f]")
_BLANK_END = re.compile(r"[ \n]*\Z")
_INDICATORS = frozenset(",[]{}#&*!|>'\"%@`")
_ENTRY = re.compile(r"[-?:](?: |\Z)")
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
    kept = _BLANK_END.sub("", text).lstrip(" ")
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
