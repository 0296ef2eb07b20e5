"""Pass: values that keep nulls out of what the chart renders.

The chart of some releases writes a null where its defaults have nothing. Server-side apply refuses some of them, and in
place of others the server stores a default, which an engine that compares would take away again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.nested import overlap
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ValueSetting
from poolsmith.gpu.catalog.chart_nulls import REFUSED, nulls_of

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan

DERIVATION = "chart_nulls"
_WHY = {
    True: "the chart writes a null here, which server-side apply refuses",
    False: "the chart writes a null here, and the server stores its default instead: it would never be in sync",
}


def cure_nulls(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Whoever sets such a path, or something above or below it, decides by oneself."""
    release = plan.cluster.spec.stack.release
    settings = []
    for item in nulls_of(release):
        if any(overlap(item.path, setting.path) for setting in plan.values):
            continue
        asked = (facts.at_cluster("/spec/stack/release"), FromCatalog(f"chart_nulls/{item.dotted}", item.source))
        origin = Derived(DERIVATION, _WHY[item.effect == REFUSED], asked)
        settings.append(ValueSetting(item.path, item.value, origin))
    return with_values(plan, *settings)
