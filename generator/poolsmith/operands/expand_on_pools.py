"""Expansion where only the pools are known, and not the node that runs the operator.

Up to v25.10 that node's /etc/os-release decides which package subscriptions of the host a driver mounts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.operands.daemon_sets.host_system import UNKNOWN_OPERATOR_HOST
from poolsmith.operands.expand import expand
from poolsmith.operands.node_system import OS_ID

if TYPE_CHECKING:
    from poolsmith.operands.expansion import ClusterState, Expansion


def expand_on_pools(release: str, state: ClusterState) -> Expansion:
    """Where the operator's node matters and all nodes run one system, it is taken for that one; `unknown` says so."""
    expansion = expand(release, state)
    systems = {node.labels.get(OS_ID, "") for node in state.nodes}
    if len(systems) != 1 or not any(UNKNOWN_OPERATOR_HOST in text for text in expansion.unknown):
        return expansion
    system = min(systems)
    told = tuple(
        f"{text}: taken for {system}, like all pools" if UNKNOWN_OPERATOR_HOST in text else text
        for text in expansion.unknown
    )
    assumed = expand(release, replace(state, os_release={"ID": system}))
    return replace(assumed, unknown=tuple(dict.fromkeys((*told, *assumed.unknown))))
