"""All findings of a verification of one cluster, in text that is safe to show.

Anybody may have written what a cluster or a bundle of a cluster's state says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.verify.expected import is_delivered_from_elsewhere
from poolsmith.change.verify.live_view import AROUND
from poolsmith.change.verify.node_placement import Placing, judge_node_health, judge_nodes, upgrades
from poolsmith.change.verify.node_rules import judge_node_rules
from poolsmith.change.verify.objects import judge_objects
from poolsmith.change.verify.only_one import judge_only_one
from poolsmith.change.verify.restart import judge_restart
from poolsmith.change.verify.rollout import judge_rollout, judge_states
from poolsmith.change.verify.root_ways import judge_root_ways, root_today
from poolsmith.change.verify.stack_remnants import judge_left_overs, judge_webhooks
from poolsmith.change.verify.version_skew import judge_definitions, judge_skew
from poolsmith.change.verify.workloads import judge_workloads
from poolsmith.core.diagnostics import diagnose, sorted_unique
from poolsmith.core.diagnostics.codes.live import NOT_READ
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted, cut_inside, listed, printable
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.kubernetes.live.api_resources import NODES, WORKLOADS
from poolsmith.kubernetes.live.snapshot import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.live.api_resources import ApiResource


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


def judge_live(view: LiveView, *, around: bool = True) -> Outcome:
    """All findings, and what was compared. A list that could not be read is one thing that was not evaluated."""
    placing = Placing(view)
    restart, undecided = judge_restart(view)
    unanswered = view.unanswered if around else ()
    found = (
        *judge_objects(view),
        *judge_workloads(view),
        *judge_nodes(view, placing),
        *judge_node_health(view),
        *judge_node_rules(view, placing),
        *judge_rollout(view),
        *judge_states(view),
        *judge_root_ways(view),
        *restart,
        *judge_only_one(view),
        *_not_read(view),
        *judge_left_overs(view, placing),
        *judge_webhooks(view),
        *judge_skew(view),
        *judge_definitions(view),
    )
    unknown = view.cluster.prediction.unknown
    skipped = [Skipped(f"list of {resource.named}", reason) for resource, reason in view.unread]
    skipped += [Skipped(what, f"{why}; `poolsmith live rbac --around` prints the right") for what, why in unanswered]
    skipped += [Skipped(what, why) for what, why in undecided]
    skipped += [Skipped(f"operand expansion of cluster {view.cluster.name}", f"not known: {text}") for text in unknown]
    told = Outcome(
        diagnostics=sorted_unique(found),
        checked={"clusters": 1, "live objects": sum(len(item.items) for item in view.snapshot.lists)},
        skipped=tuple(skipped),
        not_evaluated=len(view.unread) + len(unanswered) + len(undecided) + len(unknown),
        facts=tuple(_facts(view)),
    )
    return harmless(told)


def _facts(view: LiveView) -> Iterator[str]:
    """Sentences about what was read, and about nothing else."""
    snapshot = view.snapshot
    compared = sum(view.knows(item) for item in view.cluster.expected)
    knows_nodes = _is_known(view, NODES)
    counts = [counted(compared, "object")]
    if all(_is_known(view, resource) for resource in WORKLOADS):
        counts.append(counted(sum(len(snapshot.items(resource)) for resource in WORKLOADS), "workload"))
    counts += [counted(len(view.nodes), "node")] if knows_nodes else []
    yield f"read at {snapshot.taken} from {snapshot.context or 'the cluster'}, Kubernetes {snapshot.server}"
    yield f"held against what is committed: {', '.join(counts)}"
    yield root_today(view)
    if compared == len(view.cluster.expected) and not any(map(view.find, view.cluster.expected)):
        yield f"nothing that is committed is on it: is {snapshot.context or 'this'} the right cluster?"
    empty = sorted({pool.name for pool in view.cluster.plan.pools} - {pool.name for pool in view.pools_with_nodes})
    if empty and knows_nodes:
        yield f"no node yet in {counted(len(empty), 'pool')}: {listed(empty, _FEW)}"
    if is_delivered_from_elsewhere(view.cluster.plan):
        yield "Argo CD runs in another cluster: its Applications stand there, and are not compared"
    if states := upgrades(view):
        yield f"driver upgrades, by node: {states}"


def _is_known(view: LiveView, resource: ApiResource) -> bool:
    listed_objects = view.snapshot.listed(resource)
    return listed_objects is not None and listed_objects.is_known


def _not_read(view: LiveView) -> Iterator[Diagnostic]:
    """Of what says what runs; a file that was saved without a list is told as not evaluated alone."""
    for item in view.snapshot.unread:
        needed = item.resource in view.cluster.required
        if needed or (item.state is State.FAILED and item.resource in AROUND):
            message = f"list of {item.resource.named} of cluster `{view.cluster.name}` was not read: {item.reason}"
            place = view.cluster.of_cluster("/metadata/name")
            yield diagnose(NOT_READ, message, place, subject=view.cluster.subject(item.resource.kind, "list"))
