"""No kernel settings but those that are known to stay within a pod."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.standard import Level, Offence, PodSecurityCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.pods.pod import Pod

ADDED = {
    0: (
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
    ),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: (
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    ),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
    37: ("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"),
}  # fmt: skip


@cache
def allowed_at(minor: int) -> frozenset[str]:
    return frozenset(name for since, names in ADDED.items() if since <= minor for name in names)


def find(pod: Pod, minor: int) -> Iterator[Offence]:
    allowed = allowed_at(minor)
    for setting in pod.context.get("sysctls").items():
        name = setting.get("name")
        if not name.is_one_of(allowed):
            yield Offence(name, f"the pod sets the sysctl {name.shown}")


CHECK = PodSecurityCheck(
    id="sysctls",
    level=Level.BASELINE,
    reason="forbidden sysctls",
    fix="remove the sysctl from `securityContext.sysctls`, and set it on the node",
    find=find,
)
