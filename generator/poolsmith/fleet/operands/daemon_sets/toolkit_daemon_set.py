"""The DaemonSet of the container toolkit, with the files and sockets of the container runtime that it configures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.daemon_sets.component import own_variables, set_component, set_validation_containers
from poolsmith.fleet.operands.kube import (
    Container,
    NotModelled,
    Pod,
    add_volume,
    containers_of,
    env_of,
    host_path,
    mount,
    move_host_path,
    must_find,
    pod_of,
    set_env,
)
from poolsmith.kubernetes.helm.go_template import folder_of, joined, name_of

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion_context import Context
    from poolsmith.gpu.catalog.container_runtimes import ContainerRuntime, Hooks


_CONFIG_FOLDER = "/runtime/config-dir/"
_DROP_IN_FOLDER = "/runtime/config-dir.d/"
_SOCKET_FOLDER = "/runtime/sock-dir/"
_NRI_FOLDER = "/runtime/nri-sock-dir/"
_NRI_SOCKET = "/var/run/nri/nri.sock"
_CREATED = "DirectoryOrCreate"
_FILE_SOURCE = "file="


def mount_runtime(pod: Pod, container: Container, context: Context, *, drop_in: bool = True) -> None:
    """Variables and mounts for the one runtime of the cluster; paths of the user win over the defaults."""
    runtime = context.container_runtime
    files = context.behaviour["runtimeFiles"]
    if runtime is None or context.runtime not in files or "config" not in runtime.variables:
        raise NotModelled(f"container runtime {context.runtime}")
    set_env(container, "RUNTIME", context.runtime)
    nri = context.behaviour["nri"] if context.spec.nri else "none"
    if nri != "instead":
        _mount_files(pod, container, runtime, context, drop_in=drop_in)
    if nri != "none":
        _mount_nri(pod, container)


def _mount_files(pod: Pod, container: Container, runtime: ContainerRuntime, context: Context, *, drop_in: bool) -> None:
    if runtime.class_variable is not None:
        set_env(container, runtime.class_variable, context.spec.runtime_class)
    word = context.runtime
    variable, socket_variable = runtime.variables["config"], runtime.variables.get("socket")
    defaults = context.behaviour["runtimeFiles"][word]
    general = context.behaviour["runtimeVariables"]
    config = env_of(container, variable) or (env_of(container, "RUNTIME_CONFIG") if general else "")
    config = config or defaults["config"]
    dropped = (env_of(container, "RUNTIME_DROP_IN_CONFIG") or defaults["dropIn"]) if defaults["dropIn"] else ""
    inside = _CONFIG_FOLDER + name_of(config)
    if general:
        set_env(container, "RUNTIME_CONFIG", inside)
    set_env(container, variable, inside)
    _mount_folder(pod, container, f"{word}-config", _CONFIG_FOLDER, config, _CREATED)
    if dropped and drop_in:
        set_env(container, "RUNTIME_DROP_IN_CONFIG", _DROP_IN_FOLDER + name_of(dropped))
        set_env(container, "RUNTIME_DROP_IN_CONFIG_HOST_PATH", dropped)
        _mount_folder(pod, container, f"{word}-drop-in-config", _DROP_IN_FOLDER, dropped, _CREATED)
    if context.behaviour["runtimeConfigSources"]:
        _read_sources_on_host(container)
    if socket_variable is not None:
        socket = env_of(container, socket_variable) or defaults["socket"]
        inside = _SOCKET_FOLDER + name_of(socket)
        if general:
            set_env(container, "RUNTIME_SOCKET", inside)
        set_env(container, socket_variable, inside)
        _mount_folder(pod, container, f"{word}-socket", _SOCKET_FOLDER, socket, None)


def _mount_nri(pod: Pod, container: Container) -> None:
    socket = env_of(container, "NRI_SOCKET") or _NRI_SOCKET
    set_env(container, "NRI_SOCKET", _NRI_FOLDER + name_of(socket))
    _mount_folder(pod, container, "nri-socket", _NRI_FOLDER, socket, _CREATED)


def _mount_folder(pod: Pod, container: Container, name: str, inside: str, file: str, kind: str | None) -> None:
    mount(container, name, inside)
    add_volume(pod, name, **host_path(folder_of(file), kind))


def _read_sources_on_host(container: Container) -> None:
    """A configuration that is read from a file is read from the host's root, which is mounted at /host."""
    sources = env_of(container, "RUNTIME_CONFIG_SOURCE")
    if not sources:
        return
    moved = [
        f"{_FILE_SOURCE}{joined('/host', word.removeprefix(_FILE_SOURCE))}" if word.startswith(_FILE_SOURCE) else word
        for word in sources.split(",")
    ]
    set_env(container, "RUNTIME_CONFIG_SOURCE", ",".join(moved))


_MAIN = "nvidia-container-toolkit-ctr"
_FOLDER = "/usr/local/nvidia"


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
        if (hooks := _hooks(context)) is not None:
            move_host_path(pod, hooks.volume, hooks.folder)
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
    elif context.behaviour["crioHook"] and (hooks := _hooks(context)) is not None:
        for name, value in hooks.variables.items():
            set_env(main, name, value)


def _hooks(context: Context) -> Hooks | None:
    runtime = context.container_runtime
    return None if runtime is None else runtime.hooks


def _move_install_folder(pod: dict[str, Any], main: Container, folder: str) -> None:
    if folder in ("", _FOLDER):
        return
    set_env(main, "ROOT", folder)
    move_host_path(pod, "toolkit-install-dir", folder)
    for mounted in main.get("volumeMounts", ()):
        if mounted["name"] == "toolkit-install-dir":
            mounted["mountPath"] = folder
