"""Labels of a pool's nodes, as the operator and feature discovery leave them.

Source: NVIDIA/k8s-device-plugin:internal/lm/{mig-strategy,resource}.go for what GPU feature discovery adds to the name
of a product.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.gpu.catalog.node_labels import DEPLOY, DRIVER_OWNER
from poolsmith.guard.ledger.offers import running_on

if TYPE_CHECKING:
    from poolsmith.change.review.change import SeenCluster
    from poolsmith.fleet.plan.plan import PoolPlan

_DISCOVERY = "gpu-feature-discovery"
_STRATEGY = ("mig", "strategy")
_SINGLE = "single"
PRODUCT = "nvidia.com/gpu.product"
"""What discovery writes there follows from the resources that the device plugin offers."""
_MIG_STRATEGY = "nvidia.com/mig.strategy"
_OF_THE_OPERATOR = (DEPLOY, DRIVER_OWNER, _MIG_STRATEGY)
PRODUCT_END = "…"
"""For the name of the product itself, which the driver says."""
_OF_ONE_NODE = "kubernetes.io/hostname"


def is_selected_by(key: str) -> bool:
    """Whether workloads of users select nodes by such a label; others tell where the stack's own pods run, and how."""
    return not key.startswith(_OF_THE_OPERATOR)


def labels_of_pools(seen: SeenCluster) -> dict[str, dict[str, str]]:
    """By pool and key; where nodes of a pool run several systems, all values of a label in one text."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for node in seen.prediction.installation.nodes:
        for key, value in node.labels.items():
            if key != _OF_ONE_NODE:
                found[node.pool][key].add(value)
    labels = {pool: {key: ", ".join(sorted(values)) for key, values in sets.items()} for pool, sets in found.items()}
    strategy = seen.prediction.origins.value(_STRATEGY) or _SINGLE
    for pool in seen.plan.pools:
        if pool.profile.spec.gpu.mig is not None and _DISCOVERY in running_on(seen.prediction, pool.name):
            labels.setdefault(pool.name, {}).update(_discovered(pool, str(strategy)))
    return labels


def _discovered(pool: PoolPlan, strategy: str) -> dict[str, str]:
    """With the strategy `single` the product of slices has their size in its name."""
    size = _slices(pool) if strategy == _SINGLE else None
    return {PRODUCT: f"{PRODUCT_END}-MIG-{size}" if size is not None else PRODUCT_END, _MIG_STRATEGY: strategy}


def _slices(pool: PoolPlan) -> str | None:
    """The one size that all slices of a pool have; None where there are several, or none."""
    mig = pool.profile.spec.gpu.mig
    if mig is None or pool.mig_strategy != _SINGLE:
        return None
    sizes = {size for group in mig.devices for size in group.mig_devices}
    if sizes:
        return min(sizes)
    start, _, size = mig.layout.partition("all-")
    return size if not start and size[:1].isdigit() else None
