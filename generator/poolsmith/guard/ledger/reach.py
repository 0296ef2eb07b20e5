"""How far a privilege reaches, by one published table.

A privilege is rated by the worst a compromised pod could do with all its privileges, not by what a well-behaved image
does with it. What the table does not know counts as the worst of its kind.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.guard.ledger.privilege import NON_RESOURCE, Privilege

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ANY = "*"
_Words = frozenset[str]
_REMEMBERED = 1 << 16
_FILE = "privileges/reach.yaml"
_OTHER_VERBS = frozenset(("any other",))


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
            and (NON_RESOURCE in groups) == (group == NON_RESOURCE)
        )


@cache
def _facts() -> Mapping[str, Any]:
    """No pack of facts adds to them."""
    return store.read_own_yaml(_FILE)


@cache
def reach_table() -> tuple[ReachRow, ...]:
    """The first line that fits holds; of a wildcard, the worst of all that it touches."""
    table = _facts()
    plain = (_row(row["privilege"], row.get("of", ()), row) for row in table["privileges"])
    of_api = (
        _row("rbac", [row.get(part, "") for part in ("groups", "resources", "verbs")], row) for row in table["api"]
    )
    return (*plain, *of_api)


def _row(name: str, arguments: Iterable[str], row: Mapping[str, str]) -> ReachRow:
    words = tuple(_OTHER_VERBS if text == "others" else _words(text) for text in arguments)
    return ReachRow(name, words, Reach[row["reach"].upper().replace("-", "_")], row["because"])


@cache
def _rows_of(name: str) -> tuple[ReachRow, ...]:
    return tuple(row for row in reach_table() if row.name == name)


@lru_cache(maxsize=_REMEMBERED)
def reach_of(privilege: Privilege) -> Reach:
    fitting = (row.reach for row in _rows_of(privilege.name) if row.touches(privilege))
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
        return value not in _known_verbs()
    _, slash, part = value.partition("/")
    if not slash:
        return False
    if value.startswith(_ANY):
        return any(word.endswith(f"/{part}") for word in words)
    return f"{_ANY}/{part}" in words


@cache
def _known_verbs() -> _Words:
    return _words(_facts()["read"]) | _words(_facts()["write"])


def _words(text: str) -> _Words:
    return frozenset(text.split())
