"""Which grants allow which lines of a ledger, and the family of workloads that one grant is written for.

A pattern matches the whole name. In `Kind/name` both sides match on their own: `*` and `?` stand for no `/`. A pattern
without `/` is one of names, whatever the kind. A workload that is tied to no pool is matched by `*` alone.

Names of a family differ in generated parts only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.pod_template import containers_of, mapping, pod_template_of, word
from poolsmith.guard.ledger.grants.grant import repository_of
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.guard.ledger.privilege import covers
from poolsmith.kubernetes.pods.well_known import SAFE_LETTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.fleet.operands.expansion import Made
    from poolsmith.guard.ledger.grants.grant import PrivilegeGrant
    from poolsmith.guard.ledger.ledger import LedgerLine
    from poolsmith.guard.ledger.privilege import Privilege


Repositories = dict[tuple[str, str, str], str]
"""The image repository of each container, by namespace, Kind/name and container."""

_REMEMBERED = 1 << 16


class GrantingToken(NamedTuple):
    """A token of a grant, by their places among the grants and among the grant's tokens, and whether it says just
    what the line says."""

    grant: int
    token: int
    exact: bool


Granted = tuple[GrantingToken, ...]


@lru_cache(maxsize=_REMEMBERED)
def glob_matches(pattern: str, text: str) -> bool:
    """Whether a pattern with `*` (any letters) and `?` (one letter) matches all of a text."""
    if pattern == text:
        return True
    at = seen = 0
    star = back = -1
    while seen < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, back = at, seen
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", text[seen]):
            at += 1
            seen += 1
        elif star >= 0:
            at, back = star + 1, back + 1
            seen = back
        else:
            return False
    return not pattern[at:].strip("*")


def workload_matches(pattern: str, workload: str) -> bool:
    """Of a workload given as Kind/name."""
    kind, _, name = workload.partition("/")
    wanted_kind, slash, wanted = pattern.rpartition("/")
    return glob_matches(wanted, name) and (not slash or glob_matches(wanted_kind, kind))


def pool_matches(pattern: str, pool: str) -> bool:
    if pool in (ANY_NODE, NO_KNOWN_NODE):
        return not pattern.strip("*") or pattern == pool
    return glob_matches(pattern, pool)


def repositories_of(made: Iterable[Made]) -> Repositories:
    """Of all containers of workloads."""
    found: Repositories = {}
    for item in made:
        template = pod_template_of(item.body)
        if template is not None:
            namespace = word(mapping(item.body.get("metadata")).get("namespace"))
            for container in containers_of(mapping(template.get("spec"))):
                key = (namespace, item.workload, word(container.get("name")))
                found[key] = repository_of(word(container.get("image")))
    return found


class GrantBook:
    """Grants in their order, with what has been found out about them.

    `mirrors` are those that a supply policy allows, by the host that they stand for; None: no supply policy is kept,
    and nobody has said that what a mirror holds is what its host does.
    """

    def __init__(self, grants: Sequence[PrivilegeGrant], mirrors: Mapping[str, Iterable[str]] | None = None) -> None:
        self.grants = tuple(grants)
        self._mirrors = None if mirrors is None else [(host, item) for host, found in mirrors.items() for item in found]
        self._images = frozenset(image for grant in self.grants for image in grant.spec.images)
        self._by_cluster: dict[str, frozenset[int]] = {}
        self._by_workload: dict[str, tuple[int, ...]] = {}
        self._tokens: dict[tuple[str, str, str, Privilege], Granted] = {}
        self._said: dict[tuple[int, ...], _Held] = {}
        self._for_all = frozenset(
            index for index, grant in enumerate(self.grants) if not grant.spec.containers and not grant.spec.images
        )
        self._any_pool = frozenset(
            index for index, grant in enumerate(self.grants) if any(pool == ANY_NODE for pool in grant.spec.pools)
        )

    def name_of(self, repository: str, mirrors: Mapping[str, str]) -> str:
        """A repository as grants name it: its own name, or the one that it has without a mirror.

        `mirrors` are the cluster's own, by host; a supply policy reviews them, so that one which it does not allow is
        an error already.
        """
        if self._mirrors is None or repository in self._images:
            return repository
        for host, mirror in (*mirrors.items(), *self._mirrors):
            if repository.startswith(f"{mirror}/") and (name := host + repository[len(mirror) :]) in self._images:
                return name
        return repository

    def repositories(self, made: Iterable[Made], mirrors: Mapping[str, str]) -> Repositories:
        """The image repository of each container, as grants name it."""
        return {key: self.name_of(repository, mirrors) for key, repository in repositories_of(made).items()}

    def of_cluster(self, cluster: str) -> frozenset[int]:
        """The places of the grants that are given in a cluster."""
        if cluster not in self._by_cluster:
            self._by_cluster[cluster] = frozenset(
                index
                for index, grant in enumerate(self.grants)
                if any(glob_matches(item, cluster) for item in grant.spec.clusters)
            )
        return self._by_cluster[cluster]

    def cluster_patterns(self, grant: int, cluster: str) -> tuple[str, ...]:
        """Those of a grant's patterns that match a cluster."""
        return tuple(item for item in self.grants[grant].spec.clusters if glob_matches(item, cluster))

    def of_workload(self, workload: str) -> tuple[int, ...]:
        """The places of the grants that are given to a workload (Kind/name), wherever."""
        if workload not in self._by_workload:
            if len(self._by_workload) >= _REMEMBERED:
                self._by_workload.clear()
            self._by_workload[workload] = tuple(
                index for index, grant in enumerate(self.grants) if workload_matches(grant.spec.workload, workload)
            )
        return self._by_workload[workload]

    def granting(self, line: LedgerLine, repository: str, given: frozenset[int]) -> Granted:
        """What allows a line, of the grants at the places `given`. `repository` is that of the container's image."""
        found = self._anywhere(line.workload, line.container, repository, line.privilege)
        for item in found:
            if item.grant not in given or not self.in_pool(item.grant, line.pool):
                return tuple(item for item in found if item.grant in given and self.in_pool(item.grant, line.pool))
        return found

    def allows(self, line: LedgerLine, repository: str, given: frozenset[int]) -> bool:
        """Whether any of the grants at the places `given` allows a line."""
        found = self._anywhere(line.workload, line.container, repository, line.privilege)
        return any(item.grant in given and self.in_pool(item.grant, line.pool) for item in found)

    def needed(self, line: LedgerLine, repository: str, given: frozenset[int]) -> GrantingToken | None:
        """The nearest of what allows a line; None where nothing does."""
        found = self.nearest(line.workload, line.container, repository, line.privilege, given)
        return next((item for item in found if self.in_pool(item.grant, line.pool)), None)

    def nearest(
        self, workload: str, container: str, repository: str, privilege: Privilege, given: frozenset[int]
    ) -> Granted:
        """What allows a privilege in some pool. First what says just that and names the container, or none for what the
        pod holds as a whole; then the nearest to that."""
        found = self._anywhere(workload, container, repository, privilege)
        held = [item for item in found if item.grant in given]
        if len(held) > 1:
            held.sort(key=lambda item: (not item.exact, not self._names(item.grant, container)))
        return tuple(held)

    def _names(self, grant: int, container: str) -> bool:
        named = self.grants[grant].spec.containers
        return container in named if container else not named

    def _anywhere(self, workload: str, container: str, repository: str, privilege: Privilege) -> Granted:
        """What would allow it in some cluster and pool."""
        key = (workload, container, repository, privilege)
        found = self._tokens.get(key)
        if found is None:
            if len(self._tokens) >= _REMEMBERED:
                self._tokens.clear()
            found = self._tokens[key] = tuple(self._granting(*key))
        return found

    def in_pool(self, grant: int, pool: str) -> bool:
        return grant in self._any_pool or any(pool_matches(item, pool) for item in self.grants[grant].spec.pools)

    def _granting(self, workload: str, container: str, repository: str, wanted: Privilege) -> Iterator[GrantingToken]:
        """What many grants say alike is compared once."""
        held = self._held(workload)
        found = [
            (grant, order if key[1:] and privilege.name == "rbac" else 0, token, privilege == wanted)
            for order, key in enumerate(_keys(wanted))
            for privilege, places in held.get(key, {}).items()
            if covers(privilege, wanted)
            for grant, token in places
            if not container or grant in self._for_all or is_meant(self.grants[grant], container, repository)
        ]
        for grant, _, token, exact in sorted(found):
            yield GrantingToken(grant, token, exact)

    def _held(self, workload: str) -> _Held:
        """What the grants to a workload say, wherever: workloads that the same grants name share it."""
        grants = self.of_workload(workload)
        if grants not in self._said:
            said = self._said[grants] = {}
            for index in grants:
                for token, (_, privilege) in enumerate(self.grants[index].tokens):
                    said.setdefault(_key(privilege), {}).setdefault(privilege, []).append((index, token))
        return self._said[grants]


