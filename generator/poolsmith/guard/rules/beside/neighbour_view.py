"""What rules over the neighbours of a GPU stack look at."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.plan.plan import NFD, PROVISIONER
from poolsmith.kubernetes.repository.node_templates import NodeTemplate, node_templates

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.node_pool import Nodes, Taint
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.rules.setup.setup_view import Place
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree


@record(slots=False)
class NeighbourPool:
    """A pool as it is planned. `place` is from a pointer to a line of its profile."""

    plan: PoolPlan
    place: Place

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def nodes(self) -> Nodes:
        return self.plan.profile.spec.nodes

    @cached_property
    def labels(self) -> dict[str, str]:
        """Those that whoever makes the nodes has to set."""
        return {label.key: label.value for label in self.plan.labels if label.writer == PROVISIONER}

    @property
    def discovered(self) -> frozenset[str]:
        """Keys of labels that come after a node has joined."""
        return frozenset(label.key for label in self.plan.labels if label.writer == NFD)

    @property
    def startup(self) -> tuple[Taint, ...]:
        return self.nodes.startup_taints

    @property
    def called(self) -> frozenset[str]:
        """What a template of its nodes is called."""
        given = self.nodes.provisioned_by
        if given is None or given.name is None:
            return frozenset((self.name, self.plan.label_value))
        return frozenset((given.name, given.template or given.name))


@record
class NeighbourMatch:
    """A template, and the pool whose nodes it describes: the pool label says so, or without one its name.

    `named` is the pool that has its name, whatever the label says.
    """

    template: NodeTemplate
    pool: NeighbourPool | None = None
    named: NeighbourPool | None = None


@record(slots=False, eq=False)
class NeighbourView:
    """One cluster's plan, and the files that stand beside it.

    `is_named`: the profile names the files, so that nothing else makes nodes.
    """

    catalog: Catalog
    plan: ClusterPlan
    pools: tuple[NeighbourPool, ...]
    tree: CheckedTree
    is_named: bool = False

    @property
    def pool_label(self) -> str:
        return self.plan.cluster.spec.pool_label

    @cached_property
    def matches(self) -> tuple[NeighbourMatch, ...]:
        """Each template of the files."""
        return tuple(map(self._match, node_templates(self.tree)))

    @property
    def pairs(self) -> tuple[tuple[NodeTemplate, NeighbourPool], ...]:
        """Templates whose pool is known."""
        return tuple((match.template, match.pool) for match in self.matches if match.pool is not None)

    def _match(self, template: NodeTemplate) -> NeighbourMatch:
        called = [pool for pool in self.pools if not pool.called.isdisjoint(template.names)]
        named = called[0] if len(called) == 1 else None
        for mark in (*template.labels, *template.choices):
            if mark.key == self.pool_label and mark.value is not None:
                found = next((pool for pool in self.pools if pool.plan.label_value == mark.value), None)
                is_one = mark not in template.choices
                return NeighbourMatch(template=template, pool=found if is_one else None, named=named)
        return NeighbourMatch(template=template, pool=named, named=named)
