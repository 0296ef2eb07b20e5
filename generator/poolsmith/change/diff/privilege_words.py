"""Privileges in words: each as the end of a sentence that begins with who has it, `may ...`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import joined, shorten
from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger import NO_KNOWN_NODE
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.guard.ledger.privilege import CLUSTER, CORE_GROUP, NON_RESOURCE

if TYPE_CHECKING:
    from poolsmith.guard.ledger.ledger_delta import Change
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
_ANYTHING = "do anything with"
FEW_RESOURCES = 4


def may(privilege: Privilege | None) -> str:
    """`use the network of the node (hostNetwork)`, `read the file or folder /run of the node (hostPath)` ..."""
    if privilege is None:
        return "nothing"
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
    where = "" if group == NON_RESOURCE else _scope(scope, name)
    doing = _ANYTHING if verb == _ALL else shorten(verb)
    return f"{doing} {resource_words(group, resource)}{where} (RBAC)"


def _scope(scope: str, name: str) -> str:
    where = "in the whole cluster" if scope == CLUSTER else f"in namespace `{shorten(scope.removeprefix('ns/'))}`"
    return f" {where}, only `{shorten(name)}`" if name else f" {where}"


def resource_words(group: str, resource: str) -> str:
    """`pods`, `deployments` of apps, `/metrics` of the API server ..."""
    if group == NON_RESOURCE:
        return f"`{shorten(resource)}` of the API server"
    what = "every resource" if resource == _ALL else f"`{shorten(resource)}`"
    if group == CORE_GROUP:
        return what
    return f"{what} of every group" if group == _ALL else f"{what} of {shorten(group)}"


@record
class Right:
    """Verbs of the API that a container may use on several resources. Rights come in hundreds: they are one sentence
    where verbs and scope are the same."""

    verbs: str
    resources: tuple[str, ...]

    def words(self, privilege: Privilege) -> str:
        """`privilege` is one of them: all have its scope."""
        _, _, _, scope, name = privilege.arguments
        doing = _ANYTHING if self.verbs == _ALL else self.verbs
        return f"{doing} {joined(self.resources, FEW_RESOURCES)}{_scope(scope, name)} (RBAC)"


def gains(change: Change) -> bool:
    """Whether something may be done afterwards, somewhere, that might not be done before."""
    return change.kind in (ChangeKind.ADDED, ChangeKind.WIDENED) or (
        change.kind is ChangeKind.MOVED and bool(change.pools_after)
    )


MORE_POOLS, FEWER_POOLS = "on more pools", "on fewer pools"


def privilege_standing(change: Change) -> str:
    """As `Change.kind`; of what moved, whether it is on more pools, on fewer, or on others. What no known node had is
    added."""
    if change.kind is ChangeKind.MOVED and set(change.pools_before) == {NO_KNOWN_NODE}:
        return ChangeKind.ADDED
    if change.kind is not ChangeKind.MOVED or (change.pools_before and change.pools_after):
        return change.kind
    return FEWER_POOLS if change.pools_before else MORE_POOLS