_Key = tuple[str, ...]
_Held = dict[_Key, dict["Privilege", list[tuple[int, int]]]]
"""Grants and tokens by privilege, and privileges by what they are about."""


def _keys(privilege: Privilege) -> tuple[_Key, ...]:
    """Under which keys the tokens stand that may cover a privilege: those of many resources, and those of one; those
    of a path and of the folders that it is in."""
    match privilege.name:
        case "rbac":
            return ((privilege.name,), (privilege.name, *privilege.arguments[:2]))
        case "host-path":
            parts = privilege.arguments[0].split("/")
            folders = ("/".join(parts[:length]) for length in range(1, len(parts) + 1))
            return tuple((privilege.name, folder) for folder in dict.fromkeys(("/", *folders)))
    return ((privilege.name,),)


def _key(privilege: Privilege) -> _Key:
    match privilege.name:
        case "rbac" if not any("*" in item for item in privilege.arguments[:2]):
            return (privilege.name, *privilege.arguments[:2])
        case "host-path":
            return (privilege.name, privilege.arguments[0])
    return (privilege.name,)


def is_meant(grant: PrivilegeGrant, container: str, repository: str) -> bool:
    """Whether a grant is for a container with an image of that repository."""
    spec = grant.spec
    return (not spec.containers or container in spec.containers) and (not spec.images or repository in spec.images)


