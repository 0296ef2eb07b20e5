"""Fields of security contexts with a value that gives something."""

from __future__ import annotations

CONTEXTS = {
    "privileged": True,
    "allowPrivilegeEscalation": True,
    "capabilities": {"add": ["SYS_ADMIN"]},
    "runAsUser": 0,
    "runAsGroup": 0,
    "runAsNonRoot": False,
    "readOnlyRootFilesystem": False,
    "procMount": "Unmasked",
    "seccompProfile": {"type": "Unconfined"},
    "appArmorProfile": {"type": "Unconfined"},
    "seLinuxOptions": {"type": "spc_t"},
}
