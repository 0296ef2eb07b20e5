"""No privileged containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        field = container.context.get("privileged")
        if not field.off:
            yield Offence(field, f"{container.who} sets securityContext.privileged to {field.shown}")


CHECK = PodSecurityCheck(
    id="privileged",
    level=Level.BASELINE,
    reason="privileged",
    fix="remove `securityContext.privileged`, or set it to false",
    find=find,
)
