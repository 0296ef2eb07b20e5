"""Text in XML: no control characters, nothing that ends an attribute or an element, and ASCII."""

from __future__ import annotations

from poolsmith.core.diagnostics.printable import printable

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_LAST_ASCII = 0x7F


def attribute(text: str) -> str:
    """In its quotes."""
    return f'"{content(text)}"'


def content(text: str) -> str:
    """One line of an element's text. What is printable may stand in XML; the rest is escaped first."""
    return "".join(map(_escaped, printable(text)))


def _escaped(char: str) -> str:
    return _ESCAPES.get(char) or (char if ord(char) <= _LAST_ASCII else f"&#{ord(char)};")
