"""Service accounts on the nodes of pools that may change nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import joined, listed
from poolsmith.guard.ledger.ledger_view import FEW
from poolsmith.guard.ledger.privilege import rbac

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.ledger.ledger_view import PrivilegeView, SeenWorkload

RULE = RuleInfo.of("PSM404")
MAY_CHANGE = (rbac("", "nodes", "patch"), rbac("", "nodes", "update"))


def check(view: PrivilegeView) -> Iterator[Finding[Location]]:
    accounts: dict[tuple[str, str], list[SeenWorkload]] = {}
    for workload in view.workloads:
        if workload.held(*MAY_CHANGE):
            accounts.setdefault((workload.namespace, workload.account), []).append(workload)
    found = [(key[1], users) for key, users in accounts.items() if any(map(view.is_on_nodes, users))]
    if not found:
        return
    found.sort(key=lambda item: (-len(item[1]), item[0]))
    count = "an account" if len(found) == 1 else f"{len(found)} accounts"
    yield view.finding(
        message=f"{count} of pods on the nodes of `{view.cluster}` may patch any node: "
        + joined([_shown(account, users) for account, users in found], FEW),
        line=view.nearest_line(found[0][1][0]),
        related=tuple((view.nearest_line(users[0]), f"brings `{account}`") for account, users in found[:FEW]),
    )


def _shown(account: str, users: list[SeenWorkload]) -> str:
    shared = f" (shared by {listed([user.name for user in users], FEW)})" if len(users) > 1 else ""
    return f"`{account}`{shared}"
