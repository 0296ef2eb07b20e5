"""How far a privilege reaches, by one published table.

A privilege is rated by the worst a compromised pod could do with all its privileges, not by what a well-behaved image
does with it. What the table does not know counts as the worst of its kind.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from poolsmith.core.record import record
from poolsmith.guard.ledger.privilege import NON_RESOURCE, Privilege

_ANY = "*"
_Words = frozenset[str]
_REMEMBERED = 1 << 16


class Reach(IntEnum):
    """From the worst on: `min` of several is the worst.

    The node comes before the cluster: root on a node holds the kubelet's credentials and those of each pod there, with
    nothing in between, while a write through the API can still be stopped by admission, and is audited. Credentials
    come before the files of a node, which may hold some; both before what only sees or disturbs.
    """

    NODE_ROOT = 0
    NODE_WRITE = 1
    CLUSTER_WRITE = 2
    SECRETS = 3
    NODE_READ = 4
    NETWORK = 5
    OBJECT_WRITE = 6
    CLUSTER_READ = 7
    NONE = 8

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Reach.NODE_ROOT: "takes over the node",
    Reach.NODE_WRITE: "changes files or processes of the node",
    Reach.CLUSTER_WRITE: "changes objects of the API that decide what runs, and as whom",
    Reach.SECRETS: "reads credentials",
    Reach.NODE_READ: "reads the node",
    Reach.NETWORK: "uses the network of the node, or connects to other pods",
    Reach.OBJECT_WRITE: "changes objects of the API that only record something",
    Reach.CLUSTER_READ: "reads objects of the API",
    Reach.NONE: "stays in the container; at most one barrier is missing",
}


@record(kw_only=False)
class ReachRow:
    """One line of the table: a privilege, and for its arguments the words that are meant; no words: any."""

    name: str
    arguments: tuple[_Words, ...]
    reach: Reach
    because: str

    @property
    def pattern(self) -> str:
        words = [", ".join(sorted(item)) or _ANY for item in self.arguments]
        if self.name != "rbac":
            return ":".join((self.name, *words))
        group, resource, verb = words
        return f"rbac:{group}/{resource}:{verb}"

    def touches(self, privilege: Privilege) -> bool:
        """Whether the privilege, or a part of it, is meant."""
        if privilege.name != self.name:
            return False
        if self.name != "rbac":
            pairs = zip(privilege.arguments, self.arguments, strict=False)
            return all(not words or _is_meant(value, words) for value, words in pairs)
        groups, resources, verbs = self.arguments
        group, resource, verb, *_ = privilege.arguments
        return (
            (not verbs or _may_be_meant(verb, verbs))
            and (not groups or _may_be_meant(group, groups))
            and (not resources or _may_be_meant(resource, resources))
            and (groups == _PATHS) == (group == NON_RESOURCE)
        )


def reach_table() -> tuple[ReachRow, ...]:
    """The table. The first line that fits holds; of a wildcard, the worst of all that it touches."""
    return _TABLE


@lru_cache(maxsize=_REMEMBERED)
def reach_of(privilege: Privilege) -> Reach:
    fitting = (row.reach for row in _BY_NAME.get(privilege.name, ()) if row.touches(privilege))
    return min(fitting) if _is_wildcard(privilege) else next(fitting)


def _is_wildcard(privilege: Privilege) -> bool:
    if privilege.name == "rbac":
        group, resource, verb, *_ = privilege.arguments
        return group == _ANY or resource.startswith(_ANY) or verb == _ANY
    return privilege.arguments == ("ALL",)


def _is_meant(value: str, words: _Words) -> bool:
    return value in words or any(word.endswith(_ANY) and value.startswith(word[:-1]) for word in words)


def _may_be_meant(value: str, words: _Words) -> bool:
    """Of groups, resources and verbs: a star, or the same part of each resource, on either side."""
    if value == _ANY or value in words:
        return True
    if words == _OTHER_VERBS:
        return value not in _READ | _WRITE
    _, slash, part = value.partition("/")
    if not slash:
        return False
    if value.startswith(_ANY):
        return any(word.endswith(f"/{part}") for word in words)
    return f"{_ANY}/{part}" in words


def _words(text: str) -> _Words:
    return frozenset(text.split())


_PATHS = _words(NON_RESOURCE)
_READ = _words("get list watch")
_WRITE = _words("create update patch delete deletecollection")
_OTHER_VERBS = frozenset(("any other",))


def _plain(name: str, reach: Reach, because: str, *arguments: str) -> ReachRow:
    return ReachRow(name, tuple(_words(text) for text in arguments), reach, because)


def _rbac(group: str, resource: str, verbs: _Words, reach: Reach, because: str) -> ReachRow:
    return ReachRow("rbac", (_words(group), _words(resource), verbs), reach, because)


_OF_THE_POD = (
    _plain("privileged", Reach.NODE_ROOT, "all devices, all capabilities, no confinement"),
    _plain("host-path", Reach.NODE_ROOT, "the root of the node's file system", "/", "rw"),
    _plain("host-path", Reach.NODE_WRITE, "files of the node; through a socket or a binary often root", "", "rw"),
    _plain("host-path", Reach.NODE_READ, "files of the node", "", "ro"),
    _plain("proc-mount", Reach.NODE_ROOT, "kernel settings that start programs on the node", "unmasked"),
    _plain("host-pid", Reach.NODE_WRITE, "sees and kills processes of the node"),
    _plain("host-ipc", Reach.NODE_WRITE, "shares memory with processes of the node"),
    _plain("host-network", Reach.NETWORK, "the node's addresses and its local services"),
    _plain("host-port", Reach.NETWORK, "a port of the node", ""),
    _plain("allow-escalation", Reach.NONE, "one barrier is missing: a program may give its caller more rights"),
    _plain("run-as-root", Reach.NONE, "one barrier is missing: root, but only with the container's other rights"),
    _plain("seccomp", Reach.NONE, "one barrier is missing: every system call is allowed", ""),
    _plain("apparmor", Reach.NONE, "one barrier is missing: no profile", ""),
    _plain("selinux", Reach.NONE, "one barrier is missing: another type than containers have", ""),
    _plain(
        "sysctl",
        Reach.NONE,
        "a setting of the pod's own namespaces",
        "kernel.shm* kernel.msg* kernel.sem net.* fs.mqueue.*",
    ),
    _plain("sysctl", Reach.NODE_WRITE, "a kernel setting of the node", ""),
    _plain(
        "annotation",
        Reach.NODE_WRITE,
        "devices of the node that its CDI files name",
        "nvidia.cdi.k8s.io/*",
    ),
    _plain("annotation", Reach.NODE_ROOT, "the container runtime gives what it names: devices, mounts, programs", ""),
    _plain("volume", Reach.NODE_ROOT, "the node runs a program that the pod names", "flexVolume gitRepo"),
    _plain("volume", Reach.NODE_WRITE, "the node mounts as root what the pod names", ""),
)

_CAPABILITIES = (
    _plain(
        "capability",
        Reach.NODE_ROOT,
        "mounts, devices, kernel modules, memory of other processes, or any file by its handle",
        "SYS_ADMIN SYS_MODULE SYS_RAWIO SYS_PTRACE SYS_BOOT DAC_READ_SEARCH",
    ),
    _plain(
        "capability",
        Reach.NODE_WRITE,
        "the node's clock, audit rules or security modules",
        "SYS_TIME AUDIT_CONTROL MAC_ADMIN MAC_OVERRIDE",
    ),
    _plain(
        "capability",
        Reach.NODE_READ,
        "the kernel's messages and memory, or what other processes do",
        "SYSLOG PERFMON BPF AUDIT_READ CHECKPOINT_RESTORE",
    ),
    _plain("capability", Reach.NETWORK, "interfaces, routes, raw packets", "NET_ADMIN NET_RAW NET_BROADCAST"),
    _plain(
        "capability",
        Reach.NONE,
        "what runtimes give to every container",
        "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID "
        "SYS_CHROOT",
    ),
    _plain(
        "capability",
        Reach.NONE,
        "more than its share of the node's time and memory, or files and memory that the container has anyway",
        "IPC_LOCK IPC_OWNER LEASE LINUX_IMMUTABLE SYS_NICE SYS_RESOURCE SYS_PACCT SYS_TTY_CONFIG WAKE_ALARM "
        "BLOCK_SUSPEND",
    ),
    _plain("capability", Reach.NODE_ROOT, "unknown, so the worst", ""),
)

_OF_THE_API = (
    _rbac(NON_RESOURCE, "", frozenset(), Reach.CLUSTER_READ, "metrics, health and logs of the API server"),
    _rbac(
        "",
        "",
        _words("escalate bind impersonate"),
        Reach.CLUSTER_WRITE,
        "rights of others, or more rights than its own",
    ),
    _rbac("rbac.authorization.k8s.io", "", _WRITE, Reach.CLUSTER_WRITE, "gives rights to any account"),
    _rbac(
        "core",
        "nodes/proxy",
        frozenset(),
        Reach.CLUSTER_WRITE,
        "runs runs commands in each pod of the node; reading is enough",
    ),
    _rbac(
        "core",
        "pods/exec pods/attach",
        frozenset(),
        Reach.CLUSTER_WRITE,
        "runs runs commands in other pods; reading is enough",
    ),
    _rbac("core", "pods/portforward pods/proxy services/proxy", frozenset(), Reach.NETWORK, "connects to other pods"),
    _rbac("core", "nodes/log", _READ, Reach.NODE_READ, "log files of the node"),
    _rbac("core", "secrets", _READ, Reach.SECRETS, "credentials"),
    _rbac("core", "serviceaccounts/token", _WRITE, Reach.CLUSTER_WRITE, "credentials of other accounts"),
    _rbac("core", "nodes nodes/status", _WRITE, Reach.CLUSTER_WRITE, "decides where pods run, by labels and taints"),
    _rbac(
        "authentication.k8s.io authorization.k8s.io",
        "tokenreviews subjectaccessreviews localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews "
        "selfsubjectreviews",
        _words("create"),
        Reach.CLUSTER_READ,
        "asks the API server about rights and tokens",
    ),
    _rbac("core events.k8s.io", "events", _WRITE, Reach.OBJECT_WRITE, "writes events"),
    _rbac("coordination.k8s.io", "leases", _WRITE, Reach.OBJECT_WRITE, "decides which replica leads"),
    _rbac("", "*/status */finalizers", _WRITE, Reach.OBJECT_WRITE, "records what was done, not what is wanted"),
    _rbac(
        "security.openshift.io policy",
        "securitycontextconstraints podsecuritypolicies",
        _words("use"),
        Reach.NONE,
        "lets its own pods be admitted; their privileges have lines of their own",
    ),
    _rbac("", "", _READ, Reach.CLUSTER_READ, "objects of the API"),
    _rbac("", "", _WRITE, Reach.CLUSTER_WRITE, "pods, workloads, configuration, or objects that a controller acts on"),
    _rbac("", "", _OTHER_VERBS, Reach.CLUSTER_WRITE, "a verb that is unknown, so the worst"),
)

_TABLE = _OF_THE_POD + _CAPABILITIES + _OF_THE_API
_BY_NAME = {name: tuple(row for row in _TABLE if row.name == name) for name in {row.name for row in _TABLE}}
