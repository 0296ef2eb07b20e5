"""Probes and lifecycle handlers ask the pod itself, no other host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

ACTIONS = ("httpGet", "tcpSocket")


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        for name, handler in container.handlers:
            for action in ACTIONS:
                host = handler.get(action).get("host")
                if not host.empty:
                    yield Offence(host, f"{container.who} sets {name}.{action}.host to {host.shown}")


CHECK = PodSecurityCheck(
    id="hostProbesAndHostLifecycle",
    level=Level.BASELINE,
    since=34,
    reason="probe or lifecycle host",
    fix="remove `host` from the probe or handler: without it the pod itself is asked",
    find=find,
)