_OF_DRIVER_RESOURCE = "NVIDIADriver/"
_HASHED = compiled_later(rf"(nvidia-[a-z-]+?-driver)-.*-[{SAFE_LETTERS}]{{1,10}}")
"""What the operator calls the DaemonSet of an NVIDIADriver: type, operating system, hash."""
_OF_KERNEL = compiled_later(r"(nvidia-driver-daemonset)-\d.*")
"""And that of a precompiled driver under a ClusterPolicy: kernel and operating system."""
_LONGEST_LABEL = 63
_LONGEST_NAME = 253


def family_of(made: Made) -> str:
    """A pattern of names: the workload's own name unless the name carries a hash.

    What has a name of its own for each pod stands with a star in the place of the generated part already.
    """
    return _pattern(made.name, made.through)


@lru_cache(maxsize=1 << 12)
def _pattern(name: str, through: str) -> str:
    if len(name) > _LONGEST_NAME:
        return name
    is_of_driver = through.startswith(_OF_DRIVER_RESOURCE)
    match = _HASHED.fullmatch(name) if is_of_driver else _OF_KERNEL.fullmatch(name)
    return f"{match[1]}-*" if match else name


def label_of(*parts: str) -> str:
    """A DNS label made of the parts, cut at the longest length."""
    words = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
    return "-".join(word for word in words if word)[:_LONGEST_LABEL].strip("-") or "grant"
