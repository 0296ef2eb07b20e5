"""No HostProcess pods, which are on Windows what privileged ones are on Linux."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for setter in pod.setters:
        field = setter.context.get("windowsOptions").get("hostProcess")
        if not field.off:
            yield Offence(field, f"{setter.who} sets securityContext.windowsOptions.hostProcess to {field.shown}")


CHECK = PodSecurityCheck(
    id="windowsHostProcess",
    level=Level.BASELINE,
    reason="hostProcess",
    fix="remove `securityContext.windowsOptions.hostProcess`, or set it to false",
    find=find,
)
