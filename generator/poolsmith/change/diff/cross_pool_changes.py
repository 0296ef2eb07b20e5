"""Cross-pool changes: what the change of one pool's profile does to the other pools of its cluster.

Each pool is compared with the cluster as it would be if only this pool and the cluster's own profile had changed. So no
rule has to know how pools depend on each other, and a pool that is edited along with others is checked as well.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.causes import Causes
from poolsmith.change.diff.change_report import DisruptionKind, OtherKind, OtherPoolChange
from poolsmith.change.diff.disruption import disruptions
from poolsmith.change.diff.driver_pods import UpgradePace, pool_drivers, upgrade_pace
from poolsmith.change.diff.pool_offers import (
    PRODUCT,
    PRODUCT_END,
    is_selected_by,
    labels_of_pools,
    names_of_classes,
    resource_words,
)
from poolsmith.change.diff.profile_changes import spec_document
from poolsmith.change.diff.rows import on_pools
from poolsmith.core.diagnostics.message_text import joined, listed, shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.profiles.acknowledged_facts import gone_fact, label_fact, offers_fact
from poolsmith.gpu.catalog.node_labels import matches
from poolsmith.guard.ledger.prediction import offered_resources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.change.diff.change_report import Disruption
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.plan.plan import ValuePath
    from poolsmith.fleet.profiles.cluster import Acknowledgement
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog


_NO_NAMES: Mapping[str, str] = {}
_ORDER = tuple(OtherKind)
_SHOWN = 4
_OFFERS: tuple[ValuePath, ...] = (("mig",), ("devicePlugin",), ("sandboxDevicePlugin",), ("sandboxWorkloads",), ())
_CLASSES: tuple[ValuePath, ...] = (("cdi",), ("toolkit",), ("operator",), ("sandboxWorkloads",), ())
_LABELS: tuple[ValuePath, ...] = (("mig",), ("gfd",), ("sandboxWorkloads",), ("driver",), ())
_UPGRADES: tuple[ValuePath, ...] = (("sandboxWorkloads",), ("driver",), ())
_VERBS = {
    DisruptionKind.DRIVER: ("is replaced", "are replaced"),
    DisruptionKind.RESTART: ("restarts", "restart"),
    DisruptionKind.STARTED: ("starts", "start"),
    DisruptionKind.STOPPED: ("stops", "stop"),
}
"""Of one workload, and of several."""


@record
class _Comparison:
    """Two states of a cluster that differ in what other pools than some say."""

    then: SeenCluster
    now: SeenCluster
    causes: Causes
    is_certain: bool


def other_pools(found: Counterfactuals, catalog: Catalog) -> tuple[OtherPoolChange, ...]:
    """What stops workloads first, then by kind and pool."""
    if not found.others_change:
        return ()
    changes = [change for pools, without in _compared_to(found) for change in _changes(found, without, pools, catalog)]
    return tuple(sorted(changes, key=lambda item: (not item.stops, _ORDER.index(item.kind), item.pool, item.names)))


def _compared_to(found: Counterfactuals) -> Iterator[tuple[frozenset[str], Without]]:
    """All pools that nobody edited at once; of the others each that loses something."""
    if found.untouched:
        yield found.untouched, found.of_untouched
    alone = len(found.touched) == 1 and not any(True for name in found.changed_pools(next(iter(found.touched))))
    if alone:
        return
    before = _Offer.of(found.before), _Offer.of(found.after)
    for pool in sorted(found.touched):
        if before[0].loses(before[1], found.old_name(pool), pool):
            yield frozenset((pool,)), found.of(pool)


@record
class _Offer:
    """What workloads rely on: names of resources by pool, labels by pool, and classes."""

    resources: Mapping[str, frozenset[str]]
    labels: Mapping[str, Mapping[str, str]]
    classes: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, seen: SeenCluster) -> _Offer:
        return cls(
            resources=offered_resources(seen.prediction),
            labels=labels_of_pools(seen),
            classes=frozenset(names_of_classes(seen)),
        )

    def loses(self, now: _Offer, old: str, new: str) -> bool:
        """Whether a pool has less, or something else, afterwards."""
        labels = now.labels.get(new, {})
        return bool(
            self.resources.get(old, frozenset()) - now.resources.get(new, frozenset())
            or self.classes - now.classes
            or any(is_selected_by(key) and labels.get(key) != value for key, value in self.labels.get(old, {}).items())
        )


def _changes(
    found: Counterfactuals, without: Without, pools: frozenset[str], catalog: Catalog
) -> Iterator[OtherPoolChange]:
    then, now = without.seen, found.after
    if then.prediction.shared is now.prediction.shared and then.plan == now.plan:
        return
    compared = _Comparison(
        then=then,
        now=now,
        causes=Causes(before=then, after=now, renamed=_NO_NAMES),
        is_certain=without.is_certain,
    )
    changes = [*_resources(compared, pools), *_classes(compared, pools), *_labels(compared, pools)]
    if without.is_certain:
        changes += [*_upgrades(compared, pools), *_workloads(compared, pools, catalog)]
    for change in changes:
        place = change.place or _of_another(found, change.pool)
        if without.is_certain or _is_of_another(found, change.place, change.pool):
            yield replace(change, place=place, acknowledged_by=_acknowledged_by(found, change))


def _of_another(found: Counterfactuals, pool: str) -> Location | None:
    """Where a pool that comes or changes has its name; None where it is gone."""
    files = {item.pool.name: item.layers.own for item in found.after.loaded.pools}
    return next((files[name].locate("/metadata/name") for name in found.changed_pools(pool) if name in files), None)


def _is_of_another(found: Counterfactuals, place: Location | None, pool: str) -> bool:
    """Whether a line is one of another pool's: neither this pool's nor the cluster's."""
    if place is None:
        return True
    loaded = found.after.loaded
    own = [file.path for item in loaded.pools if item.pool.name == pool for file in item.layers.files]
    return place.span.path not in (*own, loaded.file.path if loaded.file is not None else "")


