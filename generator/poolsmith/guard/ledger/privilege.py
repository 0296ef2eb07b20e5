"""A privilege of a workload as a token of text, `name[:argument...]`, and the partial order of which includes which.

`:` and `%` are percent-encoded in arguments. The same privilege has one text only: paths are normalised, capabilities
written as the pod specification writes them, kernel settings with dots. In `rbac` tokens `@`, `#` and `/` are encoded
as well where they would be read as something else, a comma may be, and a path of the API server that is no resource
stands as `nonResourceURLs/<path>` in the place of group and resource.

`covers` and `widens` compare privileges of the same name only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable


ACCESS = ("ro", "rw")
PROPAGATION = ("none", "host-to-container", "bidirectional")
CORE_GROUP = "core"
NON_RESOURCE = "nonResourceURLs"
CLUSTER = "cluster"
_SHARED_TOKENS = 1 << 16
_LAST_PORT = 65535
_ESCAPE = pattern(r"%(.{0,2})", re.DOTALL)
_SHOWN = 200

privilege_order: Callable[[Privilege], tuple[str, tuple[str, ...]]] = attrgetter("name", "arguments")


class PrivilegeError(ValueError):
    """Text that is no privilege; the message says what is wrong with it."""


@record(kw_only=False, order=True)
class Privilege:
    """A name and its arguments, decoded. Of `rbac`: group, resource, verb, scope, resource name or nothing."""

    name: str
    arguments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        readers = _ARGUMENTS.get(self.name)
        if readers is None:
            raise PrivilegeError(f"`{_cut(self.name)}` is no privilege; {_meant(self.name)}")
        if len(self.arguments) != len(readers):
            raise PrivilegeError(f"{_form(self.name)}; arguments given: {len(self.arguments)}")
        if readers:
            canonical = tuple(read(text) for read, text in zip(readers, self.arguments, strict=True))
            if self.name == "rbac" and canonical[0] == NON_RESOURCE:
                canonical = (NON_RESOURCE, _server_path(canonical[1]), *canonical[2:])
            object.__setattr__(self, "arguments", canonical)

    @classmethod
    def parse(cls, text: str) -> Privilege:
        """The privilege that `text` names. Raises PrivilegeError."""
        name, *arguments = text.split(":")
        if name == "rbac":
            return cls(name, _rbac_arguments(arguments))
        return cls(name, tuple(_decoded(argument, ":%") for argument in arguments))

    def __str__(self) -> str:
        if self.name == "rbac":
            return _rbac_text(*self.arguments)
        return ":".join((self.name, *(_encoded(argument) for argument in self.arguments)))


@lru_cache(maxsize=_SHARED_TOKENS)
def privilege(name: str, *arguments: str) -> Privilege:
    """The privilege of that name; equal ones are one object. Raises PrivilegeError."""
    return Privilege(name, arguments)


@lru_cache(maxsize=_SHARED_TOKENS)
def rbac(group: str, resource: str, verb: str, namespace: str | None = None, resource_name: str = "") -> Privilege:
    """Leave to use a verb on a resource of the API: in one namespace, or in the whole cluster."""
    scope = CLUSTER if namespace is None else f"ns/{namespace}"
    return Privilege("rbac", (group or CORE_GROUP, resource, verb, scope, resource_name))


@lru_cache(maxsize=_SHARED_TOKENS)
def normal_path(path: str) -> str:
    """The absolute path without `.`, `..`, empty parts and a slash at the end. Links are not followed.

    A relative path counts from the root, where the kubelet stands.
    """
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _absolute_path(text: str) -> str:
    if not text.startswith("/"):
        raise PrivilegeError(f"`{_cut(text)}` is no absolute path")
    return normal_path(text)


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise PrivilegeError(f"`{_cut(text)}` is not {' or '.join(f'`{word}`' for word in words)}")
        return text

    return read


def _something(text: str) -> str:
    if not text:
        raise PrivilegeError("an argument is empty")
    return text


def _port(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(_LAST_PORT)) and 0 < int(text) <= _LAST_PORT):
        raise PrivilegeError(f"`{_cut(text)}` is no port from 1 to {_LAST_PORT}")
    return str(int(text))


def bare_capability(text: str) -> str:
    """The name as the pod specification writes it, without `CAP_`; empty where nothing else is left."""
    name = text.upper() if text.isascii() else text
    while name.startswith("CAP_"):
        name = name.removeprefix("CAP_")
    return name


def _capability(text: str) -> str:
    return _something(bare_capability(text))


def _sysctl(text: str) -> str:
    """With dots: a name whose first separator is a slash has slashes for dots, and dots for slashes."""
    first = next((letter for letter in _something(text) if letter in "./"), ".")
    return text.translate({ord("/"): ".", ord("."): "/"}) if first == "/" else text


def _scope(text: str) -> str:
    if text != CLUSTER and not text.startswith("ns/"):
        raise PrivilegeError(f"`{_cut(text)}` is neither `cluster` nor `ns/<namespace>`")
    if text == "ns/":
        raise PrivilegeError("`ns/` lacks the name of the namespace")
    return text


def _server_path(text: str) -> str:
    """Below the root of the API server; any number of stars at the end says what one says."""
    path = text if text.startswith("/") else f"/{text}"
    return path.rstrip("*") + "*" if path.endswith("*") else path


_FORMS = {
    "host-port": "host-port:<n>",
    "capability": "capability:<NAME>",
    "host-path": "host-path:<path>:(ro|rw):(none|host-to-container|bidirectional)",
    "seccomp": "seccomp:unconfined",
    "apparmor": "apparmor:unconfined",
    "selinux": "selinux:<type>",
    "proc-mount": "proc-mount:unmasked",
    "sysctl": "sysctl:<name>",
    "annotation": "annotation:<key>",
    "volume": "volume:<type>",
    "rbac": "rbac:(<group>|core)/<resource>[/<sub>]:<verb>@(cluster|ns/<namespace>)[#<resourceName>]",
}

_ARGUMENTS: dict[str, tuple[Callable[[str], str], ...]] = {
    "privileged": (),
    "allow-escalation": (),
    "run-as-root": (),
    "host-pid": (),
    "host-ipc": (),
    "host-network": (),
    "host-port": (_port,),
    "capability": (_capability,),
    "host-path": (_absolute_path, _one_of(*ACCESS), _one_of(*PROPAGATION)),
    "seccomp": (_one_of("unconfined"),),
    "apparmor": (_one_of("unconfined"),),
    "selinux": (_something,),
    "proc-mount": (_one_of("unmasked"),),
    "sysctl": (_sysctl,),
    "annotation": (_something,),
    "volume": (_something,),
    "rbac": (_something, _something, _something, _scope, str),
}

PRIVILEGE_NAMES = tuple(_ARGUMENTS)


_CAPABILITY = pattern(r"(CAP_)?[A-Z]{2,}(_[A-Z]+)*")


def _meant(text: str) -> str:
    """A path and a capability are known by their form, the others by their names."""
    if text.startswith("/"):
        return f"did you mean `host-path:{_cut(text)}:ro:none`, or `rw` for `ro`?"
    if _CAPABILITY.fullmatch(text):
        return f"did you mean `capability:{bare_capability(text)}`?"
    return did_you_mean(text, _ARGUMENTS)


def _form(name: str) -> str:
    return f"the form is `{_FORMS.get(name, name)}`"


def _rbac_arguments(arguments: list[str]) -> tuple[str, ...]:
    match arguments:
        case [what, how]:
            group, slash, resource = what.partition("/")
            verb, at, where = how.partition("@")
            scope, hash_sign, resource_name = where.partition("#")
            if slash and at and bool(hash_sign) == bool(resource_name):
                path = f"/{resource}" if group == NON_RESOURCE else resource
                return tuple(_decoded(part, ":%/@#,") for part in (group, path, verb, scope, resource_name))
    raise PrivilegeError(_form("rbac"))


def _rbac_text(group: str, resource: str, verb: str, scope: str, resource_name: str) -> str:
    path = resource.removeprefix("/") if group == NON_RESOURCE else resource
    what = f"{_encoded(group, '/')}/{_encoded(path)}"
    where = "ns/" + _encoded(scope.removeprefix("ns/"), "#") if scope != CLUSTER else scope
    name = f"#{_encoded(resource_name)}" if resource_name else ""
    return f"rbac:{what}:{_encoded(verb, '@')}@{where}{name}"


def _encoded(text: str, also: str = "") -> str:
    for letter in f"%:{also}":
        if letter in text:
            text = text.replace(letter, f"%{ord(letter):02X}")
    return text


def _decoded(text: str, letters: str) -> str:
    if "%" not in text:
        return text
    meanings = {f"{ord(letter):02X}": letter for letter in letters}

    def letter_of(match: re.Match[str]) -> str:
        letter = meanings.get(match[1].upper())
        if letter is None:
            known = ", ".join(f"`%{code}`" for code in meanings)
            raise PrivilegeError(f"`{match[0]}` is no escape; known: {known}")
        return letter

    return _ESCAPE.sub(letter_of, text)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


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
