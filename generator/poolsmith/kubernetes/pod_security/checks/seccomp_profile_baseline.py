"""No seccomp profile that switches seccomp off; before 1.19 profiles were annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.field import Field
    from poolsmith.kubernetes.pods.pod import Pod

ALLOWED = ("RuntimeDefault", "Localhost")
SAID_BY_ANNOTATION = {0: True, 19: False}
ANNOTATION_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
ANNOTATION_OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
ALLOWED_ANNOTATIONS = ("runtime/default", "docker/default")
ALLOWED_PREFIX = "localhost/"


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    yield from _by_annotation(pod) if at(SAID_BY_ANNOTATION, minor) else unconfined(pod)


def unconfined(pod: Pod) -> Iterator[Offence]:
    for setter in pod.setters:
        profile = setter.context.get("seccompProfile")
        kind = profile.get("type")
        if not profile.unset and not kind.is_one_of(ALLOWED):
            yield Offence(kind, f"{setter.who} sets securityContext.seccompProfile.type to {kind.shown}")


def _by_annotation(pod: Pod) -> Iterator[Offence]:
    read = {ANNOTATION_OF_POD, *(ANNOTATION_OF_CONTAINER + container.name for container in pod.containers)}
    for key, value in pod.root.get("metadata").get("annotations").entries():
        if (key in read or not key) and not _is_allowed(value):
            yield Offence(value, f"the pod sets the annotation `{shorten(key)}` to {value.shown}")


def _is_allowed(value: Field) -> bool:
    return value.is_one_of(ALLOWED_ANNOTATIONS) or (
        isinstance(value.value, str) and value.value.startswith(ALLOWED_PREFIX)
    )


CHECK = PodSecurityCheck(
    id="seccompProfile_baseline",
    level=Level.BASELINE,
    reason="seccompProfile",
    fix="use RuntimeDefault or Localhost, or set no seccomp profile",
    find=find,
)
