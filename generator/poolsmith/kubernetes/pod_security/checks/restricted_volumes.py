"""Only volumes whose content comes from the API, from claims or from the pod itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.checks import host_path_volumes
from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

ALLOWED = (
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
)  # fmt: skip
FORBIDDEN = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd",
    "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
)  # fmt: skip


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    """A volume that says no type is an emptyDir. An allowed type excuses no other one beside it."""
    for volume in pod.spec.get("volumes").items():
        name = volume.get("name").shown
        for key, source in volume.entries():
            if key == "name" or source.unset or (key in ALLOWED and isinstance(source.value, dict)):
                continue
            kind = f"the type {key}" if key in FORBIDDEN else "no type that is known"
            yield Offence(source, f"volume {name} has {kind}")


CHECK = PodSecurityCheck(
    id="restrictedVolumes",
    level=Level.RESTRICTED,
    reason="restricted volume types",
    fix="use a volume of type " + ", ".join(ALLOWED[:-1]) + " or " + ALLOWED[-1],
    find=find,
    replaces=frozenset((host_path_volumes.CHECK.id,)),
)
