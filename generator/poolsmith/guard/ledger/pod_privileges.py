"""The privileges that a pod template asks for.

What is listed is what the template says, or what follows from it for certain:
- `run-as-root` only where the template says so (runAsUser 0, or runAsNonRoot false without a user). Else the image
  decides, and that is unknown here. The same holds for `seccomp`, `apparmor` and `selinux`: what nodes do by default
  is unknown.
- `allow-escalation` unless the template forbids it, because that is what the API does by default.
- Of a `privileged` container nothing that follows from it: escalation, capabilities, confinement, the mask of /proc.
- A host path per container that mounts it, and for the pod (container "") where none does. A read-only mount is
  `ro` even though file systems below it stay writable without recursiveReadOnly.
- Volumes whose content only the cluster knows (claims, CSI) give nothing; what the restricted Pod Security Standard
  does not take (NFS, iSCSI, FlexVolume, what is yet to come) is `volume`.
- An annotation by which a container runtime gives devices, mounts or confinement, whatever its value.
Fields of the wrong type are as good as absent: the API server takes no such object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import word
from poolsmith.guard.ledger.privilege import Privilege, bare_capability, normal_path, privilege
from poolsmith.kubernetes.pods.obeyed import PRIVILEGED_ANNOTATIONS, VOLUMES_WITHOUT_PRIVILEGE
from poolsmith.kubernetes.pods.pod import UNCONFINED, Pod

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.pods.pod import Container, Mount

Held = tuple[str, Privilege]
"""The container, empty for the whole pod, and what it holds."""

_NAMESPACES_OF_THE_NODE = {"hostPID": "host-pid", "hostIPC": "host-ipc", "hostNetwork": "host-network"}
_PROPAGATION = {"HostToContainer": "host-to-container", "Bidirectional": "bidirectional"}


Asked = tuple[Privilege, "str | Mount | None"]
"""A privilege, and what asks for it where the token leaves something out: the word of the pod, or the mount."""


def pod_privileges(template: Mapping[str, Any]) -> tuple[Held, ...]:
    """What the pods of a template hold: the pod itself first, then each container by name."""
    pod = Pod.of(template)
    held = {("", token.name, token.arguments): token for token, _ in asked_by_pod(pod)}
    for container in pod.readable_containers:
        for token, _ in asked_by_container(container):
            held[container.name, token.name, token.arguments] = token
    return tuple((key[0], held[key]) for key in sorted(held))


def asked_by_pod(pod: Pod) -> Iterator[Asked]:
    """What no container asks for by itself."""
    for name in pod.host_namespaces:
        yield privilege(_NAMESPACES_OF_THE_NODE[name]), None
    for name in pod.sysctls:
        yield privilege("sysctl", name), name
    for volume in pod.unmounted:
        if volume.host_path is not None:
            yield privilege("host-path", normal_path(volume.host_path), "rw", "none"), volume.host_path
    for volume in pod.volumes.by_name.values():
        if volume.host_path is None and volume.type and volume.type not in VOLUMES_WITHOUT_PRIVILEGE:
            yield privilege("volume", volume.type), volume.type
    for key, value in pod.annotations.items():
        if any(part in key for part in PRIVILEGED_ANNOTATIONS):
            yield privilege("annotation", key), f"{key}={value}"


def asked_by_container(container: Container) -> Iterator[Asked]:
    """What the container asks for, and what its pod says for it."""
    if container.runs_as_root:
        yield privilege("run-as-root"), None
    if container.is_privileged:
        yield privilege("privileged"), None
    else:
        yield from _of_context(container)
    for port in container.host_ports:
        yield privilege("host-port", str(port)), None
    for mount in container.mounts:
        if mount.host_path is not None:
            yield _mounted(mount.host_path, mount), mount


def _of_context(container: Container) -> Iterator[Asked]:
    if container.may_escalate:
        yield privilege("allow-escalation"), None
    yield from loosened(container)


def loosened(container: Container) -> Iterator[Asked]:
    """What its security context takes away of its confinement; a privileged container has none of it anyway."""
    for name in container.added_capabilities:
        if bare_capability(name):
            yield privilege("capability", name), name
    if container.seccomp.get("type") == UNCONFINED:
        yield privilege("seccomp", "unconfined"), None
    if container.app_armor.get("type") == UNCONFINED:
        yield privilege("apparmor", "unconfined"), None
    if selinux := word(container.part("seLinuxOptions", "type")):
        yield privilege("selinux", selinux), selinux
    if container.unmasks_proc:
        yield privilege("proc-mount", "unmasked"), None


def _mounted(path: str, mount: Mount) -> Privilege:
    access = "ro" if mount.is_read_only else "rw"
    return privilege("host-path", _narrowed(path, mount), access, _PROPAGATION.get(mount.propagation, "none"))


def _narrowed(path: str, mount: Mount) -> str:
    """The part of the volume that is mounted, where it is told literally; the kubelet never leaves the volume."""
    below = mount.sub_path
    is_literal = below and not ("$" in mount.sub_path_expression or below.startswith("/") or ".." in below.split("/"))
    return normal_path(f"{path}/{below}" if is_literal else path)
