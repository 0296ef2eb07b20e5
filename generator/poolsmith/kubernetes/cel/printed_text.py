"""Text as Go prints it."""

from __future__ import annotations

ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def printable(text: str) -> str:
    """Without control characters: no expression may steer a terminal, a log or a page."""
    return text if text.isprintable() else "".join(one if one.isprintable() else _escaped(one) for one in text)


def quoted(value: str) -> str:
    """Go's %q."""
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(one: str) -> str:
    if one in ESCAPES:
        return ESCAPES[one]
    if one.isprintable():
        return one
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004
