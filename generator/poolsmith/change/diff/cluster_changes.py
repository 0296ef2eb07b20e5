"""The differences of one cluster: Helm values, images, drift, and everything else that other modules compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.delivery.actions import UnitFiles, actions, first_actions, unit_files
from poolsmith.change.delivery.departures import DeliveryChange, Handed, departures
from poolsmith.change.delivery.outcomes import Departure, DepartureOutcome
from poolsmith.change.diff.change_findings import admitted_pools
from poolsmith.change.diff.change_report import ClusterDiff, Disruption, DisruptionKind, DriftChange, ImageChange
from poolsmith.change.diff.disruption import disruptions, worst_first
from poolsmith.change.diff.driver_pods import pool_drivers
from poolsmith.change.diff.object_changes import (
    applied_objects,
    differing,
    in_order,
    made_objects,
    object_changes,
    recreated,
)
from poolsmith.change.diff.privilege_diff import privilege_changes
from poolsmith.change.diff.profile_changes import cluster_fields, pool_changes, renamed_pools, whole_pools
from poolsmith.change.diff.release_changes import release_changes, stays
from poolsmith.change.diff.rows import keyed_changes
from poolsmith.change.drift.forecast import Drift, cure_words, drift_words, forecast
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import split, value_at
from poolsmith.fleet.plan.origin import profile_inputs
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.guard.policies.privilege_policy.validating_policy import NAME as PRIVILEGES
from poolsmith.kubernetes.server.field_changes import Standing, field_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.change.diff.change_report import OtherPoolChange
    from poolsmith.change.diff.object_changes import InstallationPairs, Key, StandingObject
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.fleet.operands.pulled_images import ImageUse
    from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.kubernetes.server.field_changes import FieldChange


def value_changes(before: SeenCluster, after: SeenCluster) -> tuple[FieldChange, ...]:
    """Of what differs from the charts' defaults; pointers begin with the release that Helm installs.

    What becomes the chart's default, or was the default of the release before, is as it was and left out.
    """

    def place(pointer: str) -> Location | None:
        release, *path = split(pointer)
        return _line(after, release, tuple(path))

    found = field_changes(_values(before.plan), _values(after.plan), place=place, leaves=True)
    return tuple(item for item in found if not _is_as_it_was(item, before, after))


def _is_as_it_was(item: FieldChange, before: SeenCluster, after: SeenCluster) -> bool:
    if item.standing is Standing.CHANGED:
        return False
    side, value = (before, item.new) if item.standing is Standing.ADDED else (after, item.old)
    release, *path = split(item.pointer)
    chart = side.prediction.origins.chart
    if chart is None or side.plan.chart is None or release != side.plan.chart.name:
        return False
    default = chart.default(tuple(path))
    return type(default) is type(value) and bool(default == value)


def _values(plan: ClusterPlan) -> dict[str, Any]:
    return {release: values_tree(settings) for release, settings in _of_charts(plan)}


def _of_charts(plan: ClusterPlan) -> Iterator[tuple[str, tuple[ValueSetting, ...]]]:
    """Each chart's release has its name."""
    if plan.chart is not None:
        yield plan.chart.name, plan.values
    for unit in plan.units:
        if unit.chart is not None:
            yield unit.chart.name, unit.values


def _line(seen: SeenCluster, release: str, path: tuple[str, ...]) -> Location | None:
    """The first line of a profile that a value goes back to."""
    for name, settings in _of_charts(seen.plan):
        for setting in settings if name == release else ():
            length = min(len(setting.path), len(path))
            if setting.path[:length] == path[:length]:
                for line in profile_inputs(setting.origin):
                    if (file := seen.loaded.files.get(line.path)) is not None:
                        return file.locate(line.pointer)
    return None


def image_changes(
    before: Iterable[ImageUse], after: Iterable[ImageUse], renamed: Mapping[str, str]
) -> tuple[ImageChange, ...]:
    """An image is added on the pools that did not pull it, and removed on those that no longer do.

    `renamed` are old names of pools by new ones: to pull the same under another name is no change.
    """
    new_names = {old: new for new, old in renamed.items()}
    was = {use.image: {new_names.get(pool, pool) for pool in use.pools} for use in before}
    now = {use.image: set(use.pools) for use in after}
    found = []
    for item in sorted(keyed_changes(was, now), key=lambda item: item.key):
        old, new = item.old or set(), item.new or set()
        for standing, side, pools in ((Standing.ADDED, item.new, new - old), (Standing.REMOVED, item.old, old - new)):
            if pools or (side is not None and item.standing is standing):
                found.append(ImageChange(image=item.key, standing=standing, pools=tuple(sorted(pools))))
    return tuple(found)


_Key = tuple[str, str, str]


def drift_changes(before: SeenCluster | None, after: SeenCluster | None) -> tuple[DriftChange, ...]:
    """What the cluster's own engine and diff would tell for ever, new with the change or gone with it.

    Also what is cured: a release may bring a field that needs a cure. What only happens under a condition that no
    profile tells is left out.
    """
    old, new = _reported_drift(before), _reported_drift(after)
    keys = {item.key for item in keyed_changes(old, new, _is_cured_alike)}
    found = [_drift_change(Standing.ADDED, item, after) for key, item in new.items() if key in keys]
    found += [_drift_change(Standing.REMOVED, item, before) for key, item in old.items() if key in keys]
    return tuple(found)


