"""Kinds of the operator and of Confidential Containers, as they are listed on a cluster."""

from __future__ import annotations

from poolsmith.kubernetes.live.api_resources import Resource

CLUSTER_POLICIES = Resource("nvidia.com/v1", "ClusterPolicy")
DRIVERS = Resource("nvidia.com/v1alpha1", "NVIDIADriver")
GPU_CLUSTERS = Resource("nvidia.com/v1alpha1", "GPUCluster")
CC_RUNTIMES = Resource("confidentialcontainers.org/v1beta1", "CcRuntime")
