"""A seccomp profile for each container, by itself or by its pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.checks import seccomp_profile_baseline
from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

EXEMPTS_WINDOWS = {19: False, 25: True}


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    if at(EXEMPTS_WINDOWS, minor) and pod.is_windows:
        return
    yield from seccomp_profile_baseline.unconfined(pod)
    if pod.context.get("seccompProfile").unset:
        for container in pod.containers:
            profile = container.context.get("seccompProfile")
            if profile.unset:
                yield Offence(profile, f"{container.who} has no securityContext.seccompProfile, and its pod has none")


CHECK = PodSecurityCheck(
    id="seccompProfile_restricted",
    level=Level.RESTRICTED,
    since=19,
    reason="seccompProfile",
    fix="set `securityContext.seccompProfile.type` of the pod to RuntimeDefault or Localhost",
    find=find,
    replaces=frozenset((seccomp_profile_baseline.CHECK.id,)),
)
