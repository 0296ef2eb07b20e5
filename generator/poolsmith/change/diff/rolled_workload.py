"""Workloads whose pods are replaced when their template changes, with the pools that they run on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.installation import Maker
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.change.review.change import SeenCluster
    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.installation import Made

ROLLED = ("DaemonSet", "Deployment", "StatefulSet")


@record
class RolledWorkload:
    """`pools` have the names of after the change; `anywhere`: nothing ties its pods to nodes."""

    made: Made
    pools: tuple[str, ...] = ()
    anywhere: bool = False

    @property
    def body(self) -> KubernetesObject:
        return self.made.body

    @property
    def key(self) -> str:
        return self.made.key

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"].get("namespace", ""))


def rolled_workloads(seen: SeenCluster | None, renamed: Mapping[str, str]) -> dict[str, RolledWorkload]:
    """By namespace, kind and name. Hooks run when Helm says so, and pods of operands with those of their operands."""
    if seen is None:
        return {}
    made = seen.prediction.installation.made
    landing = seen.prediction.ledger.landing
    names = tuple(pool.name for pool in seen.plan.pools)
    return {
        item.key: _workload(item, landing.get(item.key, ()), names, renamed)
        for item in made
        if item.body["kind"] in ROLLED and item.maker is not Maker.HOOK
    }


def _workload(made: Made, landing: Iterable[str], names: tuple[str, ...], renamed: Mapping[str, str]) -> RolledWorkload:
    anywhere = ANY_NODE in landing
    found = names if anywhere and made.body["kind"] == "DaemonSet" else landing
    pools = sorted(renamed.get(pool, pool) for pool in found if pool not in (ANY_NODE, NO_KNOWN_NODE))
    return RolledWorkload(made=made, pools=tuple(pools), anywhere=anywhere)


def strategy_of(workload: Mapping[str, Any]) -> tuple[str, str]:
    """How pods are replaced: the type, and how many may be unavailable; the API server's defaults where nothing is
    said.

    Source: kubernetes/kubernetes:pkg/apis/apps/v1/defaults.go.
    """
    spec = workload.get("spec") or {}
    kind = workload.get("kind")
    strategy = spec.get("strategy" if kind == "Deployment" else "updateStrategy") or {}
    rolling = strategy.get("rollingUpdate") or {}
    default = "25%" if kind == "Deployment" else "1"
    unavailable = rolling.get("maxUnavailable")
    return str(strategy.get("type") or "RollingUpdate"), default if unavailable is None else str(unavailable)
