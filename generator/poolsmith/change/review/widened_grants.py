"""Grants of a change that allow more than those of its base, whatever their names and files.

Names are compared as patterns: whether one pattern with `*` and `?` matches everything that another one matches.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import whole_file
from poolsmith.core.diagnostics.message_text import joined, listed
from poolsmith.core.record import record
from poolsmith.guard.ledger.grants.matching import glob_matches, pool_matches
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.guard.ledger.privilege import covers
from poolsmith.guard.policies.policy_files import PRIVILEGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant import PrivilegeGrant
    from poolsmith.guard.ledger.grants.grant_files import LoadedGrant
    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.guard.policies.policies import Policies


@record(kw_only=False)
class Widening:
    """`what` would newly pass; `subject` is what says so: a grant, a policy, a file."""

    what: str
    place: Location
    subject: str


_MOST_STEPS = 20_000
_ANY_OTHER = "\0"
_REMEMBERED = 1 << 14


@lru_cache(maxsize=_REMEMBERED)
def includes(wide: str, narrow: str) -> bool:
    """False also where that takes too long to tell."""
    if wide in (narrow, "*"):
        return True
    if "*" not in narrow and "?" not in narrow:
        return glob_matches(wide, narrow)
    letters = {letter for letter in wide + narrow if letter not in "*?"} | {_ANY_OTHER}
    start = (0, _closed(wide, {0}))
    seen, pending = {start}, [start]
    while pending:
        at, reached = pending.pop()
        if at == len(narrow):
            if len(wide) not in reached:
                return False
            continue
        stays = narrow[at] == "*"
        possible = letters if narrow[at] in "*?" else {narrow[at]}
        steps = [(at if stays else at + 1, _after(wide, reached, letter)) for letter in possible]
        if stays:
            steps.append((at + 1, reached))
        for step in steps:
            if step not in seen:
                seen.add(step)
                pending.append(step)
        if len(seen) > _MOST_STEPS:
            return False
    return True


def any_includes(wide: Iterable[str], narrow: str) -> bool:
    return any(includes(pattern, narrow) for pattern in wide)


def _after(pattern: str, reached: frozenset[int], letter: str) -> frozenset[int]:
    found = set()
    for at in reached:
        if at < len(pattern):
            if pattern[at] == "*":
                found.add(at)
            elif pattern[at] in ("?", letter):
                found.add(at + 1)
    return _closed(pattern, found)


def _closed(pattern: str, reached: set[int]) -> frozenset[int]:
    """With what is reached without a letter."""
    pending = list(reached)
    while pending:
        at = pending.pop()
        if at < len(pattern) and pattern[at] == "*" and at + 1 not in reached:
            reached.add(at + 1)
            pending.append(at + 1)
    return frozenset(reached)


_OF_PODS = frozenset(("host-pid", "host-ipc", "host-network", "sysctl", "rbac"))
"""Held by the pod as a whole: which containers and images a grant names does not matter."""
_MOST_COMBINATIONS = 20_000
_FEW = 6


def widened_grants(base: Policies, head: Policies) -> Iterator[Widening]:
    """Nothing where the base keeps no grants: there nothing needs one."""
    if not base.files.has_privileges:
        return
    if not head.files.has_privileges:
        what = f"without files in {PRIVILEGES}/ no privilege needs a grant any more: all of them would pass"
        yield Widening(what, whole_file(PRIVILEGES), PRIVILEGES)
        return
    book = _Book([loaded.grant for loaded in base.grants[0]])
    for loaded in head.grants[0]:
        if not book.has(loaded.grant):
            yield from _of_grant(loaded, book)


class _Book:
    """The grants of the base, by the privileges that they may cover."""

    def __init__(self, grants: Iterable[PrivilegeGrant]) -> None:
        self.grants = tuple(grants)
        self._known = frozenset(map(_meaning, self.grants))
        self._named = {grant.name: grant for grant in self.grants}
        self._by_workload: defaultdict[str, list[PrivilegeGrant]] = defaultdict(list)
        for grant in self.grants:
            self._by_workload[grant.spec.workload].append(grant)
        self._patterns = [workload for workload in self._by_workload if not _is_exact(workload)]
        self._for: dict[str, tuple[PrivilegeGrant, ...]] = {}

    def of_workload(self, workload: str) -> tuple[PrivilegeGrant, ...]:
        """Those for all that a pattern of workloads matches."""
        if workload not in self._for:
            wide = [item for item in self._patterns if item != workload and _workload_includes(item, workload)]
            found = [grant for item in (workload, *wide) for grant in self._by_workload.get(item, ())]
            self._for[workload] = tuple(found)
        return self._for[workload]

    def has(self, grant: PrivilegeGrant) -> bool:
        return _meaning(grant) in self._known

    def allows(self, grant: PrivilegeGrant, privilege: Privilege) -> bool:
        """Whether all that a grant says with one of its privileges is granted already."""
        found = [
            other
            for other in self.of_workload(grant.spec.workload)
            if _is_as_long(other, grant) and any(covers(token.privilege, privilege) for token in other.tokens)
        ]
        if not found:
            return False
        of_pod = privilege.name in _OF_PODS
        if any(_all_of(other, grant, of_pod=of_pod) for other in found):
            return True
        spec = grant.spec
        containers = ("",) if of_pod else spec.containers or ("",)
        images = ("",) if of_pod else spec.images or ("",)
        if len(spec.clusters) * len(spec.pools) * len(containers) * len(images) > _MOST_COMBINATIONS:
            return False
        return all(
            any(
                any_includes(other.spec.clusters, cluster)
                and _any_pool(other.spec.pools, pool)
                and (of_pod or (_is_named(other.spec.containers, container) and _is_named(other.spec.images, image)))
                for other in found
            )
            for cluster, pool, container, image in product(spec.clusters, spec.pools, containers, images)
        )

    def nearest(self, grant: PrivilegeGrant) -> PrivilegeGrant | None:
        """The one that it seems to be made of."""
        return self._named.get(grant.name) or next(iter(self._by_workload.get(grant.spec.workload, ())), None)


def _of_grant(loaded: LoadedGrant, book: _Book) -> Iterator[Widening]:
    grant = loaded.grant
    new = [token.privilege for token in grant.tokens if not book.allows(grant, token.privilege)]
    if not new:
        return
    spec = grant.spec
    until = f"until {grant.last_day}" if grant.last_day is not None else "without a last day"
    where = f"on pools {listed(spec.pools, _FEW)} of clusters {listed(spec.clusters, _FEW)}"
    whom = f"`{spec.workload}`"
    if spec.containers:
        whom += f" (containers {listed(spec.containers, _FEW)})"
    if spec.images:
        whom += f" with images {listed(spec.images, _FEW)}"
    what = f"{listed(map(str, new), _FEW)} would pass for {whom} {where}, {until}"
    before = book.nearest(grant)
    if before is None:
        how, pointer = "no grant of the base is for it", "/metadata/name"
    else:
        parts = dict(_beyond(before, grant, new))
        how = joined((f"{field}: {text}" for field, text in parts.items()), _FEW, "; ")
        how = f"beyond grant `{before.name}` of the base: {how}" if parts else "no grant of the base allows all of it"
        pointer = f"/spec/{next(iter(parts))}" if parts else "/metadata/name"
    yield Widening(f"grant `{grant.name}`: {what}; {how}", loaded.file.locate(pointer), grant.name)


def _beyond(before: PrivilegeGrant, grant: PrivilegeGrant, new: list[Privilege]) -> Iterator[tuple[str, str]]:
    """Fields that say more than those of another grant, and what they say."""
    old, now = before.spec, grant.spec
    held = [token.privilege for token in before.tokens]
    if more := [str(item) for item in new if not any(covers(other, item) for other in held)]:
        yield "privileges", listed(more, _FEW)
    if not _workload_includes(old.workload, now.workload):
        yield "workload", f"`{now.workload}`"
    if more := [item for item in now.clusters if not any_includes(old.clusters, item)]:
        yield "clusters", listed(more, _FEW)
    if more := [item for item in now.pools if not _any_pool(old.pools, item)]:
        yield "pools", listed(more, _FEW)
    for field, mine, theirs in (
        ("containers", now.containers, old.containers),
        ("images", now.images, old.images),
    ):
        if theirs and not mine:
            yield field, "any"
        elif more := [item for item in mine if not _is_named(theirs, item)]:
            yield field, listed(more, _FEW)
    if not _is_as_long(before, grant):
        yield "expires", f"{grant.last_day or 'never'}, and not {before.last_day}"


def _meaning(grant: PrivilegeGrant) -> tuple[object, ...]:
    """What it grants; who says so, why, and in which file does not matter."""
    spec = grant.spec
    return (
        frozenset(spec.clusters),
        frozenset(spec.pools),
        spec.workload,
        frozenset(spec.containers),
        frozenset(spec.images),
        frozenset(token.privilege for token in grant.tokens),
        grant.last_day,
    )


def _all_of(other: PrivilegeGrant, grant: PrivilegeGrant, *, of_pod: bool) -> bool:
    mine, theirs = grant.spec, other.spec
    return (
        all(any_includes(theirs.clusters, item) for item in mine.clusters)
        and all(_any_pool(theirs.pools, item) for item in mine.pools)
        and (
            of_pod
            or (
                all(_is_named(theirs.containers, item) for item in mine.containers or ("",))
                and all(_is_named(theirs.images, item) for item in mine.images or ("",))
            )
        )
    )


def _is_named(names: tuple[str, ...], name: str) -> bool:
    """No names are all of them; an empty name stands for any."""
    return not names or name in names


def _workload_includes(wide: str, narrow: str) -> bool:
    """A pattern without a kind is one of every kind."""
    wide_kind, _, wide_name = wide.rpartition("/")
    kind, _, name = narrow.rpartition("/")
    return includes(wide_kind or "*", kind or "*") and includes(wide_name, name)


def _is_exact(workload: str) -> bool:
    """Whether it includes nothing but itself."""
    return "/" in workload and "*" not in workload and "?" not in workload


def _is_as_long(other: PrivilegeGrant, grant: PrivilegeGrant) -> bool:
    return other.last_day is None or (grant.last_day is not None and grant.last_day <= other.last_day)


def _any_pool(wide: tuple[str, ...], narrow: str) -> bool:
    if pool_matches(narrow, ANY_NODE) or narrow == NO_KNOWN_NODE:
        place = ANY_NODE if pool_matches(narrow, ANY_NODE) else NO_KNOWN_NODE
        return any(pool_matches(item, place) for item in wide)
    return any_includes(wide, narrow)
