"""No capabilities beyond those that container runtimes give by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

ALLOWED = frozenset(
    (
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    )
)  # fmt: skip


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for container in pod.containers:
        for added in container.context.get("capabilities").get("add").items():
            if not added.is_one_of(ALLOWED):
                yield Offence(added, f"{container.who} adds {added.shown} in securityContext.capabilities.add")


CHECK = PodSecurityCheck(
    id="capabilities_baseline",
    level=Level.BASELINE,
    reason="non-default capabilities",
    fix="add only " + ", ".join(sorted(ALLOWED)),
    find=find,
)
