"""No volumes from the file system of the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for volume in pod.spec.get("volumes").items():
        source = volume.get("hostPath")
        if not source.unset:
            yield Offence(source, f"volume {volume.get('name').shown} is a hostPath")


CHECK = PodSecurityCheck(
    id="hostPathVolumes",
    level=Level.BASELINE,
    reason="hostPath volumes",
    fix="use another type of volume",
    find=find,
)
