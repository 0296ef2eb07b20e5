"""No namespaces of the node; a user namespace does not relax it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck
from poolsmith.kubernetes.pods.pod import HOST_NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for name in HOST_NAMESPACES:
        field = pod.spec.get(name)
        if not field.off:
            yield Offence(field, f"the pod sets {name} to {field.shown}")


CHECK = PodSecurityCheck(
    id="hostNamespaces",
    level=Level.BASELINE,
    reason="host namespaces",
    fix="remove `hostNetwork`, `hostPID` and `hostIPC`, or set them to false",
    find=find,
)
