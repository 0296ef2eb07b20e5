"""In which pool each node is: the one that its label names, and the one that it is like."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.change.verify.node_facts import facts_of
from poolsmith.change.verify.node_lacks import lacks_of, more_taints
from poolsmith.change.verify.release import other_release
from poolsmith.core.record import record
from poolsmith.gpu.catalog.node_labels import DEPLOY, GPU_PRESENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.discover.gpu_nodes import LiveNode
    from poolsmith.change.verify.node_facts import Fact
    from poolsmith.change.verify.view import LiveView
    from poolsmith.fleet.plan.plan import PoolPlan

_MANY = 2
"""Things that are otherwise than a pool's profile says, and no accident."""


@record
class PlacedNode:
    """`pool` is the one of its label; `facts` contradict its profile, `lacks` and `taints` are in words what else is
    otherwise. `like` is another one: the only one of the cluster by whose profile nothing is, where several things
    are by its own."""

    node: LiveNode
    pool: PoolPlan
    facts: tuple[Fact, ...]
    lacks: tuple[str, ...]
    taints: tuple[str, ...]
    like: PoolPlan | None = None

    @property
    def seems(self) -> PoolPlan:
        """The pool whose node it is by all that it says but its label."""
        return self.like or self.pool


class Placing:
    """Holds nodes of a cluster against its pools."""

    def __init__(self, view: LiveView) -> None:
        self._view = view
        self._predicted = _predicted_labels(view)
        self._known = {pool.name: view.cluster.known_of(pool) for pool in view.cluster.plan.pools}

    @cached_property
    def placed(self) -> tuple[PlacedNode, ...]:
        """Those with the label of a pool, by name."""
        return tuple(self._placed())

    def _placed(self) -> Iterator[PlacedNode]:
        for node in self._view.nodes:
            pool = self._view.pool_of(node)
            if pool is not None:
                found = self._held_against(node, pool)
                yield replace(found, like=self.like(node, pool)) if _count(found) >= _MANY else found

    def like(self, node: LiveNode, but: PoolPlan | None = None) -> PoolPlan | None:
        """The only pool by whose profile nothing of a node is otherwise."""
        others = [item for item in self._view.cluster.plan.pools if item is not but]
        alike = [item for item in others if not _count(self._held_against(node, item))]
        return alike[0] if len(alike) == 1 else None

    def _held_against(self, node: LiveNode, pool: PoolPlan) -> PlacedNode:
        cluster = self._view.cluster
        lacks = lacks_of(node, pool, cluster.plan.cluster.spec.pool_label, self._predicted.get(pool.name, {}))
        return PlacedNode(
            node=node,
            pool=pool,
            facts=tuple(facts_of(node, pool, self._known[pool.name])),
            lacks=tuple(lacks),
            taints=tuple(more_taints(node, pool, cluster.marks.passing)),
        )


def _count(found: PlacedNode) -> int:
    return len(found.facts) + len(found.lacks) + len(found.taints)


def _predicted_labels(view: LiveView) -> dict[str, dict[str, str]]:
    """Of each pool, what the operator writes: nothing is said of them where another release of it runs."""
    if other_release(view):
        return {}
    return {
        node.pool: {key: value for key, value in node.labels.items() if key == GPU_PRESENT or key.startswith(DEPLOY)}
        for node in view.cluster.prediction.installation.nodes
    }
