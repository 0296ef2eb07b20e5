"""A part of the page that the navigation leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.interface.report.html.element import Html


@record(kw_only=False)
class View:
    """`key` is its id; `count` stands beside its title in the navigation.

    `kinds`: what its parts can be filtered by, as the word in `data-kind`, and what a reader is told.
    """

    key: str
    title: str
    body: Html
    count: int | None = None
    kinds: tuple[tuple[str, str], ...] = ()
