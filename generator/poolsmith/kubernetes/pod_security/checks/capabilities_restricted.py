"""All capabilities dropped, and none added but NET_BIND_SERVICE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.checks import capabilities_baseline
from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

EXEMPTS_WINDOWS = {22: False, 25: True}
MAY_ADD = ("NET_BIND_SERVICE",)


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    if at(EXEMPTS_WINDOWS, minor) and pod.is_windows:
        return
    for container in pod.containers:
        capabilities = container.context.get("capabilities")
        dropped = capabilities.get("drop")
        if not (isinstance(dropped.value, list) and "ALL" in dropped.value):
            yield Offence(dropped, f"{container.who} does not drop `ALL` in securityContext.capabilities.drop")
        for added in capabilities.get("add").items():
            if not added.is_one_of(MAY_ADD):
                yield Offence(added, f"{container.who} adds {added.shown} in securityContext.capabilities.add")


CHECK = PodSecurityCheck(
    id="capabilities_restricted",
    level=Level.RESTRICTED,
    since=22,
    reason="unrestricted capabilities",
    fix="drop `ALL` in `securityContext.capabilities` of the container, and add only NET_BIND_SERVICE",
    find=find,
    replaces=frozenset((capabilities_baseline.CHECK.id,)),
)
