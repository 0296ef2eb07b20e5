"""How far a privilege reaches, as a word with a colour: the word alone says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.ledger.reach import Reach
from poolsmith.interface.report.html.element import joined, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.interface.report.html.element import Html

_SHORT = {
    Reach.NODE_ROOT: "root",
    Reach.NODE_WRITE: "write",
    Reach.CLUSTER_WRITE: "cluster",
    Reach.SECRETS: "secrets",
    Reach.NODE_READ: "read",
    Reach.NETWORK: "network",
    Reach.OBJECT_WRITE: "objects",
    Reach.CLUSTER_READ: "api",
    Reach.NONE: "none",
}


def badge(reach: Reach) -> Html:
    return tag("span", str(reach), class_=f"reach r{reach.value}", title=reach.meaning)


def short_word(reach: Reach) -> str:
    """For a cell of a matrix."""
    return _SHORT[reach]


def kinds_of(reached: Iterable[Reach]) -> tuple[tuple[str, str], ...]:
    """What a view can be filtered by, from the worst on."""
    return tuple((str(reach), str(reach)) for reach in sorted(set(reached)))


def legend() -> Html:
    """What the words of cells mean, from the worst on."""
    rows = (
        tag("li", tag("span", _SHORT[reach], class_=f"reach r{reach.value}"), f" {reach}: {reach.meaning}")
        for reach in Reach
    )
    return tag(
        "details", tag("summary", "What the words mean"), tag("ul", joined(rows), class_="legend"), class_="more"
    )
