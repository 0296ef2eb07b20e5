"""A cluster or a pool with another name in the profiles, and the old one in the cluster: nothing is replaced there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.change.moves.look import holder_reads
from poolsmith.change.moves.step import Done, Step, moving, new_name, put
from poolsmith.change.upgrade_edits import Editor
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import did_you_mean, joined
from poolsmith.core.pattern import pattern
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.guard.policies.policy_files import POLICIES

if TYPE_CHECKING:
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.project.run.project import Project

_NAME, _ENGINE, _KEPT = "/metadata/name", "/spec/delivery/engine", "/spec/delivery/name"
_OBJECT_NAME = "/spec/objectName"
_MOST, _DEEPEST = 12, 8


def _policy_files(project: Project, folder: str, depth: int = 0) -> list[str]:
    listing = project.tree.listing(folder)
    found = [f"{folder}/{name}" for name in listing.files if name.endswith((".yaml", ".yml"))]
    for name in listing.folders if depth < _DEEPEST else ():
        found += _policy_files(project, f"{folder}/{name}", depth + 1)
    return found


_CALL = "where it names what is renamed, write the new name"


def named_by(project: Project, name: str, then: str = _CALL) -> tuple[str, ...]:
    """Lines of policies that name something exactly: a rename makes nobody permit anything."""
    word, found = pattern(rf"(?<![A-Za-z0-9._/-]){re.escape(name)}(?![A-Za-z0-9._/-])"), []
    for path in _policy_files(project, POLICIES):
        text = project.tree.read_text(path)
        lines = text.splitlines() if isinstance(text, str) else []
        if numbers := [number for number, line in enumerate(lines, 1) if word.search(line)]:
            more = f" and {len(numbers) - 1:,} more" if len(numbers) > 1 else ""
            found.append(f"{path}:{numbers[0]}{more}")
    if not found:
        return ()
    where = joined(found, _MOST)
    return (f"check `{name}` in {where}: {then}",)


def rename_cluster(project: Project, old: str, new: str) -> Step | Done:
    """Raises UsageError, NoInputError."""
    known = {files.name for files in project.fleet.clusters}
    if old not in known and new in known:
        there = moving(project, new)
        if there.plan.delivery_name == old:
            return Done(look=holder_reads(there.plan))
    cluster = moving(project, old)
    if new_name(new, "a cluster's name") in known or (project.root / PROFILES / new).exists():
        raise UsageError(f"there is a cluster `{new}` already; nothing was changed")
    editor = Editor()
    editor.set(cluster.file, _NAME, new)
    _keep_name(editor, cluster.file, old, new)
    return Step(
        title=f"`{old}` is called `{new}`, and its delivery goes on under the old name",
        names={old: new},
        edits=editor.edits((old,)),
        renamed=((f"{PROFILES}/{old}", f"{PROFILES}/{new}"),),
        before=named_by(project, old),
        look=holder_reads(cluster.plan, new),
    )


def _keep_name(editor: Editor, file: SourceFile, old: str, new: str) -> None:
    kept = file.written(_KEPT) if file.has(_KEPT) else None
    if kept == new:
        editor.remove(file, _KEPT)
    elif kept is None:
        put(editor, file, _KEPT, _ENGINE, old)


def rename_pool(project: Project, cluster: str, old: str, new: str) -> Step | Done:
    """Raises UsageError, NoInputError."""
    there = moving(project, cluster)
    pools = {item.pool.name: item for item in there.loaded.pools}
    if old not in pools and new in pools and pools[new].pool.object_name == old:
        return Done()
    if old not in pools:
        raise UsageError(f"cluster `{cluster}` has no pool `{old}`; {did_you_mean(old, list(pools))}")
    if new_name(new, "a pool's name") in pools:
        raise UsageError(f"cluster `{cluster}` has a pool `{new}` already; nothing was changed")
    file, editor = pools[old].layers.own, Editor()
    editor.set(file, _NAME, new)
    if pools[old].pool.spec.object_name is None:
        editor.add_first(file, "/spec", "objectName", old)
    elif file.has(_OBJECT_NAME) and file.written(_OBJECT_NAME) == new:
        editor.remove(file, _OBJECT_NAME)
    path = f"{PROFILES}/{cluster}/{new}.yaml"
    moves = file.path == f"{PROFILES}/{cluster}/{old}.yaml" and not (project.root / path).exists()
    return Step(
        title=f"pool `{old}` is called `{new}`, and keeps its name on the cluster, its nodes and its driver",
        names={cluster: cluster},
        edits=editor.edits((cluster,)),
        renamed=((file.path, path),) if moves else (),
        before=named_by(project, old),
        look=(
            f"`poolsmith verify {cluster}` finds nothing that differs: no label and no driver object is another one",
        ),
    )
