"""The operands that hold a claim on GPUs: the validator and the DCGM engine.

Source: NVIDIA/gpu-operator@v26.7.0:internal/state/{configurable_state,dra_validation,dcgm}.go, their templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.gpu_cluster.pod_settings import (
    add_variables,
    daemon_sets,
    put_image,
    set_arguments_and_resources,
    set_common,
    set_host_network,
    set_image,
)
from poolsmith.fleet.operands.kube import OperatorError, containers_of, init_containers_of, pod_of
from poolsmith.gpu.catalog.gpu_clusters import objects_of

if TYPE_CHECKING:
    from poolsmith.fleet.operands.gpu_cluster.request import GpuClusterRequest
    from poolsmith.gpu.catalog.gpu_clusters import GpuClusterState


def validator(state: GpuClusterState, request: GpuClusterRequest) -> list[dict[str, Any]]:
    """It runs the operator's image, with the pull settings of the driver. Raises OperatorError."""
    objects, image = rendered(state, request, "VALIDATOR_IMAGE")
    component = request.settings.at("draDriver")
    for daemon_set in daemon_sets(objects):
        set_common(daemon_set, request)
        pod = pod_of(daemon_set)
        set_image(pod, image, component)
        for container in init_containers_of(pod):
            put_image(container, image, component)
    return objects


def dcgm(state: GpuClusterState, request: GpuClusterRequest) -> list[dict[str, Any]]:
    """Off unless switched on. Raises OperatorError."""
    if not request.settings.runs_dcgm:
        return []
    objects, image = rendered(state, request, "DCGM_IMAGE", "dcgm")
    component = request.settings.at("dcgm")
    for daemon_set in daemon_sets(objects):
        set_common(daemon_set, request)
        pod = pod_of(daemon_set)
        set_image(pod, image, component)
        set_host_network(pod, component)
        (container,) = containers_of(pod)
        if component.get("env"):
            add_variables(container, component["env"])
        set_arguments_and_resources(container, component)
    return objects


def rendered(
    state: GpuClusterState, request: GpuClusterRequest, variable: str, *component: str
) -> tuple[list[dict[str, Any]], str]:
    """The objects of a state, and the image of the component that it runs. Raises OperatorError."""
    place = request.placement()
    try:
        image = request.image(variable, *component)
    except OperatorError as error:
        raise OperatorError(f"failed to construct {state.name} image path: {error}") from error
    return list(objects_of(state, place, request.settings.holds)), image
