"""The checks of the level restricted, beside those of baseline that none of them replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.baseline import unconfined, unmasked
from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at, in_user_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

_VOLUMES = (
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
)  # fmt: skip
"""Their content comes from the API, from claims or from the pod itself."""
_OTHER_VOLUMES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd",
    "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
)  # fmt: skip
_EXEMPTS_WINDOWS = {0: False, 25: True}


def _is_exempt(pod: Pod, minor: int) -> bool:
    return at(_EXEMPTS_WINDOWS, minor) and pod.is_windows


def volumes(pod: Pod, _minor: int) -> Iterator[Offence]:
    """A volume that says no type is an emptyDir. An allowed type excuses no other one beside it."""
    for volume in pod.spec.get("volumes").items():
        name = volume.get("name").shown
        for key, source in volume.entries():
            if key == "name" or source.unset or (key in _VOLUMES and isinstance(source.value, dict)):
                continue
            kind = f"the type {key}" if key in _OTHER_VOLUMES else "no type that is known"
            yield Offence(source, f"volume {name} has {kind}")


def allow_privilege_escalation(pod: Pod, minor: int) -> Iterator[Offence]:
    if _is_exempt(pod, minor):
        return
    for container in pod.containers:
        field = container.context.get("allowPrivilegeEscalation")
        if field.value is not False:
            wrong = "does not set" if field.unset else f"sets to {field.shown}"
            yield Offence(field, f"{container.who} {wrong} securityContext.allowPrivilegeEscalation")


def run_as_non_root(pod: Pod, minor: int) -> Iterator[Offence]:
    """Images that start as root are refused."""
    if in_user_namespace(pod, minor):
        return
    for setter in pod.setters:
        field = setter.context.get("runAsNonRoot")
        if not field.unset and field.value is not True:
            yield Offence(field, f"{setter.who} sets securityContext.runAsNonRoot to {field.shown}")
    if pod.context.get("runAsNonRoot").unset:
        for container in pod.containers:
            field = container.context.get("runAsNonRoot")
            if field.unset:
                yield Offence(field, f"neither {container.who} nor its pod sets securityContext.runAsNonRoot")


def run_as_user(pod: Pod, minor: int) -> Iterator[Offence]:
    if in_user_namespace(pod, minor):
        return
    for setter in pod.setters:
        field = setter.context.get("runAsUser")
        if not field.unset and not field.whole:
            yield Offence(field, f"{setter.who} sets securityContext.runAsUser to {field.shown}")


def seccomp_profile(pod: Pod, minor: int) -> Iterator[Offence]:
    """A profile for each container, by itself or by its pod."""
    if _is_exempt(pod, minor):
        return
    yield from unconfined(pod, "seccompProfile")
    if pod.context.get("seccompProfile").unset:
        for container in pod.containers:
            profile = container.context.get("seccompProfile")
            if profile.unset:
                yield Offence(profile, f"{container.who} has no securityContext.seccompProfile, and its pod has none")


def capabilities(pod: Pod, minor: int) -> Iterator[Offence]:
    """All dropped, and none added but NET_BIND_SERVICE."""
    if _is_exempt(pod, minor):
        return
    for container in pod.containers:
        field = container.context.get("capabilities")
        dropped = field.get("drop")
        if not (isinstance(dropped.value, list) and "ALL" in dropped.value):
            yield Offence(dropped, f"{container.who} does not drop `ALL` in securityContext.capabilities.drop")
        for added in field.get("add").items():
            if not added.is_one_of(("NET_BIND_SERVICE",)):
                yield Offence(added, f"{container.who} adds {added.shown} in securityContext.capabilities.add")


RESTRICTED = (
    PodSecurityCheck(
        "restrictedVolumes",
        Level.RESTRICTED,
        "restricted volume types",
        "use a volume of type " + ", ".join(_VOLUMES[:-1]) + " or " + _VOLUMES[-1],
        volumes,
        replaces=frozenset(("hostPathVolumes",)),
    ),
    PodSecurityCheck(
        "allowPrivilegeEscalation",
        Level.RESTRICTED,
        "allowPrivilegeEscalation != false",
        "set `securityContext.allowPrivilegeEscalation` of the container to false",
        allow_privilege_escalation,
        since=8,
    ),
    PodSecurityCheck(
        "runAsNonRoot",
        Level.RESTRICTED,
        "runAsNonRoot != true",
        "set `securityContext.runAsNonRoot` of the pod to true",
        run_as_non_root,
    ),
    PodSecurityCheck(
        "runAsUser",
        Level.RESTRICTED,
        "runAsUser=0",
        "set `securityContext.runAsUser` to another user than 0, or leave it to the image",
        run_as_user,
        since=23,
    ),
    PodSecurityCheck(
        "seccompProfile_restricted",
        Level.RESTRICTED,
        "seccompProfile",
        "set `securityContext.seccompProfile.type` of the pod to RuntimeDefault or Localhost",
        seccomp_profile,
        since=19,
        replaces=frozenset(("seccompProfile_baseline",)),
    ),
    PodSecurityCheck(
        "capabilities_restricted",
        Level.RESTRICTED,
        "unrestricted capabilities",
        "drop `ALL` in `securityContext.capabilities` of the container, and add only NET_BIND_SERVICE",
        capabilities,
        since=22,
        replaces=frozenset(("capabilities_baseline",)),
    ),
    PodSecurityCheck(
        "procMount_restricted",
        Level.RESTRICTED,
        "procMount",
        "remove `securityContext.procMount`, or set it to Default",
        unmasked,
        since=35,
        replaces=frozenset(("procMount",)),
    ),
)
