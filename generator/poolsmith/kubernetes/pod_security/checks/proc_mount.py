"""No unmasked /proc, unless the pod has a user namespace of its own (from 1.35)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

RELAXED_BY_USER_NAMESPACE = {0: False, 35: True}


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    if not (at(RELAXED_BY_USER_NAMESPACE, minor) and pod.has_user_namespace):
        yield from unmasked(pod)


def unmasked(pod: Pod) -> Iterator[Offence]:
    for container in pod.containers:
        field = container.context.get("procMount")
        if not field.unset and not field.is_one_of(("Default",)):
            yield Offence(field, f"{container.who} sets securityContext.procMount to {field.shown}")


CHECK = PodSecurityCheck(
    id="procMount",
    level=Level.BASELINE,
    reason="procMount",
    fix="remove `securityContext.procMount`, or set it to Default",
    find=find,
)
