"""A privilege as the end of a sentence that begins with who holds it: `may ...`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.record import record
from poolsmith.guard.ledger.privilege import CLUSTER, NON_RESOURCE

if TYPE_CHECKING:
    from poolsmith.guard.ledger.privilege import Privilege


@record
class _Words:
    """What follows `may` or `runs`; `field` is what pods call it."""

    text: str
    field: str


_PLAIN = {
    "privileged": _Words(text="do on the node whatever root may do", field="privileged"),
    "allow-escalation": _Words(text="gain more rights than its parent process", field="allowPrivilegeEscalation"),
    "run-as-root": _Words(text="run as root in its container", field="runAsUser 0"),
    "host-pid": _Words(text="see and stop the processes of the node", field="hostPID"),
    "host-ipc": _Words(text="share memory with processes of the node", field="hostIPC"),
    "host-network": _Words(text="use the network of the node", field="hostNetwork"),
}
_CONFINEMENT = {
    "seccomp": _Words(text="make every system call", field="seccompProfile"),
    "apparmor": _Words(text="run without an AppArmor profile", field="appArmorProfile"),
    "proc-mount": _Words(text="see all of /proc", field="procMount"),
}
_ACCESS = {"ro": "read", "rw": "read and write"}
_PROPAGATION = {
    "none": "",
    "host-to-container": ", with what is mounted there later",
    "bidirectional": ", and mount into the node there",
}
_ALL = "*"


def may(privilege: Privilege) -> str:
    """`use the network of the node (hostNetwork)`, `read the file or folder /run of the node (hostPath)` ..."""
    name = privilege.name
    words = _PLAIN.get(name) or _CONFINEMENT.get(name)
    if words is not None:
        return f"{words.text} ({words.field})"
    if name == "host-path":
        return _host_path(*privilege.arguments)
    if name == "rbac":
        return _rbac(*privilege.arguments)
    return _with_argument(name, shorten(privilege.arguments[0]))


def _with_argument(name: str, argument: str) -> str:
    match name:
        case "host-port":
            return f"listen at port {argument} of the node (hostPort)"
        case "capability":
            what = "use every capability of the kernel" if argument == "ALL" else f"use the capability {argument}"
            return f"{what} (capabilities)"
        case "selinux":
            return f"run with the SELinux type `{argument}` (seLinuxOptions)"
        case "sysctl":
            return f"set the kernel setting `{argument}` (sysctls)"
        case "annotation":
            return f"ask the container runtime for what the annotation `{argument}` names"
        case "volume":
            return f"mount a volume of type {argument}"
    return f"hold {name} {argument}"


def _host_path(path: str, access: str, propagation: str) -> str:
    return f"{_ACCESS[access]} `{shorten(path)}` of the node{_PROPAGATION[propagation]} (hostPath)"


def _rbac(group: str, resource: str, verb: str, scope: str, name: str) -> str:
    doing = "do anything with" if verb == _ALL else shorten(verb)
    if group == NON_RESOURCE:
        return f"{doing} `{shorten(resource)}` of the API server (RBAC)"
    what = "every resource" if resource == _ALL else f"`{shorten(resource)}`"
    of_group = "" if group == "core" else " of every group" if group == _ALL else f" of {shorten(group)}"
    where = "in the whole cluster" if scope == CLUSTER else f"in namespace `{shorten(scope.removeprefix('ns/'))}`"
    named = f", only `{shorten(name)}`" if name else ""
    return f"{doing} {what}{of_group} {where}{named} (RBAC)"
