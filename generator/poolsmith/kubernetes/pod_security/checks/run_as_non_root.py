"""Images that start as root are refused, unless the pod has a user namespace of its own (from 1.35)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

RELAXED_BY_USER_NAMESPACE = {0: False, 35: True}


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    if at(RELAXED_BY_USER_NAMESPACE, minor) and pod.has_user_namespace:
        return
    for setter in pod.setters:
        field = setter.context.get("runAsNonRoot")
        if not field.unset and field.value is not True:
            yield Offence(field, f"{setter.who} sets securityContext.runAsNonRoot to {field.shown}")
    if pod.context.get("runAsNonRoot").unset:
        for container in pod.containers:
            field = container.context.get("runAsNonRoot")
            if field.unset:
                yield Offence(field, f"neither {container.who} nor its pod sets securityContext.runAsNonRoot")


CHECK = PodSecurityCheck(
    id="runAsNonRoot",
    level=Level.RESTRICTED,
    reason="runAsNonRoot != true",
    fix="set `securityContext.runAsNonRoot` of the pod to true",
    find=find,
)
