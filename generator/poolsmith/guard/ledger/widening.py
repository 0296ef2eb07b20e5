"""Which privilege includes which: a partial order on tokens.

`covers` and `widens` compare privileges of the same name only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.ledger.privilege import ACCESS, CLUSTER, NON_RESOURCE, PROPAGATION

if TYPE_CHECKING:
    from poolsmith.guard.ledger.privilege import Privilege

_ANY = "*"
_OF_PRIVILEGED = frozenset(("allow-escalation", "apparmor", "capability", "proc-mount", "seccomp", "selinux"))
"""What the ledger does not list of a privileged container, because it follows."""


def covers(granted: Privilege, wanted: Privilege) -> bool:
    """Whether whoever holds `granted` holds `wanted` too."""
    if granted.name != wanted.name:
        return False
    if granted.arguments == wanted.arguments:
        return True
    match granted.name:
        case "host-path":
            return _path_covers(granted.arguments, wanted.arguments)
        case "rbac":
            return _rbac_covers(granted.arguments, wanted.arguments)
        case "capability":
            return granted.arguments == ("ALL",)
    return False


def includes(granted: Privilege, wanted: Privilege) -> bool:
    """Whether whoever holds `granted` can do what `wanted` allows: also what being privileged means."""
    return covers(granted, wanted) or (granted.name == "privileged" and wanted.name in _OF_PRIVILEGED)


def widens(old: Privilege, new: Privilege) -> bool:
    """Whether `new` includes `old` and more."""
    return old != new and covers(new, old)


def is_below(path: str, folder: str) -> bool:
    """Whether a normal path is the folder or lies in it."""
    return folder in (path, "/") or path.startswith(f"{folder}/")


def _path_covers(granted: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return (
        is_below(wanted[0], granted[0])
        and ACCESS.index(granted[1]) >= ACCESS.index(wanted[1])
        and PROPAGATION.index(granted[2]) >= PROPAGATION.index(wanted[2])
    )


def _rbac_covers(granted: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    group, resource, verb, scope, name = granted
    return (
        verb in (_ANY, wanted[2])
        and scope in (CLUSTER, wanted[3])
        and name in ("", wanted[4])
        and _address_covers(group, resource, wanted[0], wanted[1])
    )


def _address_covers(group: str, resource: str, wanted_group: str, wanted: str) -> bool:
    """A star in the place of the group stands for groups of the API, not for paths that are no resources."""
    if NON_RESOURCE in (group, wanted_group):
        return group == wanted_group and (
            resource == wanted or (resource.endswith(_ANY) and wanted.startswith(resource[:-1]))
        )
    return group in (_ANY, wanted_group) and _resource_covers(resource, wanted)


def _resource_covers(resource: str, wanted: str) -> bool:
    """`*` is each resource and each part of one; `*/<part>` is that part of each; `pods` is not `pods/log`."""
    if resource in (_ANY, wanted):
        return True
    _, slash, part = wanted.partition("/")
    return bool(slash and part) and resource == f"{_ANY}/{part}"