def _acknowledged_by(found: Counterfactuals, change: OtherPoolChange) -> str:
    """Who has acknowledged it with this change. What stood there before said nothing of it."""
    if not change.stops:
        return ""
    old, new = _acknowledgements(found.before, found.old_name(change.pool)), _acknowledgements(found.after, change.pool)
    return next((item.by for item in new if item.fact == change.fact and item.by and item.date and item not in old), "")


def _acknowledgements(seen: SeenCluster, name: str) -> tuple[Acknowledgement, ...]:
    own = (pool.profile.spec.acknowledge for pool in seen.plan.pools if pool.name == name)
    return (*seen.plan.cluster.spec.acknowledge, *(item for given in own for item in given))


def _resources(compared: _Comparison, pools: frozenset[str]) -> Iterator[OtherPoolChange]:
    then, now = offered_resources(compared.then.prediction), offered_resources(compared.now.prediction)
    asked = {(pool.name, pool.smoke.resource) for pool in compared.then.plan.pools if pool.smoke.image is not None}
    for pool in sorted(pools):
        old, new = then.get(pool, frozenset()), now.get(pool, frozenset())
        lost, come = sorted(old - new), sorted(new - old)
        if not lost and not come:
            continue
        if lost:
            tested = [pool] if any((pool, name) in asked for name in lost) else []
            words = resource_words(lost, frozenset(come), (pool,), tested)
        else:
            words = f"{listed(come)} {'is' if len(come) == 1 else 'are'} offered {on_pools((pool,))} too"
        yield OtherPoolChange(
            kind=OtherKind.RESOURCE,
            pool=pool,
            names=tuple(lost or come),
            words=words,
            stops=bool(lost),
            fact=offers_fact(new) if lost else "",
            place=compared.causes.of_values(*_OFFERS),
        )


def _classes(compared: _Comparison, pools: frozenset[str]) -> Iterator[OtherPoolChange]:
    for kind, name in sorted(names_of_classes(compared.then) - names_of_classes(compared.now)):
        for pool in sorted(pools & _users(compared.then, kind, name)):
            yield OtherPoolChange(
                kind=OtherKind.CLASS,
                pool=pool,
                names=(f"{kind}/{name}",),
                words=f"{kind} `{shorten(name)}` is gone: pods that name it no longer come {on_pools((pool,))}",
                stops=True,
                fact=gone_fact(kind, name),
                place=compared.causes.of_values(*_CLASSES),
            )


