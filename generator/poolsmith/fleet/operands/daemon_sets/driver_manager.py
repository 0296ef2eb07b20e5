"""The init container that clears a node of the old driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import (
    Pod,
    add_pull_secrets,
    init_containers_of,
    must_find,
    pull_policy,
    set_all_env,
    set_env,
    set_resources,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.context import Context

MANAGER = "k8s-driver-manager"


def set_driver_manager(
    pod: Pod, component: str, part: str, context: Context, rdma: Mapping[str, Any] | None = None
) -> None:
    """Its image, and what it has to know about RDMA; `part` of the component configures it. Raises OperatorError."""
    spec = context.spec.at(component, part)
    container = must_find(init_containers_of(pod), MANAGER)
    container["image"] = context.image_of(spec, "DRIVER_MANAGER_IMAGE")
    if spec.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(spec["imagePullPolicy"])
    if rdma is not None and rdma.get("enabled") is True:
        set_env(container, "GPU_DIRECT_RDMA_ENABLED", "true")
        if rdma.get("useHostMofed") is True:
            set_env(container, "USE_HOST_MOFED", "true")
    if context.behaviour["initResources"]:
        set_resources([container], context.spec.at(component).get("resources"))
    set_all_env(container, spec.get("env"))
    add_pull_secrets(pod, spec.get("imagePullSecrets"))
