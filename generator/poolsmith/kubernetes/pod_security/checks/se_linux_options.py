"""Only SELinux types of containers; neither user nor role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import NEWEST, Level, Offence, PodSecurityCheck, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

TYPES = {
    0: frozenset(("container_t", "container_init_t", "container_kvm_t")),
    31: frozenset(("container_t", "container_init_t", "container_kvm_t", "container_engine_t")),
}


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    allowed = at(TYPES, minor)
    for setter in pod.setters:
        options = setter.context.get("seLinuxOptions")
        kind = options.get("type")
        if not kind.empty and not kind.is_one_of(allowed):
            yield Offence(kind, f"{setter.who} sets securityContext.seLinuxOptions.type to {kind.shown}")
        for name in ("user", "role"):
            field = options.get(name)
            if not field.empty:
                yield Offence(field, f"{setter.who} sets securityContext.seLinuxOptions.{name}, which must not be set")


CHECK = PodSecurityCheck(
    id="seLinuxOptions",
    level=Level.BASELINE,
    reason="seLinuxOptions",
    fix="remove `user` and `role`, and use no type but " + ", ".join(sorted(at(TYPES, NEWEST))),
    find=find,
)
