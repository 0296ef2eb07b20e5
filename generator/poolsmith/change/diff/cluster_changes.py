"""What a change does to one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.admitted_pools import admitted_pools
from poolsmith.change.diff.change_report import ClusterDiff
from poolsmith.change.diff.departures import as_disruptions, departures
from poolsmith.change.diff.disruption import disruptions, worst_first
from poolsmith.change.diff.drift import drift_changes
from poolsmith.change.diff.image_changes import image_changes
from poolsmith.change.diff.likeness import renamed_pools
from poolsmith.change.diff.object_changes import applied_objects, differing, in_order, made_objects, object_changes
from poolsmith.change.diff.privileges import privilege_changes
from poolsmith.change.diff.profile_changes import cluster_fields, pool_changes, whole_pools
from poolsmith.change.diff.recreated import recreated
from poolsmith.change.diff.release_changes import release_changes
from poolsmith.change.diff.value_changes import value_changes
from poolsmith.core.record import record
from poolsmith.core.sources.nested import value_at
from poolsmith.guard.policies.privilege_policy.objects import NAME as PRIVILEGES
from poolsmith.kubernetes.server.field_change import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.change.diff.change_report import OtherPoolChange
    from poolsmith.change.diff.departures import Handed
    from poolsmith.change.diff.installation_pairs import InstallationPairs
    from poolsmith.change.diff.object_changes import Key, StandingObject
    from poolsmith.change.review.change import SeenCluster
    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.grants.matching import GrantBook

_BINDING = "ValidatingAdmissionPolicyBinding"
_ACTIONS = ("spec", "validationActions")


@record
class BuiltCluster:
    """A cluster of one side, and all that is generated for it."""

    seen: SeenCluster
    tree: ManifestTree
    handed: Handed
    """What its delivery engine gets, as far as it is known."""


@record
class Judges:
    """What a change is judged by: the catalog, and the grants of the base (None: it keeps none). Clusters that are
    installed alike share `pairs`."""

    catalog: Catalog
    grants: GrantBook | None
    pairs: InstallationPairs


def cluster_diff(
    before: BuiltCluster | None,
    after: BuiltCluster | None,
    judges: Judges,
    others: tuple[OtherPoolChange, ...] = (),
) -> ClusterDiff:
    """Of a cluster that both sides have, maybe under two names, or one of them does. Raises ValueError for none.

    `others` is what pools that are not changed gain and lose by those that are.
    """
    if after is None:
        if before is None:
            raise ValueError("there is no cluster")
        return _whole(before, Standing.REMOVED, judges)
    if before is None:
        return _whole(after, Standing.ADDED, judges)
    old, new = before.seen, after.seen
    pair = judges.pairs.of(old.prediction.shared, new.prediction.shared)
    renamed = renamed_pools(old.loaded, new.loaded)
    new_names = {was: now for now, was in renamed.items()}
    is_renamed = old.plan.name != new.plan.name
    known = set(old.prediction.unknown)
    then, now = applied_objects(before.tree), applied_objects(after.tree)
    pools = pool_changes(old.loaded, new.loaded, renamed)
    told = () if pair.is_same else disruptions(old, new, judges.catalog, new_names)
    leaving = departures(old, new, before.handed, after.handed)
    return ClusterDiff(
        name=new.plan.name,
        standing=Standing.RENAMED if is_renamed else Standing.CHANGED,
        renamed_from=old.plan.name if is_renamed else "",
        old_release=old.prediction.installation.release,
        new_release=new.prediction.installation.release,
        ring=new.plan.cluster.spec.ring or "",
        fields=cluster_fields(old.loaded, new.loaded),
        pools=pools,
        privileges=privilege_changes(old, new, judges.grants, new_names) if pair.has_ledger_changes else (),
        admitted=admitted_pools(new, pools, judges.grants),
        others=others,
        departures=leaving,
        disruptions=worst_first(
            (*as_disruptions(leaving), *told, *recreated(new, (*differing(then, now), *pair.differing)))
        ),
        images=image_changes(old.prediction.images(), new.prediction.images(), renamed),
        values=value_changes(old, new),
        objects=in_order((*object_changes(then, now), *pair.made)),
        drift=() if pair.is_delivered_alike and _is_compared_alike(old, new) else drift_changes(old, new),
        release=release_changes(old, new, judges.catalog, new_names, denies=_denies(now)),
        unknown=tuple(item for item in new.prediction.unknown if item not in known),
    )


def _denies(objects: Mapping[Key, StandingObject]) -> bool:
    """Whether a cluster refuses pods that no grant allows."""
    return any(
        kind == _BINDING and name == PRIVILEGES and "Deny" in (value_at(item.body, _ACTIONS) or ())
        for (_, kind, _, name), item in objects.items()
    )


def _is_compared_alike(old: SeenCluster, new: SeenCluster) -> bool:
    """Whether an engine compares the same with the same cures: drift follows from that and from what is delivered."""
    return (
        old.plan.cluster.spec == new.plan.cluster.spec
        and old.plan.ignore_differences == new.plan.ignore_differences
        and old.plan.provisioners == new.plan.provisioners
    )


def _whole(built: BuiltCluster, standing: Standing, judges: Judges) -> ClusterDiff:
    """Of a cluster that comes or goes."""
    seen, is_new = built.seen, standing is Standing.ADDED
    release, objects = seen.prediction.installation.release, _objects(built)
    images = seen.prediction.images()
    old, new = (None, seen) if is_new else (seen, None)
    pools = whole_pools(seen.loaded, standing)
    leaving = () if is_new else departures(seen, None, built.handed, None)
    return ClusterDiff(
        name=seen.plan.name,
        standing=standing,
        old_release="" if is_new else release,
        new_release=release if is_new else "",
        pools=pools,
        privileges=privilege_changes(old, new, judges.grants),
        admitted=admitted_pools(seen, pools, judges.grants) if is_new else (),
        departures=leaving,
        disruptions=worst_first((*as_disruptions(leaving), *disruptions(old, new, judges.catalog))),
        images=image_changes((), images, {}) if is_new else image_changes(images, (), {}),
        objects=object_changes({}, objects) if is_new else object_changes(objects, {}),
        drift=drift_changes(old, new),
        unknown=seen.prediction.unknown if is_new else (),
    )


def _objects(built: BuiltCluster) -> dict[Key, StandingObject]:
    return made_objects(built.seen.prediction.installation) | applied_objects(built.tree)


def untold(name: str, *, was_there: bool, is_there: bool, was_sound: bool, is_sound: bool) -> ClusterDiff:
    """Of a cluster with errors on one side, or on both: what they keep anybody from telling."""
    unknown = []
    if was_there and not was_sound:
        unknown.append("what it was in the base: its profiles had errors there")
    if is_there and not is_sound:
        unknown.append("what the change makes of it: its profiles have errors")
    standing = Standing.CHANGED if was_there and is_there else Standing.ADDED if is_there else Standing.REMOVED
    return ClusterDiff(name=name, standing=standing, unknown=tuple(unknown))


def does_nothing(diff: ClusterDiff) -> bool:
    """Whether there is nothing to tell: only comments, or the order of keys, are others."""
    told = (
        diff.fields,
        diff.pools,
        diff.privileges,
        diff.others,
        diff.departures,
        diff.disruptions,
        diff.images,
        diff.values,
        diff.objects,
        diff.drift,
        diff.release,
        diff.unknown,
    )
    return diff.standing is Standing.CHANGED and not any(told)
