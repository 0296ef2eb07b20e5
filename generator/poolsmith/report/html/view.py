"""A part of the page that the navigation leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.record import record

if TYPE_CHECKING:
    from poolsmith.report.html.element import Html


@record(kw_only=False)
class View:
    """`key` is its id; `count` stands beside its title in the navigation."""

    key: str
    title: str
    body: Html
    count: int | None = None
