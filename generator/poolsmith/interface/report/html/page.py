"""The HTML page around the views: policy, style and script, each named by its digest, and links to lines of files.

HTML is made by construction: whatever is not HTML already is escaped, and no attribute can hold code or style.
"""

from __future__ import annotations

import base64
import hashlib
import html
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.interface.report.formats import ReportContext


_EMPTY = frozenset(("br", "hr", "input", "meta", "wbr"))
_ALLOWED = frozenset(
    (
        *("class", "colspan", "for", "href", "id", "label", "lang", "name", "open", "rel", "role", "scope"),
        *("autocomplete", "charset", "content", "hidden", "placeholder", "spellcheck", "tabindex", "title"),
        *("type", "value"),
    )
)
_FAMILIES = ("aria-", "data-")
_PAGE = pattern(r"(\.\./)*([A-Za-z0-9][A-Za-z0-9.-]*/)*[A-Za-z0-9][A-Za-z0-9.-]*\.html(#[A-Za-z0-9._-]+)?")
_LONG = 24
_AFTER_SIGN = pattern(r"(?<=[/:.@=,_])(?=[A-Za-z0-9])")
_NO_WORD = pattern(r"[^A-Za-z0-9.-]+")


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
    return joined(code(piece) if index % 2 else piece for index, piece in enumerate(pieces))


def code(name: str, class_: str | None = None) -> Html:
    """A name, path or token. A long one may go on in the next line behind a sign, and not within a word."""
    if len(name) <= _LONG:
        return tag("code", name, class_=class_)
    return tag("code", joined(_AFTER_SIGN.split(name), tag("wbr")), class_=class_)


def scrolled(table: Html, label: str) -> Html:
    """Wide tables scroll by themselves, by keyboard too."""
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=f"{label}, table")


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
    if name == "href" and not str(value).startswith(("#", "https://")) and not _PAGE.fullmatch(str(value)):
        raise ValueError("a link leads into the page, to a page beside it, or to an address with https")
    return f' {name}="{text(str(value))}"'


_ALONE = "One file, and nothing is loaded from elsewhere."
_TOGETHER = "Nothing is loaded from elsewhere."
_CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'"


def page(
    title: str, summary: Html, views: Sequence[View], context: ReportContext, links: Sequence[PageLink] = ()
) -> str:
    """The whole file. The same views give the same bytes. `links` are the pages that it is one of, if it is."""
    style, script = _file("style.css"), _file("script.js")
    policy = f"{_CLOSED}; style-src {_digest(style)}; script-src {_digest(script)}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} - poolsmith"),
        Html(f"<style>{style}</style>"),
    )
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#report", class_="skip"),
        _header(title, views, links),
        tag("main", summary, _nothing_found(), joined(map(_view, views)), id="report", tabindex="-1"),
        tag("footer", tag("p", f"Made by {context.tool}. {_ALONE if not links else _TOGETHER}")),
        Html(f"<script>{script}</script>"),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


_FEW_VIEWS = 4
"""So many stand beside title and search at the width of a laptop."""


def _header(title: str, views: Sequence[View], links: Sequence[PageLink]) -> Html:
    pages = joined(
        tag("li", tag("a", link.title, href=link.href, aria_current="page" if link.is_current else None))
        for link in links
    )
    parts = joined(
        tag(
            "li",
            tag(
                "a",
                view.title,
                *([" ", tag("span", f"{view.count:,}", class_="count")] if view.count else []),
                href=f"#{view.key}",
            ),
        )
        for view in views
    )
    search = tag(
        "div",
        tag("label", "Search", for_="search", class_="hidden-label"),
        tag("input", type="search", id="search", placeholder="Search  /", autocomplete="off", spellcheck="false"),
        tag("label", "Show only", for_="only", class_="hidden-label"),
        tag("select", tag("option", "Show all", value=""), joined(map(_kinds, views)), id="only", autocomplete="off"),
        tag("span", "", id="found", role="status", class_="scope"),
        tag("button", "Dark", type="button", id="theme", aria_pressed="false"),
        class_="tools",
        id="tools",
        hidden=True,
    )
    many = "many" if len(views) > _FEW_VIEWS or links else None
    nav = tag("nav", tag("ul", parts), aria_label="Parts of the page", class_=many)
    if links:
        nav = joined((tag("nav", tag("ul", pages), aria_label="Pages of the fleet", class_="pages"), nav))
    return tag("header", tag("h1", tag("span", "poolsmith", class_="brand"), f" {title}"), nav, search, class_="top")


def _kinds(view: View) -> Html:
    """What the parts of a view can be filtered by."""
    if not view.kinds:
        return joined(())
    options = joined(tag("option", label, value=f"{view.key}-{kind}") for kind, label in view.kinds)
    return tag("optgroup", options, label=view.title)


def _nothing_found() -> Html:
    return tag("p", "Nothing on this page is like that.", id="nothing", class_="empty", hidden=True)


def _view(view: View) -> Html:
    heading = tag(
        "h2", view.title, " ", tag("a", "#", href=f"#{view.key}", aria_label=f"Link to {view.title}", class_="self")
    )
    return tag("section", heading, view.body, id=view.key, class_="view")


@cache
def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


@record(kw_only=False)
class View:
    """`key` is its id; `count` stands beside its title in the navigation.

    `kinds`: what its parts can be filtered by, as the word in `data-kind`, and what a reader sees.
    """

    key: str
    title: str
    body: Html
    count: int | None = None
    kinds: tuple[tuple[str, str], ...] = ()


@record(kw_only=False)
class PageLink:
    """Another page: `href` leads from the page that has the link."""

    title: str
    href: str
    is_current: bool = False


def place(location: Location, context: ReportContext) -> Html:
    start = location.span.start
    return line_of(location.span.path, start.line if start is not None else None, context)


def line_of(path: str, line: int | None, context: ReportContext) -> Html:
    """The line counts from 1; None is the whole file."""
    shown = path if line is None else f"{path}:{line}"
    if not context.source:
        return tag("span", shown, class_="place")
    target = f"{context.source}/{quote(context.below + path)}" + ("" if line is None else f"#L{line}")
    return tag("a", shown, class_="place", href=target, rel="noreferrer")
