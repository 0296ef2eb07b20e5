"""Pods that a change replaces, starts and stops, by workload and pools.

Pods are replaced when the pod template changes as the API server stores it, by the update strategy of the workload.
Source: kubernetes/kubernetes:pkg/controller/daemon/{update,daemon_controller}.go, pkg/controller/deployment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import Disruption, DisruptionKind, Waves
from poolsmith.change.diff.driver_pods import UpgradePace, nodes_of
from poolsmith.change.diff.rows import keyed_changes, on_pools
from poolsmith.core.diagnostics.masking import masked_tree
from poolsmith.core.diagnostics.message_text import counted, joined, shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, pod_template_of, pod_template_pointer
from poolsmith.core.sources.pointer import join, split
from poolsmith.fleet.operands.expansion import Maker
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.kubernetes.server.field_changes import FieldChange, Standing, field_changes, named_items
from poolsmith.kubernetes.server.immutable_fields import immutable_changes
from poolsmith.kubernetes.server.pod_defaults import stored_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.change.diff.causes import Causes
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.fleet.operands.expansion import KubernetesObject, Made


ROLLED = ("DaemonSet", "Deployment", "StatefulSet")


@record
class RolledWorkload:
    """`pools` have the names of after the change; `anywhere`: nothing ties its pods to nodes."""

    made: Made
    pools: tuple[str, ...] = ()
    anywhere: bool = False

    @property
    def body(self) -> KubernetesObject:
        return self.made.body

    @property
    def key(self) -> str:
        return self.made.key

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"].get("namespace", ""))


def rolled_workloads(seen: SeenCluster | None, renamed: Mapping[str, str]) -> dict[str, RolledWorkload]:
    """By namespace, kind and name. Hooks run when Helm says so, and pods of operands with those of their operands."""
    if seen is None:
        return {}
    made = seen.prediction.installation.made
    landing = seen.prediction.ledger.landing
    names = tuple(pool.name for pool in seen.plan.pools)
    return {
        item.key: _workload(item, landing.get(item.key, ()), names, renamed)
        for item in made
        if item.body["kind"] in ROLLED and item.maker is not Maker.HOOK
    }


def _workload(made: Made, landing: Iterable[str], names: tuple[str, ...], renamed: Mapping[str, str]) -> RolledWorkload:
    anywhere = ANY_NODE in landing
    found = names if anywhere and made.body["kind"] == "DaemonSet" else landing
    pools = sorted(renamed.get(pool, pool) for pool in found if pool not in (ANY_NODE, NO_KNOWN_NODE))
    return RolledWorkload(made=made, pools=tuple(pools), anywhere=anywhere)


def strategy_of(workload: Mapping[str, Any]) -> tuple[str, str]:
    """How pods are replaced: the type, and how many may be unavailable; the API server's defaults where nothing is
    said.

    Source: kubernetes/kubernetes:pkg/apis/apps/v1/defaults.go.
    """
    spec = workload.get("spec") or {}
    kind = workload.get("kind")
    strategy = spec.get("strategy" if kind == "Deployment" else "updateStrategy") or {}
    rolling = strategy.get("rollingUpdate") or {}
    default = "25%" if kind == "Deployment" else "1"
    unavailable = rolling.get("maxUnavailable")
    return str(strategy.get("type") or "RollingUpdate"), default if unavailable is None else str(unavailable)


_SHOWN = 3


def template_changes(old: Mapping[str, Any], new: Mapping[str, Any], kubernetes: str = "") -> tuple[FieldChange, ...]:
    """Nothing where no pod is replaced; pointers begin at the workload, secrets are masked."""
    if pod_template_of(old) == pod_template_of(new):
        return ()
    before, after = stored_template(old, kubernetes), stored_template(new, kubernetes)
    if before == after:
        return ()
    within = pod_template_pointer(new) or ""
    return field_changes(before, after, within=within) or tuple(_reordered(before, after, within))


def _reordered(old: Any, new: Any, pointer: str, above: tuple[str, ...] = ()) -> Iterator[FieldChange]:
    """Lists that hold the same in another order: Kubernetes replaces pods for that too."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() & new.keys()):
            if old[key] != new[key]:
                yield from _reordered(old[key], new[key], join(pointer, key), (*above, key))
    elif isinstance(old, list) and isinstance(new, list):
        before, after = named_items(above, old), named_items(above, new)
        if before and after and list(before) == list(after):
            for name, item in before.items():
                if item != after[name]:
                    yield from _reordered(item, after[name], join(pointer, name), (*above, name))
        else:
            yield FieldChange(pointer=pointer, standing=Standing.CHANGED, old=masked_tree(old), new=masked_tree(new))


def changed_fields(changes: Iterable[FieldChange], within: str) -> str:
    """The fields in words, the first few of them: `image` of container `nvidia-driver-ctr`."""
    words = dict.fromkeys(_field_words(split(item.pointer.removeprefix(within))) for item in changes)
    shown = sorted(words, key=_likely)
    rest = len(shown) - _SHOWN
    return joined(shown[:_SHOWN], _SHOWN) + (f" and {counted(rest, 'other field')}" if rest > 0 else "")


def _likely(fields: str) -> tuple[bool, str]:
    """Labels of the chart's version change with every release, and say nothing."""
    return "helm.sh/chart" in fields, fields


def _field_words(steps: tuple[str, ...]) -> str:
    match steps:
        case ["spec", field, name, *rest] if field in CONTAINER_FIELDS and rest:
            return f"`{shorten('.'.join(rest))}` of container `{shorten(name)}`"
        case ["spec", field, name] if field in CONTAINER_FIELDS:
            return f"container `{shorten(name)}`"
        case ["spec", *rest] if rest:
            return f"`{shorten('.'.join(rest))}`"
    return f"`{shorten('.'.join(steps))}`"


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
    changes = keyed_changes(before, after, lambda old, new: old.body == new.body)
    for item in sorted(changes, key=lambda item: item.key):
        if item.old is not None and item.new is not None:
            why = template_changes(item.old.body, item.new.body, kubernetes)
            found += [Restart(old=item.old, new=item.new, why=why)] if why else []
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
            automatic=strategy != _ON_DELETE and not item.is_refused,
            parallel=0,
            unavailable=unavailable,
            policy="the update strategy",
        )
        waves = pace.waves(nodes, nodes)
    fields = changed_fields(item.why, pod_template_pointer(new.body) or "")
    return Disruption(
        kind=DisruptionKind.RESTART,
        what=new.made.workload,
        namespace=new.namespace,
        pools=pools,
        words=_words(item, pools, strategy, waves, fields),
        why=item.why,
        waves=waves,
        place=causes.of_workload(new.made, pools),
    )


def _words(item: Restart, pools: tuple[str, ...], strategy: str, waves: Waves | None, fields: str) -> str:
    name, where = f"`{shorten(item.new.made.name)}`", on_pools(pools)
    if item.new.kind == "DaemonSet" and not pools:
        return f"{name} changes ({fields}); no known node runs it before and after"
    place = f" {where}" if where else ""
    if item.is_refused:
        return f"{name} keeps its old pods{place} until the object is deleted and recreated: {fields}"
    if strategy == _ON_DELETE:
        return f"{name} keeps its old pods{place} until somebody deletes them (update strategy OnDelete): {fields}"
    if strategy == _RECREATE:
        return f"{name} stops, and starts again{place}: {fields}"
    pace = f", {_pace(waves)}" if waves is not None else ""
    return f"{name} restarts{place}{pace}: {fields}"


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
