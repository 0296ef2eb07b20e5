"""Names in messages, as many as one reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics.suggest import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.ledger.view import SeenWorkload
    from poolsmith.plan.plan import ValuePath

FEW = 4


def few(names: Sequence[str]) -> str:
    return listed(names, FEW)


def named(workload: SeenWorkload) -> str:
    return f"`{workload.name}`"


def some(phrases: Sequence[str]) -> str:
    """Phrases that hold names already, cut with a count of the rest."""
    rest = len(phrases) - FEW
    return ", ".join(phrases[:FEW]) + (f" and {rest} more" if rest > 0 else "")


def dotted(path: ValuePath) -> str:
    return f"`{'.'.join(path)}`"


def as_values(path: ValuePath, text: str) -> str:
    """How a value of the operator's chart is written into a cluster's profile, in one line."""
    for key in reversed(("stack", "values", *path)):
        text = f"{{{key}: {text}}}"
    return text[1:-1]
