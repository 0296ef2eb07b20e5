"""The privileges that a pod template asks for.

What is listed is what the template says, or what follows from it for certain:
- `run-as-root` only where the template says so (runAsUser 0, or runAsNonRoot false without a user). Else the image
  decides, and that is unknown here. The same holds for `seccomp`, `apparmor` and `selinux`: what nodes do by default
  is unknown.
- `allow-escalation` unless the template forbids it, because that is what the API does by default.
- Of a `privileged` container nothing that follows from it: escalation, capabilities, confinement, the mask of /proc.
- A host path per container that mounts it, and for the pod (container "") where none does. A read-only mount is
  `ro` even though file systems below it stay writable without recursiveReadOnly.
- Volumes whose content only the cluster knows (claims, CSI) give nothing.
Fields of the wrong type are as good as absent: the API server takes no such object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.ledger.privilege import Privilege, normal_path, privilege, privilege_order
from poolsmith.sources.pod_template import containers_of, mapping, mappings, word, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Held = tuple[str, Privilege]
"""The container, empty for the whole pod, and what it holds."""

_NAMESPACES_OF_THE_NODE = {"hostPID": "host-pid", "hostIPC": "host-ipc", "hostNetwork": "host-network"}
_PROPAGATION = {"HostToContainer": "host-to-container", "Bidirectional": "bidirectional"}
_APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"


def pod_privileges(template: Mapping[str, Any]) -> tuple[Held, ...]:
    """What the pods of a template hold: the pod itself first, then each container by name."""
    pod = mapping(template.get("spec"))
    volumes = _host_paths(pod)
    unmounted = dict(volumes)
    held = {("", token) for token in _of_the_pod(pod)}
    annotations = mapping(mapping(template.get("metadata")).get("annotations"))
    for container in containers_of(pod):
        name = word(container.get("name"))
        held.update((name, token) for token in _of_the_context(container, pod, annotations))
        held.update((name, token) for token in _ports(container))
        for mount in mappings(container.get("volumeMounts")):
            volume = word(mount.get("name"))
            if volume in volumes:
                unmounted.pop(volume, None)
                held.add((name, _mounted(volumes[volume], mount)))
    held.update(("", privilege("host-path", path, "rw", "none")) for path in unmounted.values())
    return tuple(sorted(held, key=_held_order))


def _held_order(held: Held) -> tuple[str, tuple[str, tuple[str, ...]]]:
    return held[0], privilege_order(held[1])


def _of_the_pod(pod: Mapping[str, Any]) -> Iterator[Privilege]:
    for field, name in _NAMESPACES_OF_THE_NODE.items():
        if pod.get(field) is True:
            yield privilege(name)
    for setting in mappings(mapping(pod.get("securityContext")).get("sysctls")):
        if word(setting.get("name")):
            yield privilege("sysctl", setting["name"])


def _of_the_context(
    container: Mapping[str, Any], pod: Mapping[str, Any], annotations: Mapping[str, Any]
) -> Iterator[Privilege]:
    """From the security contexts of a container and of its pod, which the container's own overrules field by field."""
    own, whole = mapping(container.get("securityContext")), mapping(pod.get("securityContext"))
    if _runs_as_root(own, whole):
        yield privilege("run-as-root")
    if own.get("privileged") is True or _is_host_process(own, whole):
        yield privilege("privileged")
        return
    if own.get("allowPrivilegeEscalation") is not False:
        yield privilege("allow-escalation")
    for name in words(mapping(own.get("capabilities")).get("add")):
        if name.upper() != "CAP_":
            yield privilege("capability", name)
    if _effective("seccompProfile", "type", own, whole) == "Unconfined":
        yield privilege("seccomp", "unconfined")
    if _is_outside_apparmor(word(container.get("name")), own, whole, annotations):
        yield privilege("apparmor", "unconfined")
    selinux = word(_merged("seLinuxOptions", "type", own, whole))
    if selinux:
        yield privilege("selinux", selinux)
    if own.get("procMount") == "Unmasked":
        yield privilege("proc-mount", "unmasked")


def _effective(field: str, key: str, own: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    """A block of the container stands in the place of the whole block of the pod."""
    return mapping(own.get(field) if own.get(field) is not None else whole.get(field)).get(key)


def _merged(field: str, key: str, own: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    """Of blocks of which the pod's counts for what the container's leaves out."""
    found = mapping(own.get(field)).get(key)
    return found if found is not None else mapping(whole.get(field)).get(key)


def _runs_as_root(own: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    user, not_root = (
        own.get(field) if own.get(field) is not None else whole.get(field) for field in ("runAsUser", "runAsNonRoot")
    )
    return not_root is False if user is None else user == 0 and not isinstance(user, bool)


def _is_host_process(own: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    """On Windows, what a privileged container is on Linux."""
    return _merged("windowsOptions", "hostProcess", own, whole) is True


def _is_outside_apparmor(
    name: str, own: Mapping[str, Any], whole: Mapping[str, Any], annotations: Mapping[str, Any]
) -> bool:
    """By the field of the container, else by its annotation (in older clusters the other way round), else the pod's."""
    annotation = annotations.get(_APPARMOR_ANNOTATION + name)
    if annotation is None:
        return bool(_effective("appArmorProfile", "type", own, whole) == "Unconfined")
    return annotation == "unconfined" or mapping(own.get("appArmorProfile")).get("type") == "Unconfined"


def _ports(container: Mapping[str, Any]) -> Iterator[Privilege]:
    for port in mappings(container.get("ports")):
        number = port.get("hostPort")
        if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 1 << 16:
            yield privilege("host-port", str(number))


def _host_paths(pod: Mapping[str, Any]) -> dict[str, str]:
    """Paths by the names of their volumes."""
    return {
        word(volume.get("name")): normal_path(word(volume["hostPath"].get("path")))
        for volume in mappings(pod.get("volumes"))
        if isinstance(volume.get("hostPath"), dict)
    }


def _mounted(path: str, mount: Mapping[str, Any]) -> Privilege:
    access = "ro" if mount.get("readOnly") is True else "rw"
    propagation = _PROPAGATION.get(word(mount.get("mountPropagation")), "none")
    return privilege("host-path", _narrowed(path, mount), access, propagation)


def _narrowed(path: str, mount: Mapping[str, Any]) -> str:
    """The part of the volume that is mounted, where it is told literally; the kubelet never leaves the volume."""
    expression = word(mount.get("subPathExpr"))
    below = expression or word(mount.get("subPath"))
    if "$" in expression or below.startswith("/") or ".." in below.split("/"):
        return path
    return normal_path(f"{path}/{below}")
