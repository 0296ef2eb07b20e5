"""All findings of a verification of one cluster, in text that is safe to show.

Anybody may have written what a cluster or a bundle of a cluster's state says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.verify.expected import is_delivered_from_elsewhere
from poolsmith.change.verify.node_placement import Placing, judge_node_health, judge_nodes, upgrades
from poolsmith.change.verify.objects import judge_objects
from poolsmith.change.verify.rollout import judge_rollout, judge_states
from poolsmith.change.verify.stack_remnants import judge_left_overs, judge_webhooks
from poolsmith.change.verify.version_skew import judge_definitions, judge_skew
from poolsmith.change.verify.workloads import judge_rights, judge_workloads
from poolsmith.core.diagnostics import sorted_unique
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted, cut_inside, listed, printable
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.kubernetes.live.api_resources import WORKLOADS

if TYPE_CHECKING:
    from poolsmith.change.verify.live_view import LiveView


_LONGEST = 1200
"""Letters of one message: four shown names of the longest that Kubernetes allows, and what is said of them."""


def harmless(outcome: Outcome) -> Outcome:
    """The same outcome with texts of one line, of a bounded length, without control characters and secrets."""
    return replace(
        outcome,
        diagnostics=tuple(
            replace(item, message=quoted(item.message), subject=quoted(item.subject)) for item in outcome.diagnostics
        ),
        skipped=tuple(replace(item, what=quoted(item.what), reason=quoted(item.reason)) for item in outcome.skipped),
        facts=tuple(map(quoted, outcome.facts)),
    )


def quoted(text: str) -> str:
    """Cut first: what is a megabyte long is not looked through."""
    return printable(masked(cut_inside(text, _LONGEST)))


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
