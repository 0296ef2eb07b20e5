"""Kinds of the operator and of Confidential Containers, as they are listed on a cluster."""

from __future__ import annotations

from poolsmith.kubernetes.live.api_resources import ApiResource

CLUSTER_POLICIES = ApiResource("nvidia.com/v1", "ClusterPolicy")
DRIVERS = ApiResource("nvidia.com/v1alpha1", "NVIDIADriver")
GPU_CLUSTERS = ApiResource("nvidia.com/v1alpha1", "GPUCluster")
CC_RUNTIMES = ApiResource("confidentialcontainers.org/v1beta1", "CcRuntime")
