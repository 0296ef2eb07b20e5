"""The checks of the level baseline: what is known to let a pod out of its container."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.kubernetes.pod_security.standard import NEWEST, Level, Offence, PodSecurityCheck, at, in_user_namespace
from poolsmith.kubernetes.pods.pod import HOST_NAMESPACES
from poolsmith.kubernetes.pods.well_known import ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.field import Field
    from poolsmith.kubernetes.pods.pod import Pod

PROFILES = ("RuntimeDefault", "Localhost")
_LOCAL = "localhost/"


def privileged(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        field = container.context.get("privileged")
        if not field.off:
            yield Offence(field, f"{container.who} sets securityContext.privileged to {field.shown}")


def host_namespaces(pod: Pod, _minor: int) -> Iterator[Offence]:
    """A user namespace does not relax it."""
    for name in HOST_NAMESPACES:
        field = pod.spec.get(name)
        if not field.off:
            yield Offence(field, f"the pod sets {name} to {field.shown}")


def host_path_volumes(pod: Pod, _minor: int) -> Iterator[Offence]:
    for volume in pod.spec.get("volumes").items():
        source = volume.get("hostPath")
        if not source.unset:
            yield Offence(source, f"volume {volume.get('name').shown} is a hostPath")


def host_ports(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        for port in container.field.get("ports").items():
            field = port.get("hostPort")
            if not field.unset and field.whole != 0:
                yield Offence(field, f"{container.who} uses hostPort {field.shown}")


def host_probes_and_host_lifecycle(pod: Pod, _minor: int) -> Iterator[Offence]:
    """Probes and handlers ask the pod itself, no other host."""
    for container in pod.containers:
        for name, handler in container.handlers:
            for action in ("httpGet", "tcpSocket"):
                host = handler.get(action).get("host")
                if not host.empty:
                    yield Offence(host, f"{container.who} sets {name}.{action}.host to {host.shown}")


_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    )
)  # fmt: skip
"""Those that container runtimes give by default."""


def capabilities(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        for added in container.context.get("capabilities").get("add").items():
            if not added.is_one_of(_CAPABILITIES):
                yield Offence(added, f"{container.who} adds {added.shown} in securityContext.capabilities.add")


def app_armor_profile(pod: Pod, _minor: int) -> Iterator[Offence]:
    """In the field, or in the older annotation."""
    yield from unconfined(pod, "appArmorProfile")
    for key, value in pod.root.get("metadata").get("annotations").entries():
        is_read = key.startswith(ANNOTATION) or not key
        if is_read and not value.empty and not _is_confined(value, ("runtime/default",)):
            yield Offence(value, f"the pod sets the annotation `{shorten(key)}` to {value.shown}")


def unconfined(pod: Pod, profiles: str) -> Iterator[Offence]:
    """Profiles that switch off what they are for."""
    for setter in pod.setters:
        profile = setter.context.get(profiles)
        kind = profile.get("type")
        if not profile.unset and not kind.is_one_of(PROFILES):
            yield Offence(kind, f"{setter.who} sets securityContext.{profiles}.type to {kind.shown}")


def _is_confined(value: Field, known: tuple[str, ...]) -> bool:
    return value.is_one_of(known) or (isinstance(value.value, str) and value.value.startswith(_LOCAL))


_SAID_BY_ANNOTATION = {0: True, 19: False}
_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
_OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"


def seccomp_profile(pod: Pod, minor: int) -> Iterator[Offence]:
    """Before 1.19 profiles were annotations."""
    if not at(_SAID_BY_ANNOTATION, minor):
        yield from unconfined(pod, "seccompProfile")
        return
    read = {_OF_POD, *(_OF_CONTAINER + container.name for container in pod.containers)}
    for key, value in pod.root.get("metadata").get("annotations").entries():
        if (key in read or not key) and not _is_confined(value, ("runtime/default", "docker/default")):
            yield Offence(value, f"the pod sets the annotation `{shorten(key)}` to {value.shown}")


_TYPES = {
    0: frozenset(("container_t", "container_init_t", "container_kvm_t")),
    31: frozenset(("container_t", "container_init_t", "container_kvm_t", "container_engine_t")),
}


def se_linux_options(pod: Pod, minor: int) -> Iterator[Offence]:
    """Types of containers alone; neither user nor role."""
    allowed = at(_TYPES, minor)
    for setter in pod.setters:
        options = setter.context.get("seLinuxOptions")
        kind = options.get("type")
        if not kind.empty and not kind.is_one_of(allowed):
            yield Offence(kind, f"{setter.who} sets securityContext.seLinuxOptions.type to {kind.shown}")
        for name in ("user", "role"):
            field = options.get(name)
            if not field.empty:
                yield Offence(field, f"{setter.who} sets securityContext.seLinuxOptions.{name}, which must not be set")


def proc_mount(pod: Pod, minor: int) -> Iterator[Offence]:
    if not in_user_namespace(pod, minor):
        yield from unmasked(pod, minor)


def unmasked(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        field = container.context.get("procMount")
        if not field.unset and not field.is_one_of(("Default",)):
            yield Offence(field, f"{container.who} sets securityContext.procMount to {field.shown}")


_SYSCTLS = {
    0: (
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
    ),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: (
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    ),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
    37: ("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"),
}  # fmt: skip
"""Kernel settings that are known to stay within a pod, by the minor that added them."""


@cache
def _sysctls_at(minor: int) -> frozenset[str]:
    return frozenset(name for since, names in _SYSCTLS.items() if since <= minor for name in names)


def sysctls(pod: Pod, minor: int) -> Iterator[Offence]:
    allowed = _sysctls_at(minor)
    for setting in pod.context.get("sysctls").items():
        name = setting.get("name")
        if not name.is_one_of(allowed):
            yield Offence(name, f"the pod sets the sysctl {name.shown}")


def windows_host_process(pod: Pod, _minor: int) -> Iterator[Offence]:
    """HostProcess pods are on Windows what privileged ones are on Linux."""
    for setter in pod.setters:
        field = setter.context.get("windowsOptions").get("hostProcess")
        if not field.off:
            yield Offence(field, f"{setter.who} sets securityContext.windowsOptions.hostProcess to {field.shown}")


BASELINE = (
    PodSecurityCheck(
        "privileged",
        Level.BASELINE,
        "privileged",
        "remove `securityContext.privileged`, or set it to false",
        privileged,
    ),
    PodSecurityCheck(
        "hostNamespaces",
        Level.BASELINE,
        "host namespaces",
        "remove `hostNetwork`, `hostPID` and `hostIPC`, or set them to false",
        host_namespaces,
    ),
    PodSecurityCheck(
        "hostPathVolumes", Level.BASELINE, "hostPath volumes", "use another type of volume", host_path_volumes
    ),
    PodSecurityCheck(
        "hostPorts",
        Level.BASELINE,
        "hostPort",
        "remove `hostPort`, and reach the container through a Service",
        host_ports,
    ),
    PodSecurityCheck(
        "hostProbesAndHostLifecycle",
        Level.BASELINE,
        "probe or lifecycle host",
        "remove `host` from the probe or handler: without it the pod itself is asked",
        host_probes_and_host_lifecycle,
        since=34,
    ),
    PodSecurityCheck(
        "capabilities_baseline",
        Level.BASELINE,
        "non-default capabilities",
        "add only " + ", ".join(sorted(_CAPABILITIES)),
        capabilities,
    ),
    PodSecurityCheck(
        "appArmorProfile",
        Level.BASELINE,
        "forbidden AppArmor profile",
        "use RuntimeDefault or Localhost, or set no AppArmor profile",
        app_armor_profile,
    ),
    PodSecurityCheck(
        "seccompProfile_baseline",
        Level.BASELINE,
        "seccompProfile",
        "use RuntimeDefault or Localhost, or set no seccomp profile",
        seccomp_profile,
    ),
    PodSecurityCheck(
        "seLinuxOptions",
        Level.BASELINE,
        "seLinuxOptions",
        "remove `user` and `role`, and use no type but " + ", ".join(sorted(at(_TYPES, NEWEST))),
        se_linux_options,
    ),
    PodSecurityCheck(
        "procMount", Level.BASELINE, "procMount", "remove `securityContext.procMount`, or set it to Default", proc_mount
    ),
    PodSecurityCheck(
        "sysctls",
        Level.BASELINE,
        "forbidden sysctls",
        "remove the sysctl from `securityContext.sysctls`, and set it on the node",
        sysctls,
    ),
    PodSecurityCheck(
        "windowsHostProcess",
        Level.BASELINE,
        "hostProcess",
        "remove `securityContext.windowsOptions.hostProcess`, or set it to false",
        windows_host_process,
    ),
)
