"""Which lines of which profiles an upgrade edits, or why it does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, UsageError
from poolsmith.core.diagnostics.message_text import did_you_mean, joined, listed, shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import dotted_pointer, reach
from poolsmith.core.sources.scalar_edit import (
    EditError,
    with_first_key,
    with_first_mapping,
    with_item,
    with_key_after,
    with_value,
    without_key,
)
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.load_cluster import LoadedCluster, LoadedPool, load_cluster
from poolsmith.gpu.catalog.upgrades import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.profiles.cluster import Stack
    from poolsmith.project.run.project import Project

RELEASE = "/spec/stack/release"
FROM = "/spec/stack/upgradingFrom"
_VERSION = "/spec/driver/version"
_SOURCE = "/spec/driver/source"
_FEW = 6


@record
class Edit:
    """One value of one file: what stood there and what stands there now; empty where nothing does."""

    path: str
    pointer: str
    old: str
    new: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        what = dotted_pointer(self.pointer)
        if not self.old:
            return f"{place}: `{what}` is added: {self.new}"
        return (
            f"{place}: `{what}`: {self.old} to {self.new}" if self.new else f"{place}: `{what}` is removed: {self.old}"
        )


@record
class Edits:
    """Texts of whole files by path, before and after, and a line for each edit. `clusters` are those concerned."""

    clusters: tuple[str, ...]
    before: Mapping[str, str]
    after: Mapping[str, str]
    lines: tuple[Edit, ...]

    @property
    def without_texts(self) -> Edits:
        """The lines of files that are written in another way."""
        return Edits(clusters=self.clusters, before={}, after={}, lines=self.lines)


class Editor:
    """Edits of several files, in memory."""

    def __init__(self) -> None:
        self._before: dict[str, str] = {}
        self._after: dict[str, str] = {}
        self._lines: list[Edit] = []

    def set(self, file: SourceFile, pointer: str, new: str) -> None:
        """Raises UsageError."""
        old = file.written(pointer) or ""
        self._edit(file, pointer, old, new, lambda text: with_value(text, pointer, new))

    def add(self, file: SourceFile, after: str, key: str, new: str) -> None:
        pointer = f"{after.rpartition('/')[0]}/{key}"
        self._edit(file, pointer, "", new, lambda text: with_key_after(text, after, key, new))

    def add_first(self, file: SourceFile, above: str, key: str, new: str) -> None:
        """At the start of the mapping at `above`; its value is replaced where the file has one."""
        pointer = f"{above}/{key}"
        if file.has(pointer):
            self.set(file, pointer, new)
        else:
            self._edit(file, pointer, "", new, lambda text: with_first_key(text, above, key, new))

    def add_first_mapping(self, file: SourceFile, above: str, key: str, value: Mapping[str, str]) -> None:
        """At the start of the mapping at `above`."""
        shown = ", ".join(f"{name}: {text}" for name, text in value.items())
        self._edit(file, f"{above}/{key}", "", shown, lambda text: with_first_mapping(text, above, key, value))

    def add_item(self, file: SourceFile, pointer: str, item: Mapping[str, str]) -> None:
        shown = ", ".join(f"{key}: {value}" for key, value in item.items())
        self._edit(file, pointer, "", shown, lambda text: with_item(text, pointer, item))

    def remove(self, file: SourceFile, pointer: str) -> None:
        old = file.written(pointer) or shorten(json.dumps(reach(file.data, pointer)[0], default=str))
        self._edit(file, pointer, old, "", lambda text: without_key(text, pointer))

    def edits(self, clusters: Iterable[str]) -> Edits:
        return Edits(
            clusters=tuple(sorted(set(clusters))), before=self._before, after=self._after, lines=tuple(self._lines)
        )

    def _edit(self, file: SourceFile, pointer: str, old: str, new: str, change: Callable[[str], str]) -> None:
        if old == new:
            return
        self._before.setdefault(file.path, file.text)
        try:
            self._after[file.path] = change(self._after.get(file.path, file.text))
        except EditError as error:
            raise UsageError(
                f"{file.path} {error}: write `{dotted_pointer(pointer)}: {new}` by hand; nothing was changed"
                if new
                else f"{file.path} {error}: remove `{dotted_pointer(pointer)}` by hand; nothing was changed"
            ) from None
        start = file.locate(pointer).span.start
        self._lines.append(
            Edit(
                path=file.path, pointer=pointer, old=old, new=new, line=None if start is None or not old else start.line
            )
        )


def release_edits(project: Project, names: Sequence[str], target: str, *, accepting: frozenset[str]) -> Edits:
    """The release of each cluster; of those in `accepting` also `upgradingFrom`. Raises UsageError."""
    known = project.catalog.releases.by_tag
    if target not in known:
        raise UsageError(f"the catalog does not know release `{target}`; {did_you_mean(target, list(known))}")
    editor, refused, done = Editor(), [], []
    for name in dict.fromkeys(names):
        file, stack = _stack(project, name)
        if why := _refusal(project, name, stack, target):
            refused.append(why)
        elif stack.release != target:
            _edit_release(editor, file, stack, target, accepts=name in accepting)
            done.append(name)
    if refused:
        raise UsageError(f"{'; '.join(refused)}; nothing was changed")
    return editor.edits(done)


def _edit_release(editor: Editor, file: SourceFile, stack: Stack, target: str, *, accepts: bool) -> None:
    editor.set(file, RELEASE, target)
    if stack.upgrading_from is not None and accepts:
        editor.set(file, FROM, stack.release)
    elif stack.upgrading_from is not None:
        editor.remove(file, FROM)
    elif accepts:
        editor.add(file, RELEASE, "upgradingFrom", stack.release)


def _refusal(project: Project, name: str, stack: Stack, target: str) -> str:
    """Why a cluster can't go to a release in one step; empty if it can."""
    if not stack.by_operator:
        return f"`{name}` runs no gpu-operator"
    if stack.upgrading_from is not None and target not in (stack.release, stack.upgrading_from):
        return (
            f"`{name}` is still on its way from {stack.upgrading_from} to {stack.release}: end that first, with "
            f"`poolsmith upgrade {name} --done`, or take it back, with `--to {stack.upgrading_from}`"
        )
    way = steps(project.catalog.releases, stack.release, target)
    if way is None:
        return f"`{name}` has {stack.release}, whose place in the order of releases is unknown"
    if len(way) > 1:
        return (
            f"NVIDIA supports no step from {stack.release} to {target}, only within a line or to the next one. The way "
            f"of `{name}` is {joined((stack.release, *way), len(way) + 1, ', ')}: begin with `poolsmith upgrade {name} "
            f"--to {way[0]}`"
        )
    return ""


