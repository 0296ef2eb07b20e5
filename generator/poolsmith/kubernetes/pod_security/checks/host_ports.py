"""No ports of the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        for port in container.field.get("ports").items():
            field = port.get("hostPort")
            if not field.unset and field.whole != 0:
                yield Offence(field, f"{container.who} uses hostPort {field.shown}")


CHECK = PodSecurityCheck(
    id="hostPorts",
    level=Level.BASELINE,
    reason="hostPort",
    fix="remove `hostPort`, and reach the container through a Service",
    find=find,
)
