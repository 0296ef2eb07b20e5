"""Critical pods of charts beside the operator, in namespaces of GKE without a quota for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import word
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.rules.setup import no_quota_for_critical_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = no_quota_for_critical_pods.RULE
_CLASSES = ("kubeletPlugin.priorityClassName", "controller.priorityClassName", "priorityClassName")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    if not view.is_alone or len(view.distributions) != 1:
        return
    critical, cloud = Catalog().scheduling.critical_pods, min(view.distributions)
    for chart in view.charts:
        named = [(path, word(chart.value(path))) for path in _CLASSES if not chart.is_operator]
        asked = [(path, name) for path, name in named if name in critical.classes]
        if not asked or chart.partial or not critical.guarded(cloud, chart.namespace or ""):
            continue
        quotas = [item for item in view.of_kind("ResourceQuota") if not item.group]
        if not any(no_quota_for_critical_pods.allows(item, [asked[0][1]], chart.namespace) for item in quotas):
            yield Finding(
                message=f"{cloud} refuses pods of the class `{asked[0][1]}` of {chart.name} in namespace "
                f"`{chart.namespace}`: no ResourceQuota here names it",
                place=chart.place(asked[0][0]),
                help=f"add a ResourceQuota whose scopeSelector names {' and '.join(critical.classes)}",
            )