def _users(seen: SeenCluster, kind: str, name: str) -> frozenset[str]:
    """The pools that pods of a class may come to."""
    installation = seen.prediction.installation
    body = next(item.body for item in installation.made if (item.body["kind"], item.name) == (kind, name))
    selector = value_at(body, ("scheduling", "nodeSelector")) or {}
    return frozenset(node.pool for node in installation.nodes if matches(node.labels, selector))


def _labels(compared: _Comparison, pools: frozenset[str]) -> Iterator[OtherPoolChange]:
    then, now = labels_of_pools(compared.then), labels_of_pools(compared.now)
    offers = offered_resources(compared.now.prediction)
    for pool in sorted(pools):
        old, new = then.get(pool, {}), now.get(pool, {})
        differing = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
        for key in filter(is_selected_by, differing):
            was, value = old.get(key), new.get(key)
            yield OtherPoolChange(
                kind=OtherKind.LABEL,
                pool=pool,
                names=(key,),
                words=f"nodes {on_pools((pool,))} {_label_words(key, was, value)}",
                stops=was is not None,
                fact=_label_fact(key, value, offers_fact(offers.get(pool, ()))) if was is not None else "",
                place=compared.causes.of_values(*_LABELS),
            )
        own = [key for key in differing if not is_selected_by(key)]
        if own:
            yield OtherPoolChange(
                kind=OtherKind.LABEL,
                pool=pool,
                names=tuple(own),
                words=f"the operator labels nodes {on_pools((pool,))} again: {listed(own, _SHOWN)}",
                place=compared.causes.of_values(*_LABELS),
            )


def _label_fact(key: str, value: str | None, offers: str) -> str:
    """What discovery says follows from what is offered, and is acknowledged with that."""
    return offers if key == PRODUCT else label_fact(key, value)


def _label_words(key: str, was: str | None, value: str | None) -> str:
    if key == PRODUCT and was is not None and value is not None:
        ends = [f"`{shorten(text.removeprefix(PRODUCT_END))}`" for text in (value, was) if text != PRODUCT_END]
        end = f"ends in {ends[0]}" if value != PRODUCT_END else f"no longer ends in {ends[0]}"
        return f"have a label `{key}` that {end}: pods that select it as it was stay pending"
    if was is None:
        return f"get the label `{key}: {shorten(str(value))}`"
    if value is None:
        return f"lose the label `{key}: {shorten(was)}`: pods that select it stay pending"
    return f"have the label `{key}: {shorten(value)}`, and not `{shorten(was)}`: pods that select that stay pending"


def _upgrades(compared: _Comparison, pools: frozenset[str]) -> Iterator[OtherPoolChange]:
    then, now = _paces(compared.then), _paces(compared.now)
    for pool in sorted(pools & then.keys() & now.keys()):
        old, new = then[pool], now[pool]
        if old == new:
            continue
        if old.automatic != new.automatic:
            what = f"are {'from now on' if new.automatic else 'no longer'} upgraded by the operator"
        else:
            what = "are upgraded at another pace"
        yield OtherPoolChange(
            kind=OtherKind.UPGRADES,
            pool=pool,
            names=("upgradePolicy",),
            words=f"driver pods {on_pools((pool,))} {what}",
            place=compared.causes.of_values(*_UPGRADES),
        )


def _paces(seen: SeenCluster) -> dict[str, UpgradePace]:
    """Of the pools that have driver pods."""
    drivers = pool_drivers(seen.prediction)
    owners = [(pool, own.owner) for pool, found in drivers.items() for own in found[:1]]
    return {pool: replace(upgrade_pace(seen, owner, owners), shared_by=()) for pool, owner in owners}


