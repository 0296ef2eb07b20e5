"""The page around the views: its policy, its style and its script, each named by its digest."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from poolsmith.interface.report.html.element import Html, joined, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.interface.report.html.view import View
    from poolsmith.interface.report.layout import ReportContext

_CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'"


def page(title: str, summary: Html, views: Sequence[View], context: ReportContext) -> str:
    """The whole file. The same views give the same bytes."""
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
        _header(title, views),
        tag("main", summary, _nothing_found(), joined(map(_view, views)), id="report", tabindex="-1"),
        tag("footer", tag("p", f"Made by {context.tool}. One file, and nothing is loaded from elsewhere.")),
        Html(f"<script>{script}</script>"),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _header(title: str, views: Sequence[View]) -> Html:
    links = joined(
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
    nav = tag("nav", tag("ul", links), aria_label="Parts of the report")
    return tag("header", tag("h1", tag("span", "poolsmith", class_="brand"), f" {title}"), nav, search, class_="top")


def _kinds(view: View) -> Html:
    """What the parts of a view can be filtered by."""
    if not view.kinds:
        return joined(())
    options = joined(tag("option", told, value=f"{view.key}-{kind}") for kind, told in view.kinds)
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
