"""What a change is compared with: a cluster as it is in the base, and as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.guard.ledger.prediction import Prediction


@record(kw_only=False)
class SeenCluster:
    """A cluster of one revision whose profiles are sound: what was written, what follows, and what will run."""

    loaded: LoadedCluster
    plan: ClusterPlan
    prediction: Prediction


@record(kw_only=False)
class ClusterChange:
    """A cluster whose profiles or bases differ. `before` is None for a new one, `after` for one that is gone.

    One whose profiles had errors in the base counts as new: nothing of it was ever generated.
    """

    name: str
    before: SeenCluster | None
    after: SeenCluster | None