def _workloads(compared: _Comparison, pools: frozenset[str], catalog: Catalog) -> Iterator[OtherPoolChange]:
    """Pods of the stack that are replaced, start or stop, by pool and what happens."""
    groups: dict[tuple[DisruptionKind, str], list[Disruption]] = defaultdict(list)
    for item in disruptions(compared.then, compared.now, catalog):
        for pool in pools.intersection(item.pools) if item.kind in _VERBS else ():
            groups[item.kind, pool].append(item)
    for (kind, pool), items in groups.items():
        names = tuple(dict.fromkeys(item.what for item in items))
        shown = joined([f"`{shorten(name.rpartition('/')[2])}`" for name in names], _SHOWN)
        verb = _VERBS[kind][len(names) > 1]
        yield OtherPoolChange(
            kind=OtherKind.DRIVER if kind is DisruptionKind.DRIVER else OtherKind.WORKLOAD,
            pool=pool,
            names=names,
            words=f"{shown} {verb} {on_pools((pool,))}",
            place=next((item.place for item in items if item.place is not None), None),
        )


_ACKNOWLEDGED = "acknowledge"


@record
class Without:
    """What a pool is held against: `seen` is the cluster as it would be without the change of other pools.

    `is_certain`: nobody had to guess. Else it is the base, and a difference may have come from the pool itself.
    """

    seen: SeenCluster
    is_certain: bool = True


class Counterfactuals:
    """Of one change of one cluster. `again` plans and predicts profiles; None where they do not fit together."""

    def __init__(
        self,
        before: SeenCluster,
        after: SeenCluster,
        renamed: Mapping[str, str],
        again: Callable[[LoadedCluster], SeenCluster | None],
    ) -> None:
        self.before = before
        self.after = after
        self._again = again
        old_names = {new: old for old, new in renamed.items()}
        then = {item.pool.name: item for item in before.loaded.pools}
        now = {item.pool.name: item for item in after.loaded.pools}
        both = {name for name in now if old_names.get(name, name) in then}
        self._old_names = {name: old_names.get(name, name) for name in both}
        self.untouched = frozenset(
            name for name in both if name in then and _spec(then[name].pool.spec) == _spec(now[name].pool.spec)
        )
        self.touched = frozenset(both - self.untouched)
        self.others_change = len(self.untouched) < max(len(then), len(now))
        self._is_cluster_same = _cluster(before) == _cluster(after)
        self._of_untouched: Without | None = None

    @property
    def of_untouched(self) -> Without:
        """For all pools that the change leaves alone."""
        if self._of_untouched is None:
            if self._is_cluster_same:
                self._of_untouched = Without(seen=self.before)
            else:
                self._of_untouched = self._with_pools(None)
        return self._of_untouched

    def of(self, pool: str) -> Without:
        """For a pool that both sides have."""
        return self.of_untouched if pool in self.untouched else self._with_pools(pool)

    def old_name(self, pool: str) -> str:
        """What a pool was called before the change."""
        return self._old_names.get(pool, pool)

    def changed_pools(self, but: str) -> Iterator[str]:
        """Names of other pools that come, change or go; those that are still there first."""
        now = [item.pool.name for item in self.after.loaded.pools]
        yield from (name for name in now if name not in self.untouched and name != but)
        old = set(self._old_names.values())
        yield from (item.pool.name for item in self.before.loaded.pools if item.pool.name not in old)

    def _with_pools(self, own: str | None) -> Without:
        """The pools of before the change, but `own` as it is now, and the cluster as it is now."""
        before, after = self.before.loaded, self.after.loaded
        mine = [item for item in after.pools if item.pool.name == own]
        replaced = self._old_names.get(own, own) if own is not None else None
        others = [item for item in before.pools if item.pool.name not in (replaced, own)]
        pools = tuple(sorted((*others, *mine), key=lambda item: item.pool.name))
        seen = self._again(replace(after, pools=pools))
        return Without(seen=seen) if seen is not None else Without(seen=self.before, is_certain=False)


def _spec(spec: Any) -> Any:
    """Without what is only acknowledged."""
    return {key: value for key, value in spec_document(spec).items() if key != _ACKNOWLEDGED}


def _cluster(seen: SeenCluster) -> Any:
    return _spec(seen.plan.cluster.spec)
