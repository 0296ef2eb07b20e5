"""What a change disturbs in a cluster: drivers, pods, objects, MIG layouts and names that workloads ask for.

GPUs get a new MIG layout where their nodes ask for another one, or where the layout of that name differs. Source:
NVIDIA/mig-parted:deployments/container/reconfigure-mig.sh, NVIDIA/gpu-operator:assets/state-mig-manager.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.causes import Causes
from poolsmith.change.diff.change_report import Disruption, DisruptionKind
from poolsmith.change.diff.driver_disruption import driver_disruptions
from poolsmith.change.diff.driver_pods import is_driver
from poolsmith.change.diff.pool_offers import lost_offers
from poolsmith.change.diff.restarts import changed_templates, restart_of, rolled_workloads, started_and_stopped
from poolsmith.change.diff.rows import on_pools
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import containers_of, mapping, mappings, pod_template_of
from poolsmith.fleet.plan.sharing.mig import VARIABLE
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG
from poolsmith.guard.ledger.ledger import ANY_NODE
from poolsmith.kubernetes.server.field_changes import FieldChange, Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog import Catalog


_MANAGER = "nvidia-mig-manager"
_DISABLED = "all-disabled"
_OWN = "/spec/gpu/mig/devices"
_LAYOUT = "/spec/gpu/mig/layout"


@record
class _Layout:
    """`devices`: what a layout of one's own makes of which GPUs."""

    name: str
    devices: tuple[Any, ...] = ()

    @property
    def partitions(self) -> bool:
        return self.name != _DISABLED


def mig_changes(before: SeenCluster, after: SeenCluster, causes: Causes) -> Iterator[Disruption]:
    """One for each way in which layouts change, with its pools."""
    then = {causes.renamed.get(pool, pool): layout for pool, layout in _layouts(before).items()}
    groups: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    for pool, new in _layouts(after).items():
        old = then.get(pool)
        if old is not None and repr(old) != repr(new):
            groups[old.name, new.name, old.partitions != new.partitions].append(pool)
    reboots = _reboots(after)
    landing = _landing(after)
    for (old_name, new_name, switched), pools in sorted(groups.items()):
        is_applied = ANY_NODE in landing or set(pools) <= landing
        yield Disruption(
            kind=DisruptionKind.MIG,
            what=new_name,
            pools=tuple(sorted(pools)),
            words=_words(old_name, new_name, tuple(sorted(pools)), reboots=reboots and switched, is_applied=is_applied),
            why=(
                FieldChange(
                    pointer=f"/metadata/labels/{MIG_CONFIG.replace('/', '~1')}",
                    standing=Standing.CHANGED,
                    old=old_name,
                    new=new_name,
                ),
            )
            if old_name != new_name
            else (),
            place=_place(pools, causes),
        )


def _place(pools: list[str], causes: Causes) -> Location | None:
    return causes.of_pools(pools, _LAYOUT, _OWN, "/spec/gpu/mig", "/spec/gpu") or causes.of_values(("migManager",), ())


def _words(old: str, new: str, pools: tuple[str, ...], *, reboots: bool, is_applied: bool) -> str:
    how = f"from `{shorten(old)}` to `{shorten(new)}`" if old != new else f"as `{shorten(new)}` says now"
    words = f"the GPUs {on_pools(pools)} get a new MIG layout, {how}: no pod may use them meanwhile"
    if not is_applied:
        return f"{words}; no MIG manager runs there, so that somebody has to do it"
    return f"{words}, and their nodes reboot" if reboots else words


def _layouts(seen: SeenCluster) -> dict[str, _Layout]:
    """What the nodes of each pool ask for; none at all is no partition."""
    found = {}
    for node in seen.prediction.installation.nodes:
        pool = next(pool for pool in seen.plan.pools if pool.name == node.pool)
        mig = pool.profile.spec.gpu.mig
        name = node.labels.get(MIG_CONFIG) or _DISABLED
        found[pool.name] = _Layout(name=name, devices=mig.devices if mig is not None else ())
    return found


def _landing(seen: SeenCluster) -> frozenset[str]:
    landing = seen.prediction.ledger.landing
    return frozenset(pool for key, pools in landing.items() if key.endswith(f"/{_MANAGER}") for pool in pools)


def _reboots(seen: SeenCluster) -> bool:
    """Whether the MIG manager may reboot a node where the mode of its GPUs changes."""
    for item in seen.prediction.installation.made:
        if item.name == _MANAGER and (template := pod_template_of(item.body)) is not None:
            for container in containers_of(mapping(template.get("spec"))):
                for variable in mappings(container.get("env")):
                    if variable.get("name") == VARIABLE:
                        return str(variable.get("value")).lower() == "true"
    return False


_ORDER = tuple(DisruptionKind)


def disruptions(
    before: SeenCluster | None,
    after: SeenCluster | None,
    catalog: Catalog,
    renamed: Mapping[str, str] | None = None,
) -> tuple[Disruption, ...]:
    """By kind, then by namespace and name. None where the cluster is not; `renamed` are new names of pools by old."""
    names = dict(renamed or {})
    causes = Causes(before=before, after=after, renamed=names)
    old, new = rolled_workloads(before, names), rolled_workloads(after, {})
    kubernetes = after.plan.cluster.spec.kubernetes.version if after is not None else ""
    changed = {item.new.key: item for item in changed_templates(old, new, kubernetes)}
    found: list[Disruption] = []
    if before is not None and after is not None:
        found.extend(driver_disruptions(before, after, changed, {**old, **new}, causes, catalog))
        found.extend(lost_offers(before, after, causes))
        found.extend(mig_changes(before, after, causes))
    known = {(item.namespace, item.what) for item in found}
    found.extend(
        restart_of(item, after, causes)
        for item in changed.values()
        if (item.new.namespace, item.new.made.workload) not in known
    )
    replaced = {pool for item in found if item.kind is DisruptionKind.DRIVER for pool in item.pools}
    drivers = {(item.namespace, item.made.workload) for item in (*old.values(), *new.values()) if is_driver(item.made)}
    found.extend(
        item
        for item in started_and_stopped(old, new, causes)
        if (item.namespace, item.what) not in drivers or not item.pools or not replaced.issuperset(item.pools)
    )
    return worst_first(found)


def worst_first(found: Iterable[Disruption]) -> tuple[Disruption, ...]:
    """By kind, then by namespace and name."""
    return tuple(sorted(found, key=_order))


def _order(item: Disruption) -> tuple[object, ...]:
    return _ORDER.index(item.kind), item.namespace, item.what, item.pools
