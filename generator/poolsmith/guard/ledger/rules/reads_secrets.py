"""Workloads whose account may read secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import joined, listed
from poolsmith.guard.ledger.ledger_view import FEW
from poolsmith.guard.ledger.privilege import CLUSTER, covers, privilege
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.ledger.ledger_view import PrivilegeView, SeenWorkload

RULE = RuleInfo.of("PSM405")
READING = ("get", "list", "watch")


def check(view: PrivilegeView) -> Iterator[Finding[Location]]:
    readers = [(scopes, workload) for workload in view.workloads if (scopes := _scopes(workload))]
    if not readers:
        return
    readers.sort(key=lambda item: CLUSTER not in item[0])
    yield view.finding(
        message=f"workloads of `{view.cluster}` may read secrets: "
        + joined([f"{workload.shown} {_where(scopes)}" for scopes, workload in readers], FEW),
        line=view.nearest_line(readers[0][1]),
        related=tuple((view.nearest_line(item), f"brings {item.shown}") for _, item in readers[:FEW]),
    )


def _scopes(workload: SeenWorkload) -> tuple[str, ...]:
    """Where it may read secrets, or a secret that is named."""
    scopes: dict[str, None] = {}
    for line in workload.lines:
        if line.reach <= Reach.SECRETS and line.privilege.name == "rbac":
            _, resource, _, scope, name = line.privilege.arguments
            if scope in scopes or resource not in ("*", "secrets"):
                continue
            if any(covers(line.privilege, privilege("rbac", "core", "secrets", verb, scope, name)) for verb in READING):
                scopes[scope] = None
    return tuple(scopes)


def _where(scopes: tuple[str, ...]) -> str:
    if CLUSTER in scopes:
        return "in each namespace"
    return f"in namespace {listed([scope.removeprefix('ns/') for scope in scopes], FEW)}"
