"""What each row may take; and the figures of releases (`history.json`), which docs/speed.md shows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from measuring import Measured

HISTORY = Path(__file__).with_name("history.json")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """`ratio` is of processor time to `python -c pass` (or to what the row names); the others are absolute."""

    ratio: float | None = None
    seconds: float | None = None
    mebibytes: float | None = None

    def keeps(self, found: Measured) -> bool:
        pairs = ((found.ratio, self.ratio), (found.seconds, self.seconds), (found.mebibytes, self.mebibytes))
        return all(most is None or (value is not None and value <= most) for value, most in pairs)

    def __str__(self) -> str:
        parts = ((self.ratio, "ratio {:g}"), (self.seconds, "{:.2f} s"), (self.mebibytes, "{:.0f} MiB"))
        return ", ".join(form.format(value) for value, form in parts if value is not None)


BUDGETS = {
    "--version": Budget(ratio=1.8),
    "lint of one values file": Budget(ratio=5),
    "lint of a file without a word about GPUs": Budget(ratio=3),
    "8 pools: generate, then check": Budget(ratio=36),
    "8 pools: generate and check in one process": Budget(ratio=22),
    "the sample fleet: check, cold": Budget(ratio=80),
    "1,000 pools: generate": Budget(ratio=90),
    "1,000 pools: generate + check, nothing cached": Budget(ratio=180, mebibytes=45),
    "1,000 pools: generate --check, unchanged": Budget(ratio=7),
    "1,000 pools: generate --check, one profile changed": Budget(ratio=28),
    "1,000 pools: diff, one profile changed": Budget(mebibytes=64),
    "1,000 pools: diff, a base of all pools changed": Budget(mebibytes=64),
    "ledger of 1,000 unlike pools": Budget(ratio=150, mebibytes=88),
    "20 policies, 100 pools in 10 clusters: check": Budget(ratio=75),
    "1,000 DaemonSets: check (ratio to kubeconform)": Budget(ratio=0.5, mebibytes=200),
    "1,120 files without GPUs: check": Budget(ratio=40),
    "10,000 pools: generate + check, nothing cached": Budget(mebibytes=62),
    "10,000 pools: two processes (ratio to one, by the clock)": Budget(ratio=0.6),
    "verify: 1,000 nodes, 20,000 pods": Budget(ratio=1_400, mebibytes=250),
    "20 policies on 1,000 predicted workloads": Budget(seconds=1),
}


def history() -> list[dict[str, Any]]:
    """By release, oldest first: where it was measured, and the figures of each row."""
    entries: list[dict[str, Any]] = json.loads(HISTORY.read_text("utf-8"))
    return entries


def keep(release: str, where: str, rows: Mapping[str, Measured]) -> None:
    """As those of a release; what was there of it is replaced."""
    figures = {
        work: {name: round(value, 3) for name, value in asdict(found).items() if value is not None}
        for work, found in rows.items()
    }
    entries = [entry for entry in history() if entry["release"] != release]
    entries.append({"release": release, "on": where, "rows": figures})
    HISTORY.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", "utf-8")
