"""What waits for what on the nodes of each pool, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.start_order import start_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.start_order import Start
    from poolsmith.guard.ledger.workload_ledger import ClusterLedger

_KIND = "DaemonSet/"
_DRIVER = "driver"


def pool_orders(ledger: ClusterLedger, objects: Iterable[KubernetesObject]) -> dict[str, tuple[Start, ...]]:
    """By pool, the DaemonSets that wait or are waited for on its nodes; pools without any are left out."""
    by_name = {item["metadata"]["name"]: item for item in objects if item["kind"] == "DaemonSet"}
    pools: dict[str, list[KubernetesObject]] = {}
    for item in ledger.workloads:
        daemon_set = by_name.get(item.workload.removeprefix(_KIND)) if item.workload.startswith(_KIND) else None
        if daemon_set is not None:
            for pool in item.pools:
                pools.setdefault(pool, []).append(daemon_set)
    found = {pool: start_order(daemon_sets) for pool, daemon_sets in sorted(pools.items())}
    waited = {pool: {name for start in starts for name in start.after} for pool, starts in found.items()}
    kept = {
        pool: tuple(start for start in starts if start.after or start.name in waited[pool])
        for pool, starts in found.items()
    }
    return {pool: starts for pool, starts in kept.items() if starts}


def start_words(start: Start, starts: Iterable[Start]) -> str:
    """`first`, or after whom, and by which file that is known."""
    if not start.after:
        return "first"
    files = f" ({', '.join(start.files)})" if start.files else ""
    shown = {item.name: shown_name(item) for item in starts}
    return f"after {', '.join(sorted({shown[name] for name in start.after}))}{files}"


def shown_name(start: Start) -> str:
    """A pool's driver is called by what it is: its DaemonSet has a name of its own in each pool."""
    return _DRIVER if start.is_driver else start.name
