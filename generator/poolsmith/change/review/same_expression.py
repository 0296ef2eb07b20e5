"""Whether two texts in CEL are one expression, written with other blanks and comments."""

from __future__ import annotations

import re

_TEXT = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_PART = re.compile(rf"(?P<text>{_TEXT})|(?P<blank>(?:\s|//[^\n]*)+)|(?P<other>.)", re.DOTALL)
_RAW = re.compile(r"[rR][bB]?[\"']|[bB][rR][\"']")


def same_expression(one: str, other: str) -> bool:
    """Never where they may differ."""
    if one == other:
        return True
    if _RAW.search(one) or _RAW.search(other):
        return one.strip() == other.strip()
    return _bare(one) == _bare(other)


def _bare(text: str) -> str:
    """With one blank wherever there are some: what they separate stays apart."""
    return "".join(" " if match["blank"] else match[0] for match in _PART.finditer(text)).strip()
