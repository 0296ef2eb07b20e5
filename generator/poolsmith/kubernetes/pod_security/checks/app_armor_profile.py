"""No AppArmor profile that switches AppArmor off, in the field or in the older annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck
from poolsmith.kubernetes.pods.well_known import ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.field import Field
    from poolsmith.kubernetes.pods.pod import Pod

ALLOWED = ("RuntimeDefault", "Localhost")
ALLOWED_ANNOTATION = "runtime/default"
ALLOWED_PREFIX = "localhost/"


def find(pod: Pod, _minor: int) -> Iterator[Offence]:
    for setter in pod.setters:
        profile = setter.context.get("appArmorProfile")
        kind = profile.get("type")
        if not profile.unset and not kind.is_one_of(ALLOWED):
            yield Offence(kind, f"{setter.who} sets securityContext.appArmorProfile.type to {kind.shown}")
    for key, value in pod.root.get("metadata").get("annotations").entries():
        if (key.startswith(ANNOTATION) or not key) and not _is_allowed(value):
            yield Offence(value, f"the pod sets the annotation `{shorten(key)}` to {value.shown}")


def _is_allowed(value: Field) -> bool:
    return (
        value.empty
        or value.is_one_of((ALLOWED_ANNOTATION,))
        or (isinstance(value.value, str) and value.value.startswith(ALLOWED_PREFIX))
    )


CHECK = PodSecurityCheck(
    id="appArmorProfile",
    level=Level.BASELINE,
    reason="forbidden AppArmor profile",
    fix="use RuntimeDefault or Localhost, or set no AppArmor profile",
    find=find,
)
