"""Everything that a verification tells of one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.verify.definitions import judge_definitions
from poolsmith.change.verify.expected import is_delivered_from_elsewhere
from poolsmith.change.verify.left_overs import judge_left_overs
from poolsmith.change.verify.node_health import judge_node_health, upgrades
from poolsmith.change.verify.nodes import judge_nodes
from poolsmith.change.verify.objects import judge_objects
from poolsmith.change.verify.placed import Placing
from poolsmith.change.verify.quoting import harmless
from poolsmith.change.verify.rights import judge_rights
from poolsmith.change.verify.rollout import judge_rollout
from poolsmith.change.verify.skew import judge_skew
from poolsmith.change.verify.states import judge_states
from poolsmith.change.verify.webhooks import judge_webhooks
from poolsmith.change.verify.workloads import judge_workloads
from poolsmith.core.diagnostics import sorted_unique
from poolsmith.core.diagnostics.listing import counted, listed
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.kubernetes.live.resources import WORKLOADS

if TYPE_CHECKING:
    from poolsmith.change.verify.view import LiveView

_FEW = 4


def judge_live(view: LiveView) -> Outcome:
    """All findings, and what was compared. A list that could not be read is one thing that was not evaluated."""
    placing = Placing(view)
    found = (
        *judge_objects(view),
        *judge_workloads(view),
        *judge_nodes(view, placing),
        *judge_node_health(view),
        *judge_rollout(view),
        *judge_states(view),
        *judge_rights(view),
        *judge_left_overs(view, placing),
        *judge_webhooks(view),
        *judge_skew(view),
        *judge_definitions(view),
    )
    snapshot = view.snapshot
    unknown = view.cluster.prediction.unknown
    compared = sum(view.knows(item) for item in view.cluster.expected)
    workloads = sum(len(snapshot.items(resource)) for resource in WORKLOADS)
    nodes = counted(len(view.nodes), "node")
    facts = [
        f"read at {snapshot.taken} from {snapshot.context or 'the cluster'}, Kubernetes {snapshot.server}",
        f"held against what is committed: {counted(compared, 'object')}, {counted(workloads, 'workload')}, {nodes}",
    ]
    if not any(map(view.find, view.cluster.expected)):
        facts.append(f"nothing that is committed is on it: is {snapshot.context or 'this'} the right cluster?")
    if empty := sorted({pool.name for pool in view.cluster.plan.pools} - {pool.name for pool in view.pools_with_nodes}):
        facts.append(f"no node yet in {counted(len(empty), 'pool')}: {listed(empty, _FEW)}")
    if is_delivered_from_elsewhere(view.cluster.plan):
        facts.append("Argo CD runs in another cluster: its Applications stand there, and are not compared")
    if states := upgrades(view):
        facts.append(f"driver upgrades, by node: {states}")
    skipped = [Skipped(f"list of {resource.named}", reason) for resource, reason in view.unread]
    skipped += [Skipped(f"operand expansion of cluster {view.cluster.name}", f"not known: {text}") for text in unknown]
    told = Outcome(
        diagnostics=sorted_unique(found),
        checked={"clusters": 1, "live objects": sum(len(item.items) for item in snapshot.lists)},
        skipped=tuple(skipped),
        not_evaluated=len(view.unread) + len(unknown),
        facts=tuple(facts),
    )
    return harmless(told)
