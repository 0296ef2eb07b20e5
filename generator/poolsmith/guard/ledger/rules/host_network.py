"""Workloads in the network of the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, plural
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.catalog.switches import read_switches
from poolsmith.guard.ledger.ledger_view import FEW
from poolsmith.guard.ledger.privilege import privilege

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.ledger.ledger_view import PrivilegeView, SeenWorkload

RULE = RuleInfo.of("PSM403")
HOST_NETWORK = privilege("host-network")


def check(view: PrivilegeView) -> Iterator[Finding[Location]]:
    for workload in view.workloads:
        if workload.held(HOST_NETWORK):
            yield _finding(view, workload)


def _finding(view: PrivilegeView, workload: SeenWorkload) -> Finding[Location]:
    path = read_switches().network_of(workload.name)
    line = view.value_line(path) if path is not None else None
    switch = f"`{dotted(path)}`" if path is not None and line is not None else ""
    return view.finding(
        message=f"{workload.shown} is in the network of the node on {_where(view, workload)}"
        + (f", by {switch}" if switch else ""),
        line=line or view.nearest_line(workload),
        related=tuple((other, f"brings {workload.shown}") for other in view.lines_of(workload)),
        help=f"remove {switch} from `stack.values`" if switch else None,
        about=workload,
    )


def _where(view: PrivilegeView, workload: SeenWorkload) -> str:
    pools = [pool.name for pool in view.pools_of(workload)]
    if not pools:
        return f"any node of `{view.cluster}`"
    return f"{plural(len(pools), 'pool')} {listed(pools, FEW)} of `{view.cluster}`"
