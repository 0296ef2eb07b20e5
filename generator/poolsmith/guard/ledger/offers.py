"""What the nodes of each pool offer to workloads by name: resources of device plugins.

Source: NVIDIA/k8s-device-plugin:README.md (resource names of MIG strategies, time slicing and MPS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.plan.mig import WHOLE_GPU
from poolsmith.guard.ledger.ledger import ANY_NODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.guard.ledger.prediction import Prediction

PLUGINS = frozenset(("nvidia-device-plugin-daemonset", "nvidia-device-plugin"))
"""Of the operator and of the plain manifest, and of the plugin's own chart."""
_SANDBOX_PLUGINS = frozenset(("nvidia-sandbox-device-plugin-daemonset", "nvidia-kata-sandbox-device-plugin-daemonset"))
_STRATEGY = ("mig", "strategy")
_NO_STRATEGY = "none"
_SHARED = ".shared"


def offered_resources(prediction: Prediction) -> dict[str, frozenset[str]]:
    """By pool: names that pods may ask for. Nothing of vGPU hosts: their names are those of their vGPU types."""
    whole = prediction.origins.value(_STRATEGY) == _NO_STRATEGY
    return {
        pool.name: frozenset(_names(pool, running_on(prediction, pool.name), whole=whole))
        for pool in prediction.plan.pools
    }


def running_on(prediction: Prediction, pool: str) -> frozenset[str]:
    """The names of the DaemonSets that run on a pool."""
    landing = prediction.ledger.landing
    return frozenset(key.rpartition("/")[2] for key, pools in landing.items() if pool in pools or ANY_NODE in pools)


def _names(pool: PoolPlan, running: frozenset[str], *, whole: bool) -> Iterator[str]:
    if not running.isdisjoint(PLUGINS):
        for name in (WHOLE_GPU,) if whole else pool.resources:
            yield f"{name}{_SHARED}" if _is_renamed(pool, name) else name
    if pool.passthrough_resource is not None and not running.isdisjoint(_SANDBOX_PLUGINS):
        yield pool.passthrough_resource


def _is_renamed(pool: PoolPlan, resource: str) -> bool:
    """Whether what is shared has a name of its own."""
    slicing, mps = pool.profile.spec.sharing.time_slicing, pool.profile.spec.sharing.mps
    if slicing is not None:
        return slicing.rename_by_default and resource in slicing.shared
    return mps is not None and mps.rename_by_default and resource == WHOLE_GPU
