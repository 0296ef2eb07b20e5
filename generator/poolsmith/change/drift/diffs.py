"""How engines compare: which diff a cluster's delivery takes, and which others there are."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.profiles.cluster import Engine

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan


class DiffMode(StrEnum):
    """Argo CD has all of them; Flux always asks the server."""

    LEGACY = "legacy"
    SERVER_SIDE = "server-side"
    STRUCTURED_MERGE = "structured-merge"


@record
class EngineDiff:
    """One way of comparing."""

    engine: Engine
    diff: DiffMode

    def __str__(self) -> str:
        return f"{self.engine}/{self.diff}"


ALL = (
    *(EngineDiff(engine=Engine.ARGOCD, diff=mode) for mode in DiffMode),
    EngineDiff(engine=Engine.FLUX, diff=DiffMode.SERVER_SIDE),
)


def compared_by(plan: ClusterPlan, engine: Engine | None = None, diff: DiffMode | None = None) -> EngineDiff:
    """What the generated delivery takes, but for what is asked instead.

    Each Application that is generated asks for the server-side diff; Flux has no other.
    """
    engine = engine or plan.cluster.spec.delivery.engine
    if engine is Engine.FLUX:
        return EngineDiff(engine=engine, diff=DiffMode.SERVER_SIDE)
    return EngineDiff(engine=engine, diff=diff or DiffMode.SERVER_SIDE)
