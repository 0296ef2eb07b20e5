"""Pass: where the kubelet of the distribution keeps its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.nested import MISSING, value_at
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ValueSetting

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan

PATH = ("hostPaths", "kubeletRootDir")


def find_kubelet(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Of releases that can be told; the exporter asks the kubelet there which pod has which GPU."""
    distribution = facts.distribution
    if distribution is None or distribution.kubelet_root is None or not facts.need_chart().accepts(PATH):
        return plan
    if value_at(plan.cluster.spec.stack.values, PATH, MISSING) is not MISSING:
        return plan
    origin = Derived(
        "kubelet_root",
        f"the kubelet of {distribution.name} keeps its files there",
        (
            facts.at_cluster("/spec/kubernetes/distribution"),
            FromCatalog(f"distributions/{distribution.name}", distribution.source),
        ),
    )
    return with_values(plan, ValueSetting(PATH, distribution.kubelet_root, origin))
