"""The DaemonSet of the container toolkit, with the files and sockets of the container runtime that it configures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.daemon_sets.component import own_variables, set_component, set_validation_containers
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


def mount_runtime(pod: kube.Pod, container: kube.Container, context: Context, *, drop_in: bool = True) -> None:
    """Variables and mounts for the one runtime of the cluster; paths of the user win over the defaults."""
    runtime = context.container_runtime
    files = context.behaviour["runtimeFiles"]
    if runtime is None or context.runtime not in files or "config" not in runtime.variables:
        raise kube.NotModelled(f"container runtime {context.runtime}")
    kube.set_env(container, "RUNTIME", context.runtime)
    nri = context.behaviour["nri"] if context.spec.nri else "none"
    if nri != "instead":
        _mount_files(pod, container, runtime, context, drop_in=drop_in)
    if nri != "none":
        _mount_nri(pod, container)


def _mount_files(
    pod: kube.Pod, container: kube.Container, runtime: ContainerRuntime, context: Context, *, drop_in: bool
) -> None:
    if runtime.class_variable is not None:
        kube.set_env(container, runtime.class_variable, context.spec.runtime_class)
    word = context.runtime
    variable, socket_variable = runtime.variables["config"], runtime.variables.get("socket")
    defaults = context.behaviour["runtimeFiles"][word]
    general = context.behaviour["runtimeVariables"]
    config = kube.env_of(container, variable) or (kube.env_of(container, "RUNTIME_CONFIG") if general else "")
    config = config or defaults["config"]
    dropped = (kube.env_of(container, "RUNTIME_DROP_IN_CONFIG") or defaults["dropIn"]) if defaults["dropIn"] else ""
    inside = _CONFIG_FOLDER + name_of(config)
    if general:
        kube.set_env(container, "RUNTIME_CONFIG", inside)
    kube.set_env(container, variable, inside)
    _mount_folder(pod, container, f"{word}-config", _CONFIG_FOLDER, config, _CREATED)
    if dropped and drop_in:
        kube.set_env(container, "RUNTIME_DROP_IN_CONFIG", _DROP_IN_FOLDER + name_of(dropped))
        kube.set_env(container, "RUNTIME_DROP_IN_CONFIG_HOST_PATH", dropped)
        _mount_folder(pod, container, f"{word}-drop-in-config", _DROP_IN_FOLDER, dropped, _CREATED)
    if context.behaviour["runtimeConfigSources"]:
        _read_sources_on_host(container)
    if socket_variable is not None:
        socket = kube.env_of(container, socket_variable) or defaults["socket"]
        inside = _SOCKET_FOLDER + name_of(socket)
        if general:
            kube.set_env(container, "RUNTIME_SOCKET", inside)
        kube.set_env(container, socket_variable, inside)
        _mount_folder(pod, container, f"{word}-socket", _SOCKET_FOLDER, socket, None)


def _mount_nri(pod: kube.Pod, container: kube.Container) -> None:
    socket = kube.env_of(container, "NRI_SOCKET") or _NRI_SOCKET
    kube.set_env(container, "NRI_SOCKET", _NRI_FOLDER + name_of(socket))
    _mount_folder(pod, container, "nri-socket", _NRI_FOLDER, socket, _CREATED)


def _mount_folder(
    pod: kube.Pod, container: kube.Container, name: str, inside: str, file: str, kind: str | None
) -> None:
    kube.mount(container, name, inside)
    kube.add_volume(pod, name, **kube.host_path(folder_of(file), kind))


def _read_sources_on_host(container: kube.Container) -> None:
    """A configuration that is read from a file is read from the host's root, which is mounted at /host."""
    sources = kube.env_of(container, "RUNTIME_CONFIG_SOURCE")
    if not sources:
        return
    moved = [
        f"{_FILE_SOURCE}{joined('/host', word.removeprefix(_FILE_SOURCE))}" if word.startswith(_FILE_SOURCE) else word
        for word in sources.split(",")
    ]
    kube.set_env(container, "RUNTIME_CONFIG_SOURCE", ",".join(moved))


_MAIN = "nvidia-container-toolkit-ctr"
_FOLDER = "/usr/local/nvidia"


def container_toolkit(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.must_find(kube.containers_of(pod), _MAIN)
    set_validation_containers(pod, context)
    set_component(pod, main, "toolkit", "CONTAINER_TOOLKIT_IMAGE", context, arguments=False)
    first = context.behaviour["runtimeFilesFirst"]
    with own_variables(main, "toolkit", context):
        _set_cdi(main, context)
        _move_install_folder(pod, main, context.spec.text("toolkit", "installDir"))
        if first:
            mount_runtime(pod, main, context)
        if (hooks := _hooks(context)) is not None:
            kube.move_host_path(pod, hooks.volume, hooks.folder)
    if not first:
        mount_runtime(pod, main, context)


def _set_cdi(main: kube.Container, context: Context) -> None:
    policy = context.spec
    if policy.enabled("cdi"):
        for name, value in context.behaviour["toolkitCdi"].items():
            kube.set_env(main, name, value)
        if context.behaviour["cdiDefaultMode"] and policy.flag("cdi", "default"):
            kube.set_env(main, "NVIDIA_CONTAINER_RUNTIME_MODE", "cdi")
        if policy.nri:
            kube.set_env(main, "ENABLE_NRI_PLUGIN", "true")
    elif context.behaviour["crioHook"] and (hooks := _hooks(context)) is not None:
        for name, value in hooks.variables.items():
            kube.set_env(main, name, value)


def _hooks(context: Context) -> Hooks | None:
    runtime = context.container_runtime
    return None if runtime is None else runtime.hooks


def _move_install_folder(pod: dict[str, Any], main: kube.Container, folder: str) -> None:
    if folder in ("", _FOLDER):
        return
    kube.set_env(main, "ROOT", folder)
    kube.move_host_path(pod, "toolkit-install-dir", folder)
    for mounted in main.get("volumeMounts", ()):
        if mounted["name"] == "toolkit-install-dir":
            mounted["mountPath"] = folder
