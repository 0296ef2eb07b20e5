"""The container toolkit, which teaches the node's runtime about GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.daemon_sets.component import own_variables, set_component
from poolsmith.fleet.operands.daemon_sets.runtime_files import mount_runtime
from poolsmith.fleet.operands.daemon_sets.validation import set_validation_containers
from poolsmith.fleet.operands.kube import Container, containers_of, move_host_path, must_find, pod_of, set_env

if TYPE_CHECKING:
    from poolsmith.fleet.operands.context import Context

_MAIN = "nvidia-container-toolkit-ctr"
_FOLDER = "/usr/local/nvidia"
_CRIO_HOOKS = "/usr/share/containers/oci/hooks.d"


def container_toolkit(daemon_set: dict[str, Any], context: Context) -> None:
    pod = pod_of(daemon_set)
    main = must_find(containers_of(pod), _MAIN)
    set_validation_containers(pod, context)
    set_component(pod, main, "toolkit", "CONTAINER_TOOLKIT_IMAGE", context, arguments=False)
    first = context.behaviour["runtimeFilesFirst"]
    with own_variables(main, "toolkit", context):
        _set_cdi(main, context)
        _move_install_folder(pod, main, context.spec.text("toolkit", "installDir"))
        if first:
            mount_runtime(pod, main, context)
        if context.runtime == "crio":
            move_host_path(pod, "crio-hooks", _CRIO_HOOKS)
    if not first:
        mount_runtime(pod, main, context)


def _set_cdi(main: Container, context: Context) -> None:
    policy = context.spec
    if policy.enabled("cdi"):
        for name, value in context.behaviour["toolkitCdi"].items():
            set_env(main, name, value)
        if context.behaviour["cdiDefaultMode"] and policy.flag("cdi", "default"):
            set_env(main, "NVIDIA_CONTAINER_RUNTIME_MODE", "cdi")
        if policy.nri:
            set_env(main, "ENABLE_NRI_PLUGIN", "true")
    elif context.runtime == "crio" and context.behaviour["crioHook"]:
        set_env(main, "CRIO_CONFIG_MODE", "hook")


def _move_install_folder(pod: dict[str, Any], main: Container, folder: str) -> None:
    if folder in ("", _FOLDER):
        return
    set_env(main, "ROOT", folder)
    move_host_path(pod, "toolkit-install-dir", folder)
    for mount in main.get("volumeMounts", ()):
        if mount["name"] == "toolkit-install-dir":
            mount["mountPath"] = folder
