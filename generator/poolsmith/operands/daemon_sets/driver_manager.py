"""The init container that clears a node of the old driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.operands.image_path import image_path
from poolsmith.operands.kube import (
    Pod,
    add_pull_secrets,
    init_containers_of,
    must_find,
    pull_policy,
    set_all_env,
    set_env,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.operands.context import Context

MANAGER = "k8s-driver-manager"


def set_driver_manager(
    pod: Pod, spec: Mapping[str, Any], context: Context, rdma: Mapping[str, Any] | None = None
) -> None:
    """Its image, and what it has to know about RDMA. Raises OperatorError."""
    container = must_find(init_containers_of(pod), MANAGER)
    container["image"] = image_path(spec, "DRIVER_MANAGER_IMAGE", partly=context.behaviour["partialImages"])
    if spec.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(spec["imagePullPolicy"])
    if rdma is not None and rdma.get("enabled") is True:
        set_env(container, "GPU_DIRECT_RDMA_ENABLED", "true")
        if rdma.get("useHostMofed") is True:
            set_env(container, "USE_HOST_MOFED", "true")
    set_all_env(container, spec.get("env"))
    add_pull_secrets(pod, spec.get("imagePullSecrets"))
