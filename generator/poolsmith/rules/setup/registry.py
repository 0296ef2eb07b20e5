"""The rules over a cluster's setup, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.rules.setup import (
    device_plugin_config,
    driver_and_gpu,
    driver_coverage,
    driver_of_the_system,
    gpu_cluster_preconditions,
    host_driver_folder,
    kubelet_elsewhere,
    label_of_nobody,
    label_with_two_writers,
    mig_without_reboot,
    mixed_container_runtimes,
    namespace_refuses_operands,
    no_driver_image,
    no_quota_for_critical_pods,
    no_startup_taint,
    node_label_values,
    one_device_plugin,
    one_feature_discovery,
    outdated_container_runtime,
    paths_of_another_distribution,
    privileged_namespace,
    rdma_without_adapter,
    refused_driver_objects,
    runtime_class_not_made,
    several_cluster_policies,
    toleration_of_another_value,
    undiscovered_nodes,
    unlike_nodes,
    untolerated_taint,
)

if TYPE_CHECKING:
    from poolsmith.rules.setup.needs import SetupRule

SETUP_RULES: tuple[SetupRule, ...] = (
    unlike_nodes,
    refused_driver_objects,
    driver_coverage,
    driver_of_the_system,
    label_of_nobody,
    no_driver_image,
    host_driver_folder,
    rdma_without_adapter,
    driver_and_gpu,
    several_cluster_policies,
    gpu_cluster_preconditions,
    mixed_container_runtimes,
    paths_of_another_distribution,
    runtime_class_not_made,
    outdated_container_runtime,
    untolerated_taint,
    undiscovered_nodes,
    toleration_of_another_value,
    no_startup_taint,
    one_feature_discovery,
    node_label_values,
    label_with_two_writers,
    one_device_plugin,
    device_plugin_config,
    mig_without_reboot,
    kubelet_elsewhere,
    namespace_refuses_operands,
    privileged_namespace,
    no_quota_for_critical_pods,
)