def done_edits(project: Project, names: Sequence[str]) -> Edits:
    """`upgradingFrom` leaves the profiles. Raises UsageError."""
    editor, done = Editor(), []
    for name in dict.fromkeys(names):
        file, stack = _stack(project, name)
        if stack.upgrading_from is not None:
            editor.remove(file, FROM)
            done.append(name)
    return editor.edits(done)


def _stack(project: Project, name: str) -> tuple[SourceFile, Stack]:
    """Raises UsageError, NoInputError."""
    (files,) = project.select((name,))
    loaded = load_cluster(project.tree, files, project.bases, project.rings)
    if loaded.cluster is None or loaded.file is None:
        raise UsageError(
            f"the profile of `{name}` has mistakes: `poolsmith generate --check` lists them; correct them first"
        )
    return loaded.file, loaded.cluster.spec.stack


def driver_edits(project: Project, targets: Sequence[str], version: str, *, edits_bases: bool) -> Edits:
    """The driver of pools, where it is written: `CLUSTER`, or `CLUSTER/POOL`. Raises UsageError, NoInputError.

    Of a whole cluster a full version is for pools that compile the driver, a branch for those with precompiled ones.
    """
    fleet = [load_cluster(project.tree, files, project.bases, project.rings) for files in project.select(())]
    wanted = {key for target in targets for key in _pools(project, fleet, target, version)}
    editor, bases = Editor(), dict[str, set[tuple[str, str]]]()
    for cluster in fleet:
        for pool in cluster.pools:
            if (cluster.name, pool.pool.name) not in wanted:
                continue
            owner = pool.layers.owner(_VERSION)
            if owner.has(_VERSION) and owner is not pool.layers.own:
                bases.setdefault(owner.path, set()).add((cluster.name, pool.pool.name))
            elif owner.has(_VERSION):
                editor.set(owner, _VERSION, version)
            elif pool.layers.own.has(_SOURCE):
                editor.add(pool.layers.own, _SOURCE, "version", version)
            else:
                raise UsageError(
                    f"{pool.layers.own.path} says no `spec.driver`: write its version by hand; nothing was changed"
                )
    concerned = {name for name, _ in wanted}
    for path, asked in sorted(bases.items()):
        users = _users(fleet, path)
        if users - asked and not edits_bases:
            others = listed((f"{name}/{pool}" for name, pool in sorted(users - asked)), _FEW)
            own = listed((f"{name}/{pool}" for name, pool in sorted(asked)), _FEW)
            raise UsageError(
                f"{path} says the driver, of {others} as well: add `--with-bases` to change it for all, or give "
                f"{own} a `spec.driver.version` of their own; nothing was changed"
            )
        concerned |= {name for name, _ in users}
        editor.set(_base_file(fleet, path), _VERSION, version)
    return editor.edits(concerned)


def _users(fleet: Iterable[LoadedCluster], path: str) -> set[tuple[str, str]]:
    """Pools whose driver a base says."""
    return {
        (cluster.name, pool.pool.name)
        for cluster in fleet
        for pool in cluster.pools
        if pool.layers.owner(_VERSION).path == path
    }


def _base_file(fleet: Iterable[LoadedCluster], path: str) -> SourceFile:
    return next(cluster.files[path] for cluster in fleet if path in cluster.files)


def _pools(project: Project, fleet: Iterable[LoadedCluster], target: str, version: str) -> Iterable[tuple[str, str]]:
    """Raises UsageError, NoInputError."""
    name, _, asked = target.partition("/")
    project.select((name,))
    cluster = next(item for item in fleet if item.name == name)
    if any(item.severity == "error" for item in cluster.problems):
        raise UsageError(
            f"the profiles of `{name}` have mistakes: `poolsmith generate --check` lists them; correct them first"
        )
    pools = {item.pool.name: item for item in cluster.pools}
    if asked:
        if asked not in pools:
            raise UsageError(f"cluster `{name}` has no pool `{asked}`; {did_you_mean(asked, list(pools))}")
        return [(name, asked)]
    found = [(name, pool) for pool, item in pools.items() if _takes(item, version)]
    if not found:
        kind = "compiles its driver" if "." in version else "has a precompiled driver"
        raise UsageError(f"no pool of `{name}` {kind}, so that none takes `{version}`; nothing was changed")
    return found


def _takes(pool: LoadedPool, version: str) -> bool:
    driver = pool.pool.spec.driver
    if driver.vgpu is not None:
        return False
    return driver.source is (DriverSource.CONTAINER if "." in version else DriverSource.PRECOMPILED)


def changed_since(project: Project, edits: Edits) -> str:
    """A file that somebody has changed meanwhile; empty if there is none."""
    for path, text in edits.before.items():
        now = project.tree.read_text(path)
        if isinstance(now, Diagnostic) or now != text:
            return path
    return ""
