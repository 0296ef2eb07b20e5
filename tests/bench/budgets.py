"""What each row may take, and what it took in the last release (`last_release.json`)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from measuring import Measured

LAST = Path(__file__).with_name("last_release.json")
IDLE = 0.0066
"""Seconds of `python -c pass` on the idle machine whose seconds the budgets and the first figures are."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The ratio counts, not the seconds of an idle machine; of what has no ratio, the seconds."""

    seconds: float | None = None
    ratio: float | None = None
    mebibytes: float | None = None

    def keeps(self, found: Measured) -> bool:
        return self._in_time(found) and (self.mebibytes is None or (found.mebibytes or 0) <= self.mebibytes)

    def _in_time(self, found: Measured) -> bool:
        if found.ratio is None:
            return self.seconds is None or found.seconds <= self.seconds
        if self.ratio is None:
            return self.seconds is None or found.ratio <= self.seconds / IDLE
        return found.ratio <= self.ratio

    def __str__(self) -> str:
        parts = ((self.seconds, "{:.2f} s"), (self.ratio, "ratio {:g}"), (self.mebibytes, "{:.0f} MiB"))
        return ", ".join(form.format(value) for value, form in parts if value is not None)


BUDGETS = {
    "--version": Budget(seconds=0.04, ratio=4),
    "8 pools: generate, then check": Budget(seconds=0.30, ratio=45),
    "the sample fleet: check, cold": Budget(seconds=0.78),
    "1,000 pools: generate + check, nothing cached": Budget(seconds=2.5, mebibytes=45),
    "1,000 pools: generate --check, unchanged": Budget(seconds=0.20, ratio=35),
    "1,000 pools: generate --check, one profile changed": Budget(seconds=0.28, ratio=50),
    "1,000 pools: diff, one profile changed": Budget(seconds=1, mebibytes=64),
    "1,000 pools: diff, a base of all pools changed": Budget(seconds=3, mebibytes=64),
    "ledger of 1,000 unlike pools": Budget(seconds=2.6, mebibytes=88),
    "1,000 DaemonSets: check (ratio to kubeconform)": Budget(ratio=1.2, mebibytes=200),
    "10,000 pools: generate + check, nothing cached": Budget(mebibytes=62),
    "20 policies on 1,000 predicted workloads": Budget(seconds=1),
}


def last_release() -> dict[str, dict[str, float]]:
    """By row, the figures that are known of it."""
    figures: dict[str, dict[str, float]] = json.loads(LAST.read_text("utf-8"))
    return figures


def write_last_release(rows: Mapping[str, Measured]) -> None:
    figures = {
        work: {name: round(value, 3) for name, value in asdict(found).items() if value is not None}
        for work, found in rows.items()
    }
    LAST.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", "utf-8")
