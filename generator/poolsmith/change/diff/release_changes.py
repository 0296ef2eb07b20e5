"""What another release brings besides privileges, disruption and values: definitions, known issues, changed defaults,
and on a downgrade what does not come back by itself.

Labels and partitions that a change leaves on nodes are reported for every change: nothing takes them off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import ReleaseChange, ReleaseChangeKind
from poolsmith.change.diff.left_behind import left_behind
from poolsmith.change.diff.rows import on_pools
from poolsmith.change.diff.undeclared_fields import refusal_words, undeclared_fields
from poolsmith.core.diagnostics.message_text import joined, listed
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS
from poolsmith.gpu.catalog.projections import read_crds
from poolsmith.gpu.catalog.upgrades import is_back, read_upgrades, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog import Catalog


_FEW = 4
_MANY = 20
_RELEASE = "/spec/stack/release"
_FROM = "/spec/stack/upgradingFrom"
_KIND = "/spec/stack"


def release_changes(
    before: SeenCluster, after: SeenCluster, catalog: Catalog, new_names: Mapping[str, str], *, denies: bool = False
) -> tuple[ReleaseChange, ...]:
    """`new_names` are those of pools, by old ones. `denies`: pods that no grant allows are refused after the change."""
    found = [*_both_accepted(before, after), *stays(before, after, new_names)]
    stacks = before.plan.cluster.spec.stack, after.plan.cluster.spec.stack
    is_operator = all(stack.by_operator for stack in stacks)
    if is_operator and stacks[0].kind is not stacks[1].kind:
        words = (
            f"the stack is of kind {stacks[1].kind} and no longer of kind {stacks[0].kind}: no migration is supported, "
            "and a new cluster is needed"
        )
        found.append(_change(ReleaseChangeKind.PATH, words, after))
    if is_operator and stacks[0].release != stacks[1].release:
        found += _of_releases(before, after, catalog)
        if denies and stacks[1].upgrading_from != stacks[0].release:
            found.append(_refused(stacks[0].release, after))
    return tuple(sorted(found, key=lambda item: list(ReleaseChangeKind).index(item.kind)))


def stays(before: SeenCluster, after: SeenCluster | None, new_names: Mapping[str, str]) -> Iterator[ReleaseChange]:
    """What the change leaves on nodes, hosts and GPUs; of a cluster that is gone, all that it had."""
    for words, pools in left_behind(before, after, new_names):
        yield _change(ReleaseChangeKind.STAYS, words, after, pools, pointer=_KIND)


def _of_releases(before: SeenCluster, after: SeenCluster, catalog: Catalog) -> Iterator[ReleaseChange]:
    yield from _path(before, after, catalog)
    yield from _definitions(before, after)
    yield from _driver_labels(before, after)
    yield from _sandboxes(before, after, catalog)
    yield from _issues(before, after)
    from poolsmith.change.diff.release_notes import default_changes  # on demand

    for words in default_changes(before, after):
        yield _change(ReleaseChangeKind.DEFAULT, words, after)


def _path(before: SeenCluster, after: SeenCluster, catalog: Catalog) -> Iterator[ReleaseChange]:
    old, new = _releases(before, after)
    way = steps(catalog.releases, old, new)
    if way is not None and len(way) > 1:
        words = f"NVIDIA supports no step from {old} to {new}: the way is {joined((old, *way), len(way) + 1, ', ')}"
        yield _change(ReleaseChangeKind.PATH, words, after)
    elif is_back(old, new):
        words = f"it goes back from {old} to {new}: NVIDIA describes no way back, so see in one cluster that it works"
        yield _change(ReleaseChangeKind.PATH, words, after)


def _definitions(before: SeenCluster, after: SeenCluster) -> Iterator[ReleaseChange]:
    old, new = _releases(before, after)
    then, now = read_crds(old), read_crds(new)
    schemas = [{kind: item.schema for kind, item in side.items()} for side in (then, now)]
    if not then or not now or schemas[0] == schemas[1]:
        return
    engine = read_upgrades().definitions[after.plan.cluster.spec.delivery.engine]
    undeclared = undeclared_fields(before, after)
    if undeclared:
        yield _change(ReleaseChangeKind.BY_HAND, refusal_words(before, after, undeclared), after)
    if not is_back(old, new):
        if not undeclared:
            come = sorted(now.keys() - then.keys())
            more = f"; new are {listed(come, _FEW)}" if come else ""
            words = f"{engine['forward']}: no step by hand, and no hook of Helm{more}"
            yield _change(ReleaseChangeKind.DEFINITIONS, words, after)
        return
    words = f"{engine['back']}: what objects hold in fields that {new} does not know is dropped when they are written"
    yield _change(ReleaseChangeKind.STAYS, words, after)
    if gone := sorted(then.keys() - now.keys()):
        words = f"{new} has no {listed(gone, _FEW)}: {engine['gone']}"
        yield _change(ReleaseChangeKind.STAYS, words, after)


def _driver_labels(before: SeenCluster, after: SeenCluster) -> Iterator[ReleaseChange]:
    if before.plan.cluster.spec.stack.driver_mode is not DriverMode.NVIDIA_DRIVER:
        return
    for key in read_upgrades().left_labels(*_releases(before, after)):
        pools = tuple(pool.name for pool in after.plan.pools if pool.driver is not None and pool.driver.managed)
        if pools:
            words = f"nodes keep the label `{key}`, which nothing reads any more, {on_pools(pools)}"
            yield _change(ReleaseChangeKind.STAYS, words, after, pools)


def _sandboxes(before: SeenCluster, after: SeenCluster, catalog: Catalog) -> Iterator[ReleaseChange]:
    old, new = (catalog.releases.near(tag) for tag in _releases(before, after))
    pools = tuple(pool.name for pool in after.plan.pools if pool.profile.spec.workload in KATA_WORKLOADS)
    if old is not None and new is not None and pools and old.sandbox_era != new.sandbox_era:
        steps_out = joined(catalog.sandboxes.eras[old.sandbox_era].leave, _MANY)
        words = (
            f"Kata is set up in another way, `{new.sandbox_era}` and not `{old.sandbox_era}`: "
            f"first {steps_out or 'empty its nodes'}, {on_pools(pools)}"
        )
        yield _change(ReleaseChangeKind.SANDBOX, words, after, pools)


def _issues(before: SeenCluster, after: SeenCluster) -> Iterator[ReleaseChange]:
    from poolsmith.change.diff.release_notes import concerned  # on demand

    for issue in read_upgrades().new_issues(*_releases(before, after)):
        pools = concerned(issue, after)
        if pools is not None:
            at = f", {on_pools(pools)}" if pools else ""
            words = f"{after.plan.cluster.spec.stack.release} is known for this: {issue['fact']}{at}"
            yield _change(ReleaseChangeKind.ISSUE, words, after, pools)


def _both_accepted(before: SeenCluster, after: SeenCluster) -> Iterator[ReleaseChange]:
    """The admission policy of the grants is looser for as long as pods of two releases may start."""
    old, new = (side.plan.cluster.spec.stack for side in (before, after))
    if new.upgrading_from is not None and new.upgrading_from != old.upgrading_from:
        words = (
            f"pods of {new.upgrading_from} and of {new.release} are accepted until `upgradingFrom` leaves the profile"
        )
        yield _change(ReleaseChangeKind.ACCEPTED, words, after, pointer=_FROM)


def _refused(old: str, after: SeenCluster) -> ReleaseChange:
    new = after.plan.cluster.spec.stack.release
    words = (
        f"pods of {old} that start again while {new} rolls out are refused, where they need other grants: "
        f"`upgradingFrom: {old}` accepts both for a while"
    )
    return _change(ReleaseChangeKind.ACCEPTED, words, after)


def _releases(before: SeenCluster, after: SeenCluster) -> tuple[str, str]:
    return before.plan.cluster.spec.stack.release, after.plan.cluster.spec.stack.release


def _change(
    kind: ReleaseChangeKind,
    words: str,
    after: SeenCluster | None,
    pools: tuple[str, ...] = (),
    pointer: str = _RELEASE,
) -> ReleaseChange:
    place: Location | None = None
    if after is not None and after.loaded.file is not None and (kind is not ReleaseChangeKind.STAYS or not pools):
        place = after.loaded.file.locate(pointer)
    return ReleaseChange(kind=kind, words=words, pools=pools, place=place)
