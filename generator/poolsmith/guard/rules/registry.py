"""The rules, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.manifests import (
    deprecated_kustomize_field,
    duplicate_object,
    helm_hook,
    kustomization_resource,
    namespace_transformer,
    node_object,
    null_of_the_chart,
    operator_role_widened,
    plugin_configuration,
    renovate_comment,
    unread_operand_variable,
    unread_plugin_configuration,
)

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree

RULES: tuple[Rule[CheckedTree, Location], ...] = (
    node_object,
    namespace_transformer,
    duplicate_object,
    kustomization_resource,
    helm_hook,
    deprecated_kustomize_field,
    operator_role_widened,
    null_of_the_chart,
    renovate_comment,
    plugin_configuration,
    unread_operand_variable,
    unread_plugin_configuration,
)
