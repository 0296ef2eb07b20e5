"""Judges one pod by a level and a version of the Pod Security Standards."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from poolsmith.core.record import record
from poolsmith.kubernetes.pod_security.baseline import BASELINE
from poolsmith.kubernetes.pod_security.restricted import RESTRICTED
from poolsmith.kubernetes.pod_security.standard import LATEST, Level, PodSecurityCheck, minor_of
from poolsmith.kubernetes.pods.pod import Pod

CHECKS: tuple[PodSecurityCheck, ...] = (*BASELINE, *RESTRICTED)


@record(kw_only=False)
class PodSecurityViolation:
    """One field that is not allowed. `pointer` leads to it from the pod template; to what it is missing in, if so."""

    check: str
    reason: str
    detail: str
    pointer: str
    help: str

    @property
    def message(self) -> str:
        return f"{self.reason}: {self.detail}"


def judge_pod(metadata: Any, spec: Any, level: str, version: str = LATEST) -> tuple[PodSecurityViolation, ...]:
    """What a level forbids of a pod, by check, each field by itself. Both parts may be anything that YAML can say.

    Raises ValueError for a level or a version that can't be (`minor_of`).
    """
    minor = minor_of(version)
    checks = checks_of(level, minor)
    if not checks:
        return ()
    pod = Pod(metadata, spec)
    return tuple(
        PodSecurityViolation(check.id, check.reason, offence.detail, offence.place.pointer, check.fix)
        for check in checks
        for offence in check.find(pod, minor)
    )


@lru_cache(maxsize=256)
def checks_of(level: str, minor: int) -> tuple[PodSecurityCheck, ...]:
    """What a level consists of at a minor: restricted includes the baseline checks that none of its own replaces."""
    wanted = Level(level)
    if wanted is Level.PRIVILEGED:
        return ()
    known = [check for check in CHECKS if check.since <= minor and wanted in (Level.RESTRICTED, check.level)]
    replaced = {name for check in known for name in check.replaces}
    return tuple(check for check in known if check.id not in replaced)
