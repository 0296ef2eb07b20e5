"""The status that the operator writes on a GPUCluster.

Source: NVIDIA/gpu-operator@v26.7.0:controllers/gpucluster_controller.go, internal/conditions/gpucluster.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import conditions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.expansion import ResourceCondition

KIND = "GPUCluster"
_RECONCILED = "All resources have been successfully reconciled"


def ready(name: str) -> ResourceCondition:
    return conditions.ready(KIND, name, "Reconciled", _RECONCILED)


def prerequisite_not_met(name: str, policy: str) -> ResourceCondition:
    """A ClusterPolicy stands in the same cluster: the operator runs one of the two stacks."""
    message = (
        f'A ClusterPolicy CR "{policy}" exists; a ClusterPolicy CR and GPUCluster CR may not exist at the same time'
    )
    return conditions.not_ready(KIND, name, "PrerequisiteNotMet", message)


def state_failed(name: str, state: str, message: str) -> ResourceCondition:
    """The first state that could not be made; the others are made all the same."""
    text = f"Error syncing state {state}: failed to create k8s objects from manifests: {message}"
    return conditions.not_ready(KIND, name, "ReconcileFailed", text)


def policy_conflict(resource: Mapping[str, Any]) -> str:
    """What the operator says of the ClusterPolicy that stands beside a GPUCluster."""
    name = resource["metadata"]["name"]
    return f'conflicting GPUCluster resource "{name}" detected; ClusterPolicy and GPUCluster cannot co-exist'
