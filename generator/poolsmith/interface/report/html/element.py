"""HTML by construction: whatever is not HTML already is escaped, and no attribute can hold code or style."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

_EMPTY = frozenset(("br", "hr", "input", "meta"))
_ALLOWED = frozenset(
    (
        *("class", "colspan", "for", "href", "id", "label", "lang", "name", "open", "rel", "role", "scope"),
        *("autocomplete", "charset", "content", "hidden", "placeholder", "spellcheck", "tabindex", "title"),
        *("type", "value"),
    )
)
_FAMILIES = ("aria-", "data-")
_NO_WORD = re.compile(r"[^A-Za-z0-9.-]+")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: str) -> Html:
    """Anybody's text: nothing in it is markup, and no character of it steers the page."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(printable(value)))


def tag(name: str, /, *children: str, **attributes: str | bool | None) -> Html:
    """An element. `class_` and `for_` stand for what Python keeps to itself, `_` for `-`; None and False are left out.

    Raises ValueError for an attribute that is not known to be harmless.
    """
    shown = "".join(_attribute(key, value) for key, value in attributes.items() if value not in (None, False))
    if name in _EMPTY:
        return Html(f"<{name}{shown}>")
    return Html(f"<{name}{shown}>{''.join(map(text, children))}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    return Html(text(between).join(map(text, parts)))


def words(sentence: str) -> Html:
    """A sentence whose names stand in backticks."""
    pieces = sentence.split("`")
    if len(pieces) % 2 == 0:  # one has no end
        return text(sentence)
    return joined(tag("code", piece) if index % 2 else piece for index, piece in enumerate(pieces))


def anchor(*parts: str) -> str:
    """An id of the page for names of users: letters, digits, dots and dashes; what is dropped can't make two alike
    where names are those of Kubernetes."""
    return "_".join(_NO_WORD.sub("-", part) for part in parts)


def _attribute(key: str, value: str | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if name not in _ALLOWED and not name.startswith(_FAMILIES):
        raise ValueError(f"the attribute `{name}` is not known to be harmless")
    if value is True:
        return f" {name}"
    if name == "href" and not str(value).startswith(("#", "https://")):
        raise ValueError("a link leads into the page, or to an address with https")
    return f' {name}="{text(str(value))}"'
