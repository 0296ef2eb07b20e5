"""All that stands in a cluster once a plan is applied and its operator has settled."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.operands.expansion import object_order

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion import KubernetesObject, Node


class Maker(StrEnum):
    """Who creates an object."""

    POOLSMITH = "poolsmith"
    CHART = "chart"
    HOOK = "chart hook"
    OPERATOR = "operator"
    OPERAND = "operand"


@record(kw_only=False)
class Made:
    """A whole Kubernetes object, and who creates it.

    `through` names the chart, the unit or the custom resource; of what an operand starts, it is the operand's key.
    """

    body: KubernetesObject
    maker: Maker
    through: str

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def workload(self) -> str:
        return f"{self.body['kind']}/{self.name}"

    @property
    def key(self) -> str:
        """Namespace, kind and name; nothing else in the cluster has all three."""
        return f"{self.body['metadata'].get('namespace', '')}/{self.workload}"


@record
class Installation:
    """One cluster in its steady state. `nodes` are one for each pool, with the pool's name and all labels.

    `errors` are what the chart or the operator would report, `unknown` what could not be evaluated: where it is not
    empty, there may be more than `made`. `toolkit_overlays` are the objects of pools with a toolkit of their own, by
    pool; `made` has them too.
    """

    release: str
    nodes: tuple[Node, ...] = ()
    made: tuple[Made, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    toolkit_overlays: tuple[tuple[str, tuple[KubernetesObject, ...]], ...] = ()
    resources: tuple[KubernetesObject, ...] = ()
    """The operator's custom resources, as the API server stores them."""

    @property
    def objects(self) -> tuple[KubernetesObject, ...]:
        return tuple(item.body for item in self.made)


def in_made_order(made: list[Made]) -> tuple[Made, ...]:
    return tuple(sorted(made, key=lambda item: object_order(item.body)))
