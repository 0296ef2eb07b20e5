"""No gain of privileges by programs that a container starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

EXEMPTS_WINDOWS = {8: False, 25: True}


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    if at(EXEMPTS_WINDOWS, minor) and pod.is_windows:
        return
    for container in pod.containers:
        field = container.context.get("allowPrivilegeEscalation")
        if field.value is not False:
            wrong = "does not set" if field.unset else f"sets to {field.shown}"
            yield Offence(field, f"{container.who} {wrong} securityContext.allowPrivilegeEscalation")


CHECK = PodSecurityCheck(
    id="allowPrivilegeEscalation",
    level=Level.RESTRICTED,
    since=8,
    reason="allowPrivilegeEscalation != false",
    fix="set `securityContext.allowPrivilegeEscalation` of the container to false",
    find=find,
)
