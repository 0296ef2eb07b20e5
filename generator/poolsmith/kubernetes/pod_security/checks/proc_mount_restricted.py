"""No unmasked /proc, not even in a user namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.checks import proc_mount
from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    yield from proc_mount.unmasked(pod)


CHECK = PodSecurityCheck(
    id="procMount_restricted",
    level=Level.RESTRICTED,
    since=35,
    reason="procMount",
    fix=proc_mount.CHECK.fix,
    find=find,
    replaces=frozenset((proc_mount.CHECK.id,)),
)
