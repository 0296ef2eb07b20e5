"""The rules over everything that reaches one cluster, listed by hand."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from poolsmith.guard.rules.links import (
    admin_access,
    autoscaler_hint,
    chart_namespace,
    claim_needs_gate,
    default_runtime,
    definition_too_late,
    definitions_of_another_release,
    definitions_stay,
    device_attribute,
    device_not_permitted,
    driver_root,
    engine_difference,
    engine_fault,
    gpu_pod_isolation,
    gpu_request,
    gpus_held,
    gpus_of_machines,
    inflated_chart,
    label_of_no_rule,
    limits_of_namespace,
    metrics_without_pods,
    monitor_not_selected,
    monitor_of_nobody,
    name_of_nobody,
    null_around_a_chart,
    object_from_outside,
    operator_group,
    part_of_the_host,
    part_twice,
    plugin_by_hand,
    pod_security_of_namespace,
    project_rights,
    quota_for_critical_pods,
    quota_of_gpus,
    release_forced,
    resource_of_nobody,
    runtime_handler,
    scheduler_words,
    series_of_nobody,
    taints_not_set,
    untolerating_workload,
    variable_of_nobody,
)

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.guard.rules.links.link_view import Domain, LinkView

LINK_RULES: tuple[Rule[LinkView, Location], ...] = (
    gpu_request,
    quota_of_gpus,
    admin_access,
    chart_namespace,
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
    runtime_handler,
    null_around_a_chart,
    engine_difference,
    engine_fault,
    taints_not_set,
    scheduler_words,
    device_attribute,
    claim_needs_gate,
    definitions_stay,
    name_of_nobody,
    label_of_no_rule,
    device_not_permitted,
    variable_of_nobody,
    definition_too_late,
    series_of_nobody,
    monitor_of_nobody,
    part_of_the_host,
    part_twice,
    limits_of_namespace,
    pod_security_of_namespace,
    object_from_outside,
    operator_group,
    gpus_held,
    gpus_of_machines,
    default_runtime,
    plugin_by_hand,
    project_rights,
    quota_for_critical_pods,
)


def domains() -> tuple[Domain, ...]:
    """What these rules hold against each other; all of them are loaded for it."""
    return tuple(chain.from_iterable(getattr(rule, "DOMAINS", ()) for rule in LINK_RULES))
