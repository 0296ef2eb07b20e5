"""The checks of the Pod Security Standards, listed by hand: baseline, then restricted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.pod_security.checks import (
    allow_privilege_escalation,
    app_armor_profile,
    capabilities_baseline,
    capabilities_restricted,
    host_namespaces,
    host_path_volumes,
    host_ports,
    host_probes_and_host_lifecycle,
    privileged,
    proc_mount,
    proc_mount_restricted,
    restricted_volumes,
    run_as_non_root,
    run_as_user,
    se_linux_options,
    seccomp_profile_baseline,
    seccomp_profile_restricted,
    sysctls,
    windows_host_process,
)

if TYPE_CHECKING:
    from poolsmith.kubernetes.pod_security.standard import PodSecurityCheck

CHECKS: tuple[PodSecurityCheck, ...] = (
    privileged.CHECK,
    host_namespaces.CHECK,
    host_path_volumes.CHECK,
    host_ports.CHECK,
    host_probes_and_host_lifecycle.CHECK,
    capabilities_baseline.CHECK,
    app_armor_profile.CHECK,
    seccomp_profile_baseline.CHECK,
    se_linux_options.CHECK,
    proc_mount.CHECK,
    sysctls.CHECK,
    windows_host_process.CHECK,
    restricted_volumes.CHECK,
    allow_privilege_escalation.CHECK,
    run_as_non_root.CHECK,
    run_as_user.CHECK,
    seccomp_profile_restricted.CHECK,
    capabilities_restricted.CHECK,
    proc_mount_restricted.CHECK,
)
