"""The rules over values, listed by hand; those that say most come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.gpu.values.rules import (
    blanket_toleration,
    cdi_contradicted,
    copied_defaults,
    dead_value,
    discovery_without_vendor,
    driver_branch,
    driver_exclusion,
    driver_not_pinned,
    driver_upgrade_policy,
    embedded_yaml,
    ignored_value,
    incomplete_registry_override,
    kernel_modules_undecided,
    list_replaces,
    mutable_image,
    nri_contradicted,
    number_for_string,
    operand_flag,
    operand_image_pinned,
    operand_variable,
    refused_values,
    runtime_config_source_missing,
    runtime_config_template,
    runtime_paths_disagree,
    runtime_set_as_default,
    secret_in_values,
    toolkit_image_unfit,
    toolkit_variable,
    unknown_value,
    value_enum,
    value_of_later_release,
    value_type,
    visible_devices,
    vulnerable_toolkit,
)

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

VALUE_RULES: tuple[Rule[ValuesDocument, ValuePlace], ...] = (
    copied_defaults,
    secret_in_values,
    refused_values,
    runtime_paths_disagree,
    runtime_config_template,
    runtime_config_source_missing,
    toolkit_image_unfit,
    runtime_set_as_default,
    toolkit_variable,
    cdi_contradicted,
    nri_contradicted,
    visible_devices,
    vulnerable_toolkit,
    driver_exclusion,
    kernel_modules_undecided,
    driver_upgrade_policy,
    driver_not_pinned,
    driver_branch,
    discovery_without_vendor,
    blanket_toleration,
    incomplete_registry_override,
    mutable_image,
    operand_image_pinned,
    operand_variable,
    operand_flag,
    dead_value,
    value_of_later_release,
    ignored_value,
    list_replaces,
    embedded_yaml,
    value_enum,
    number_for_string,
    value_type,
    unknown_value,
)
_OF_HELM = (
    copied_defaults,
    refused_values,
    driver_not_pinned,
    discovery_without_vendor,
    incomplete_registry_override,
    dead_value,
    value_of_later_release,
    ignored_value,
    list_replaces,
    embedded_yaml,
    value_enum,
    number_for_string,
    value_type,
    unknown_value,
)
OF_POLICY = tuple(rule for rule in VALUE_RULES if rule not in _OF_HELM)
"""Those that look at what the operator is told, and so hold for a ClusterPolicy."""
OF_DRIVER: tuple[Rule[ValuesDocument, ValuePlace], ...] = (
    secret_in_values,
    kernel_modules_undecided,
    driver_upgrade_policy,
    driver_branch,
    mutable_image,
    operand_image_pinned,
    operand_variable,
)
"""Those that hold for an NVIDIADriver."""

CHART_VALUE_RULES: tuple[Rule[ValuesDocument, ValuePlace], ...] = (
    refused_values,
    dead_value,
    value_of_later_release,
    ignored_value,
    operand_flag,
    operand_variable,
    value_enum,
    number_for_string,
    value_type,
    unknown_value,
)
"""Those that are true of any chart, by what is recorded of it."""
