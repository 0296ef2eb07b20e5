"""No user 0, unless the pod has a user namespace of its own (from 1.35)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

RELAXED_BY_USER_NAMESPACE = {23: False, 35: True}


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    if at(RELAXED_BY_USER_NAMESPACE, minor) and pod.has_user_namespace:
        return
    for setter in pod.setters:
        field = setter.context.get("runAsUser")
        if not field.unset and not field.whole:
            yield Offence(field, f"{setter.who} sets securityContext.runAsUser to {field.shown}")


CHECK = PodSecurityCheck(
    id="runAsUser",
    level=Level.RESTRICTED,
    since=23,
    reason="runAsUser=0",
    fix="set `securityContext.runAsUser` to another user than 0, or leave it to the image",
    find=find,
)