def _is_cured_alike(old: Drift, new: Drift) -> bool:
    return (old.cure is None) == (new.cure is None)


def _reported_drift(seen: SeenCluster | None) -> Mapping[_Key, Drift]:
    if seen is None:
        return {}
    found = forecast(seen.plan, seen.prediction)
    reported = (item for item in found.drifts if not item.when and item.is_told_by(found.compared))
    return {(item.kind, f"{item.namespace}/{item.name}", item.field): item for item in reported}


def _drift_change(standing: Standing, item: Drift, seen: SeenCluster | None) -> DriftChange:
    words = drift_words(item) if item.cure is None else f"{drift_words(item)}; {cure_words(item.cure)}"
    return DriftChange(
        standing=standing, what=item.what, words=words, cured=item.cure is not None, place=_place(item, seen)
    )


def _place(item: Drift, seen: SeenCluster | None) -> Location | None:
    files = seen.loaded.files if seen is not None else {}
    return files[item.place.path].locate(item.place.pointer) if item.place and item.place.path in files else None


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
    disturbed = () if pair.is_same else disruptions(old, new, judges.catalog, new_names)
    asked = delivery_change(old, new, before.handed, after.handed)
    leaving = departures(asked)
    refused = tuple(recreated(old, new, (*differing(then, now), *pair.differing)))
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
        delivery=actions(
            asked,
            leaving,
            unit_files(old.plan, before.tree),
            unit_files(new.plan, after.tree),
            _refused_pointers(refused),
        ),
        disruptions=worst_first((*_of_departures(leaving), *disturbed, *refused)),
        images=image_changes(old.prediction.images(), new.prediction.images(), renamed),
        values=value_changes(old, new),
        objects=in_order((*object_changes(then, now), *pair.made)),
        drift=() if pair.is_delivered_alike and _is_compared_alike(old, new) else drift_changes(old, new),
        release=release_changes(old, new, judges.catalog, new_names, denies=_denies(now)),
        unknown=tuple(item for item in new.prediction.unknown if item not in known),
    )


def _refused_pointers(found: Iterable[Disruption]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """By kind, namespace and name."""
    return {
        (item.what.partition("/")[0], item.namespace, item.what.partition("/")[2]): tuple(
            field.pointer for field in item.why
        )
        for item in found
    }


def delivery_change(before: SeenCluster, after: SeenCluster | None, was: Handed, now: Handed | None) -> DeliveryChange:
    """What is asked of the model of delivery."""
    edited = cluster_fields(before.loaded, after.loaded) if after is not None else ()
    return DeliveryChange(
        before=before,
        after=after,
        was=was,
        now=now,
        drivers=tuple(sorted(pool_drivers(before.prediction))),
        edited=tuple(item.place for item in edited if item.place is not None),
    )


def _of_departures(found: tuple[Departure, ...]) -> Iterator[Disruption]:
    for item in found:
        yield Disruption(
            kind=DisruptionKind.LEFT if item.outcome is DepartureOutcome.LEFT else DisruptionKind.UNINSTALLED,
            what=f"{item.kind}/{item.name}",
            namespace=item.namespace,
            pools=item.drivers,
            words=item.words,
            place=item.place,
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
    asked = delivery_change(seen, None, built.handed, None)
    leaving = () if is_new else departures(asked)
    files = unit_files(seen.plan, built.tree)
    nothing = UnitFiles(objects={}, values={}, order=())
    return ClusterDiff(
        name=seen.plan.name,
        standing=standing,
        old_release="" if is_new else release,
        new_release=release if is_new else "",
        pools=pools,
        privileges=privilege_changes(old, new, judges.grants),
        admitted=admitted_pools(seen, pools, judges.grants) if is_new else (),
        departures=leaving,
        delivery=first_actions(built.handed) if is_new else actions(asked, leaving, files, nothing, {}),
        disruptions=worst_first((*_of_departures(leaving), *disruptions(old, new, judges.catalog))),
        images=image_changes((), images, {}) if is_new else image_changes(images, (), {}),
        objects=object_changes({}, objects) if is_new else object_changes(objects, {}),
        drift=drift_changes(old, new),
        release=() if is_new else tuple(stays(seen, None, {})),
        unknown=seen.prediction.unknown if is_new else (),
    )


def _objects(built: BuiltCluster) -> dict[Key, StandingObject]:
    return made_objects(built.seen.prediction.installation) | applied_objects(built.tree)


def unknown_diff(name: str, *, was_there: bool, is_there: bool, was_sound: bool, is_sound: bool) -> ClusterDiff:
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
    parts = (
        diff.fields,
        diff.pools,
        diff.privileges,
        diff.others,
        diff.departures,
        diff.delivery,
        diff.disruptions,
        diff.images,
        diff.values,
        diff.objects,
        diff.drift,
        diff.release,
        diff.unknown,
    )
    return diff.standing is Standing.CHANGED and not any(parts)
