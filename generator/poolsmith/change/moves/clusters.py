"""Pools that go to another cluster: a cluster is split, or goes into another one.

Nodes join another control plane anew, and nothing of a delivery goes with them. So the pools stand in both clusters
until the last node is over: whichever cluster a node is in, something drives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.moves.handovers import remove_cluster
from poolsmith.change.moves.look import delivery_folder
from poolsmith.change.moves.renames import named_by
from poolsmith.change.moves.step import Done, Step, moving, named, new_name
from poolsmith.change.upgrade_edits import Editor
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.fleet.profiles.fleet import CLUSTER_FILE, PROFILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.change.moves.handovers import NewOwner
    from poolsmith.change.moves.step import Moving
    from poolsmith.change.upgrade_edits import Edits
    from poolsmith.fleet.profiles.load_cluster import LoadedPool
    from poolsmith.project.run.project import Project

_OWN = (
    "/spec/delivery/name",
    "/spec/delivery/retiring",
    "/spec/delivery/destination",
    "/spec/delivery/instance",
    "/spec/stack/upgradingFrom",
    "/spec/acknowledge",
)
"""What a cluster's profile says of that cluster alone."""


def split_cluster(project: Project, name: str, new: str, pools: Sequence[str], owner: NewOwner) -> Step | Done:
    """Raises UsageError, NoInputError."""
    there = moving(project, name)
    target = moving(project, new) if _is_there(project, new_name(new, "a cluster's name")) else None
    held, taken = _pools(there), _pools(target)
    if unknown := next((pool for pool in pools if pool not in {*held, *taken}), None):
        raise UsageError(f"cluster `{name}` has no pool `{unknown}`; {did_you_mean(unknown, list(held))}")
    if new == name or held.keys() <= {*pools}:
        raise UsageError(
            f"`{name}` would have no pool left: that is `poolsmith move rename-cluster`, or `merge-clusters`; nothing "
            "was changed"
        )
    if missing := [pool for pool in pools if pool not in taken]:
        again = f"poolsmith move split-cluster {name} {new} {' '.join(pools)}"
        return _both(project, there, (new, target), {pool: held[pool] for pool in missing}, owner, again)
    left = {pool: held[pool] for pool in pools if pool in held}
    return _given_away(there, new, left, taken) if left else Done()


def merge_clusters(project: Project, name: str, into: str) -> Step | Done:
    """Raises UsageError, NoInputError."""
    target = moving(project, into)
    if name == into:
        raise UsageError(f"`{name}` is that cluster itself; nothing was changed")
    if not _is_there(project, name):
        return Done()
    there = moving(project, name)
    held, taken = _pools(there), _pools(target)
    _refuse_others(name, into, held, taken)
    if missing := {pool: item for pool, item in held.items() if pool not in taken}:
        return _both(project, there, (into, target), missing, None, f"poolsmith move merge-clusters {name} {into}")
    return remove_cluster(project, name, keeps=False)


def _is_there(project: Project, name: str) -> bool:
    return name in {files.name for files in project.fleet.clusters}


def _pools(there: Moving | None) -> dict[str, LoadedPool]:
    return {item.pool.name: item for item in there.loaded.pools} if there is not None else {}


def _refuse_others(name: str, into: str, held: dict[str, LoadedPool], taken: dict[str, LoadedPool]) -> None:
    """A pool of one name on other machines is another pool. Raises UsageError."""
    for pool in held.keys() & taken.keys():
        one, other = (found[pool].pool.spec for found in (held, taken))
        if (one.gpu, one.driver) != (other.gpu, other.driver):
            raise UsageError(
                f"`{into}` has a pool `{pool}` already, with other GPUs or another driver: give this one another name "
                f"first, with `poolsmith move rename-pool {name}/{pool} <name>`; nothing was changed"
            )


def _both(
    project: Project,
    there: Moving,
    to: tuple[str, Moving | None],
    pools: dict[str, LoadedPool],
    owner: NewOwner | None,
    again: str,
) -> Step:
    new, target = to
    made = {_path(new, item): item.layers.own.text for item in pools.values()}
    if taken := next((path for path in made if (project.root / path).exists()), None):
        raise UsageError(f"there is a file {taken} already; nothing was changed")
    edits = Editor().edits((there.name, new))
    if target is None:
        edits = _new_cluster(there, new, owner)
        made |= edits.after
    folder = delivery_folder((target or there).plan, new)
    return Step(
        title=f"`{new}` has {named(pools)} of `{there.name}`, too",
        names={there.name: there.name, new: new},
        edits=edits.without_texts,
        made=made,
        before=named_by(project, there.name, f"where it also applies to `{new}`, add that name"),
        look=(
            f"let the engine of `{new}` read `{folder}`, and wait until all of it is ready",
            (
                f"drain the nodes of {named(pools)}, take them out of `{there.name}`, and let them join `{new}`, one "
                "after the other"
            ),
            f"`poolsmith verify {new}` finds nothing that differs",
        ),
        then=again,
    )


def _new_cluster(there: Moving, new: str, owner: NewOwner | None) -> Edits:
    """Raises UsageError."""
    given = {"namespace": owner.namespace, "instance": owner.instance} if owner is not None else {}
    destination = owner.destination if owner is not None else None
    if there.plan.cluster.spec.delivery.engine is Engine.ARGOCD and not (destination or given.get("instance")):
        raise UsageError(
            f"say what Argo CD calls `{new}`, with `--destination`, or which Argo CD delivers it, with `--instance`; "
            "nothing was changed"
        )
    editor, old = Editor(), there.file
    file = SourceFile(f"{PROFILES}/{new}/{CLUSTER_FILE}", old.text, old.data)
    editor.set(file, "/metadata/name", new)
    for pointer in _OWN:
        if file.has(pointer):
            editor.remove(file, pointer)
    for field, value in given.items():
        if value is not None:
            editor.add_first(file, "/spec/delivery", field, new_name(value, f"a delivery's {field}"))
    if destination is not None:
        editor.add_first_mapping(file, "/spec/delivery", "destination", {"name": destination})
    return editor.edits((there.name, new))


def _path(cluster: str, pool: LoadedPool) -> str:
    return f"{PROFILES}/{cluster}/{pool.layers.own.path.rpartition('/')[2]}"


def _given_away(there: Moving, new: str, left: dict[str, LoadedPool], taken: dict[str, LoadedPool]) -> Step:
    """Raises UsageError."""
    _refuse_others(there.name, new, left, taken)
    key, pools = there.plan.cluster.spec.pool_label, [item for item in there.plan.pools if item.name in left]
    values = ",".join(sorted(item.label_value for item in pools))
    return Step(
        title=f"`{there.name}` has no {named(left)} any more",
        names={there.name: there.name},
        edits=Editor().edits((there.name,)),
        removed=tuple(item.layers.own.path for item in left.values()),
        before=(
            f"see that none of their nodes is left: `kubectl get nodes --selector '{key} in ({values})'` finds nothing",
        ),
        look=(f"`poolsmith verify {there.name}` finds nothing that differs",),
    )
