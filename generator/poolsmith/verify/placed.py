"""In which pool each node is: the one that its label names, and the one that it is like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.record import record
from poolsmith.verify.node_facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.live.nodes import LiveNode
    from poolsmith.plan.plan import PoolPlan
    from poolsmith.verify.node_facts import Fact
    from poolsmith.verify.view import LiveView

_MANY = 2
"""Facts that contradict a profile and are no accident."""


@record
class PlacedNode:
    """`pool` is the one of its label, `facts` are those that contradict it. `like` is another one: the only one of the
    cluster that nothing of the node contradicts, where more than one thing contradicts its own."""

    node: LiveNode
    pool: PoolPlan
    facts: tuple[Fact, ...]
    like: PoolPlan | None = None

    @property
    def seems(self) -> PoolPlan:
        """The pool whose node it is by all that it says but its label."""
        return self.like or self.pool


def placed_nodes(view: LiveView) -> Iterator[PlacedNode]:
    """Those with the label of a pool, by name."""
    for node in view.nodes:
        pool = view.pool_of(node)
        if pool is not None:
            facts = tuple(facts_of(node, pool, view.cluster.known_of(pool)))
            like = _like(view, node, pool) if len(facts) >= _MANY else None
            yield PlacedNode(node=node, pool=pool, facts=facts, like=like)


def _like(view: LiveView, node: LiveNode, pool: PoolPlan) -> PoolPlan | None:
    others = [item for item in view.cluster.plan.pools if item is not pool]
    alike = [item for item in others if not any(facts_of(node, item, view.cluster.known_of(item)))]
    return alike[0] if len(alike) == 1 else None
