"""Pods that a change replaces, starts and stops, workload by workload.

A workload's pods are replaced when its template changes as the API server stores it, by its update strategy.
Source: kubernetes/kubernetes:pkg/controller/daemon/{update,daemon_controller}.go, pkg/controller/deployment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import Disruption, DisruptionKind, Waves
from poolsmith.change.diff.pool_words import on_pools
from poolsmith.change.diff.rolled_workload import strategy_of
from poolsmith.change.diff.template_changes import template_changes, told_fields
from poolsmith.change.diff.upgrade_pace import UpgradePace, nodes_of
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import pod_template_pointer
from poolsmith.kubernetes.server.immutable_fields import immutable_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.diff.causes import Causes
    from poolsmith.change.diff.rolled_workload import RolledWorkload
    from poolsmith.change.review.change import SeenCluster
    from poolsmith.kubernetes.server.field_change import FieldChange

_ON_DELETE = "OnDelete"
_RECREATE = "Recreate"


@record
class Restart:
    """A workload of both sides whose template differs in the fields `why`."""

    old: RolledWorkload
    new: RolledWorkload
    why: tuple[FieldChange, ...]

    @property
    def is_refused(self) -> bool:
        """Whether the API server takes nothing of the change, since it comes with one of an immutable field."""
        return bool(immutable_changes(self.old.body, self.new.body))


def changed_templates(
    before: Mapping[str, RolledWorkload], after: Mapping[str, RolledWorkload], kubernetes: str
) -> tuple[Restart, ...]:
    """Each workload that both sides have and whose pods are made of something else, by key."""
    found = []
    for key in sorted(before.keys() & after.keys()):
        old, new = before[key], after[key]
        if old.body != new.body and (why := template_changes(old.body, new.body, kubernetes)):
            found.append(Restart(old=old, new=new, why=why))
    return tuple(found)


def restart_of(item: Restart, after: SeenCluster | None, causes: Causes) -> Disruption:
    """Of a workload that is no driver."""
    new = item.new
    pools = tuple(pool for pool in new.pools if pool in item.old.pools)
    strategy, unavailable = strategy_of(new.body)
    waves = None
    if after is not None and pools and new.kind == "DaemonSet":
        nodes = nodes_of(after, pools)
        pace = UpgradePace(
            automatic=strategy != _ON_DELETE and not item.is_refused, parallel=0, unavailable=unavailable
        )
        waves = pace.waves(nodes, nodes)
    told = told_fields(item.why, pod_template_pointer(new.body) or "")
    return Disruption(
        kind=DisruptionKind.RESTART,
        what=new.made.workload,
        namespace=new.namespace,
        pools=pools,
        words=_words(item, pools, strategy, waves, told),
        why=item.why,
        waves=waves,
        place=causes.of_workload(new.made, pools),
    )


def _words(item: Restart, pools: tuple[str, ...], strategy: str, waves: Waves | None, told: str) -> str:
    name, where = f"`{shorten(item.new.made.name)}`", on_pools(pools)
    if item.new.kind == "DaemonSet" and not pools:
        return f"{name} changes ({told}); no known node runs it before and after"
    place = f" {where}" if where else ""
    if item.is_refused:
        return f"{name} keeps its old pods{place} until the object is deleted and made anew: {told}"
    if strategy == _ON_DELETE:
        return f"{name} keeps its old pods{place} until somebody deletes them (update strategy OnDelete): {told}"
    if strategy == _RECREATE:
        return f"{name} stops, and starts again{place}: {told}"
    pace = f", {_pace(waves)}" if waves is not None else ""
    return f"{name} restarts{place}{pace}: {told}"


def _pace(waves: Waves) -> str:
    if waves.at_once == "all":
        return "all nodes at once"
    if waves.at_once == "0":
        return "never by itself, since no pod may be unavailable"
    return f"{waves.at_once} of its nodes at a time" if waves.at_once.endswith("%") else f"{waves.at_once} at a time"


def started_and_stopped(
    before: Mapping[str, RolledWorkload], after: Mapping[str, RolledWorkload], causes: Causes
) -> Iterator[Disruption]:
    """One for each workload that comes or goes, as a whole or on pools."""
    for key in sorted(after):
        new, old = after[key], before.get(key)
        pools = tuple(pool for pool in new.pools if old is None or pool not in old.pools)
        if old is None or (pools and not old.anywhere):
            yield _moved(DisruptionKind.STARTED, new, pools, causes, whole=old is None)
    for key in sorted(before):
        old, now = before[key], after.get(key)
        pools = tuple(pool for pool in old.pools if now is None or pool not in now.pools)
        if now is None or (pools and not now.anywhere):
            yield _moved(DisruptionKind.STOPPED, old, pools, causes, whole=now is None)


def _moved(
    kind: DisruptionKind, workload: RolledWorkload, pools: tuple[str, ...], causes: Causes, *, whole: bool
) -> Disruption:
    name = f"`{shorten(workload.made.name)}`"
    where = f" {on_pools(pools)}" if pools else ""
    starts = kind is DisruptionKind.STARTED
    if whole and not pools and workload.kind == "DaemonSet":
        words = f"{name} is {'new' if starts else 'gone'}; no known node {'runs' if starts else 'ran'} it"
    else:
        words = f"{name} {'starts' if starts else 'stops'}{where}"
    return Disruption(
        kind=kind,
        what=workload.made.workload,
        namespace=workload.namespace,
        pools=pools,
        words=words,
        place=causes.of_workload(workload.made, pools),
    )
