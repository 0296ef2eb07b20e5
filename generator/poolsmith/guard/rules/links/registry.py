"""The rules over everything that reaches one cluster, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.links import (
    admin_access,
    autoscaler_hint,
    chart_namespace,
    claim_of_nobody,
    definition_too_late,
    definitions_of_another_release,
    device_not_permitted,
    driver_root,
    exporter_twice,
    gpu_pod_isolation,
    gpu_request,
    gpus_given_out_twice,
    inflated_chart,
    label_of_no_rule,
    limits_of_namespace,
    metrics_without_pods,
    monitor_not_selected,
    monitor_of_nobody,
    name_of_nobody,
    null_around_a_chart,
    object_from_outside,
    part_of_the_host,
    pod_security_of_namespace,
    quota_of_gpus,
    release_forced,
    resource_of_nobody,
    selector_of_nobody,
    series_of_nobody,
    untolerating_workload,
    variable_of_nobody,
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
    name_of_nobody,
    label_of_no_rule,
    device_not_permitted,
    variable_of_nobody,
    definition_too_late,
    series_of_nobody,
    monitor_of_nobody,
    exporter_twice,
    part_of_the_host,
    limits_of_namespace,
    pod_security_of_namespace,
    object_from_outside,
)
