"""What a user says of a cluster beside the files that are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Skipped
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.guard.rules.setup.view import SetupNode


@record
class GivenNodes:
    """What the user said of the cluster beside the files: nodes, and what else its profile says.

    `nodes` are those with a GPU, None where they could not be read; `problems` say why. `planned` are the profiles that
    they are pools of, and their plan.
    """

    nodes: tuple[SetupNode, ...] | None
    bystanders: tuple[SetupNode, ...] = ()
    release: str | None = None
    distribution: str | None = None
    kubernetes: str | None = None
    problems: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: int = 0
    planned: tuple[LoadedCluster, ClusterPlan] | None = None
