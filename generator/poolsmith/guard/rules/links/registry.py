"""The rules over everything that reaches one cluster, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.links import (
    admin_access,
    autoscaler_hint,
    brought_by_machines,
    chart_namespace,
    claim_of_nobody,
    definitions_of_another_release,
    device_attribute,
    driver_root,
    engine_difference,
    gpu_pod_isolation,
    gpu_request,
    gpus_given_out_twice,
    inflated_chart,
    metrics_without_pods,
    monitor_not_selected,
    null_around_a_chart,
    quota_of_gpus,
    release_forced,
    resource_of_nobody,
    selector_of_nobody,
    taints_not_set,
    template_taints,
    untolerating_workload,
)

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.guard.rules.links.link_view import LinkView

LINK_RULES: tuple[Rule[LinkView, Location], ...] = (
    gpu_request,
    quota_of_gpus,
    admin_access,
    gpus_given_out_twice,
    chart_namespace,
    selector_of_nobody,
    resource_of_nobody,
    untolerating_workload,
    monitor_not_selected,
    autoscaler_hint,
    inflated_chart,
    driver_root,
    definitions_of_another_release,
    metrics_without_pods,
    gpu_pod_isolation,
    release_forced,
    null_around_a_chart,
    claim_of_nobody,
    engine_difference,
    brought_by_machines,
    taints_not_set,
    device_attribute,
    template_taints,
)
