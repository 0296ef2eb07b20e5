"""The row that a run writes for docs/e2e.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from e2e.run import Outcome

HEAD = (
    "| cluster | release | objects | fields compared | differing | pods run | missing | refused at first | seconds |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
)


def told(outcome: Outcome) -> str:
    cells = (outcome.name, outcome.release, outcome.objects, outcome.fields, len(outcome.differing))
    rest = (outcome.pods, len(outcome.refused), outcome.refused_at_first, round(outcome.seconds))
    return f"| {' | '.join(map(str, (*cells, *rest)))} |"
