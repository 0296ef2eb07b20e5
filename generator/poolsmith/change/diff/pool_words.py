"""Pools in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.listing import joined, plural
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 6


def on_pools(pools: Sequence[str]) -> str:
    """`on pool a`, `on pools a, b`, `on any node`, `on no known node`; nothing for no pools."""
    if not pools:
        return ""
    if ANY_NODE in pools:
        return "on any node"
    known = [pool for pool in pools if pool != NO_KNOWN_NODE]
    if not known:
        return "on no known node"
    return f"on {plural(len(known), 'pool')} {joined([f'`{shorten(pool)}`' for pool in known], _SHOWN)}"
