"""Finds the profile line that caused a difference: one that the change touches, nearest to what differs."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import overlap, reach
from poolsmith.fleet.plan.origin import FromProfile, profile_inputs
from poolsmith.gpu.catalog.switches import read_switches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.operands.expansion import Made
    from poolsmith.fleet.plan.plan import ClusterPlan, ValuePath
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster

_RELEASE = "/spec/stack/release"
_FOR_ALL = (("daemonsets",), ("operator",), ("hostPaths",), ("cdi",), ("toolkit",), ("sandboxWorkloads",), ("psp",))
"""Values that the pods of several workloads are made of."""
_OBJECT = "NVIDIADriver/"
_SAID = "acknowledge"
"""What only says something causes nothing."""
_ABSENT = object()


@record(frozen=False, kw_only=False)
class Causes:
    """Of one cluster's change. Lines are those of after the change; what is only gone has none."""

    before: SeenCluster | None
    after: SeenCluster | None
    renamed: Mapping[str, str]
    _of_workloads: dict[tuple[str, tuple[str, ...]], Location | None] = field(default_factory=dict)
    _touched: dict[str, tuple[FromProfile, ...]] = field(default_factory=dict)
    """By pool."""

    def of_lines(self, lines: Iterable[FromProfile]) -> Location | None:
        """The first of the lines that the change touches; where it touches none of them, the release if that changes.

        None where neither does: a line that is as it was causes nothing.
        """
        touched = next((line for line in dict.fromkeys(lines) if self._stands(line) and self._is_touched(line)), None)
        return self._located(touched or self._release())

    def standing(self, lines: Iterable[FromProfile]) -> Location | None:
        """The first of the lines that is there after the change, touched or not."""
        return self._located(next((line for line in lines if self._stands(line)), None))

    def of_workload(self, made: Made, pools: Iterable[str] = ()) -> Location | None:
        """Of the pods of a workload on `pools`: its own values, then those of all workloads, then lines of pools."""
        key = made.key, tuple(pools)
        if key not in self._of_workloads:
            self._of_workloads[key] = self.of_lines(self._lines_of(made, key[1]))
        return self._of_workloads[key]

    def of_pools(self, pools: Iterable[str], *pointers: str) -> Location | None:
        """The first line at one of the pointers into the pools' profiles that the change touches."""
        return self.of_lines(line for pool in pools for pointer in pointers for line in self._at_pool(pool, pointer))

    def of_values(self, *paths: ValuePath) -> Location | None:
        """The first line behind a value at or below one of the paths that differs."""
        return self.of_lines(self._changed_values(paths))

    def _lines_of(self, made: Made, pools: tuple[str, ...]) -> Iterator[FromProfile]:
        if self.after is None:
            return
        plan = self.after.plan
        if made.through.startswith(_OBJECT):
            for item in plan.driver_objects:
                if item.name == made.through.removeprefix(_OBJECT):
                    yield from self._touched_in_pool(item.pool)
                    yield from profile_inputs(item.origin)
        yield from self._changed_values((*_own_values(made.name), *_FOR_ALL))
        for pool in pools:
            yield from self._touched_in_pool(pool)
        release = self._release()
        if release is not None:
            yield release
        yield from self._changed_values(((),))
        for other in plan.pools:
            yield from self._touched_in_pool(other.name)

    def _changed_values(self, below: Iterable[ValuePath]) -> Iterator[FromProfile]:
        """The lines behind values that differ, in the order of `below`; of what the users wrote first."""
        then, now = _values(self.before), _values(self.after)
        differing = [path for path in sorted({*then, *now}) if repr(then.get(path)) != repr(now.get(path))]
        for top in below:
            for path in differing:
                if overlap(path, top):
                    yield from self._lines_of_value(path)

    def _lines_of_value(self, path: ValuePath) -> Iterator[FromProfile]:
        plan = self.after.plan if self.after is not None else None
        setting = plan.setting(*path) if plan is not None else None
        if plan is not None and setting is None:  # taken away: the nearest line above that is still there
            yield from _above(plan, path)
        if setting is not None:
            yield from profile_inputs(setting.origin)

    def _touched_in_pool(self, pool: str) -> tuple[FromProfile, ...]:
        """What differs in a pool's own profile, bases merged in, by its highest field."""
        if pool not in self._touched:
            self._touched[pool] = tuple(self._find_touched(pool))
        return self._touched[pool]

    def _find_touched(self, pool: str) -> Iterator[FromProfile]:
        then, now = _spec_of(self.before, self.old_name(pool)), _spec_of(self.after, pool)
        for name in sorted({*then, *now} - {_SAID}):
            old, new = then.get(name), now.get(name)
            if old == new:
                continue
            if isinstance(old, dict) and isinstance(new, dict):
                for inner in sorted({*old, *new}):
                    if old.get(inner, _ABSENT) != new.get(inner, _ABSENT):
                        yield from self._at_pool(pool, f"/spec/{name}/{inner}")
            yield from self._at_pool(pool, f"/spec/{name}")

    def _at_pool(self, pool: str, pointer: str) -> Iterator[FromProfile]:
        for loaded in self.after.loaded.pools if self.after is not None else ():
            if loaded.pool.name == pool:
                file = loaded.layers.owner(pointer)
                if file.has(pointer):
                    yield FromProfile(file.path, pointer)

    def _release(self) -> FromProfile | None:
        if self.before is None or self.after is None:
            return None
        is_same = self.before.prediction.installation.release == self.after.prediction.installation.release
        return None if is_same else FromProfile(self.after.plan.cluster.path, _RELEASE)

    def _stands(self, line: FromProfile) -> bool:
        files = self.after.loaded.files if self.after is not None else {}
        return line.path in files and files[line.path].has(line.pointer)

    def _is_touched(self, line: FromProfile) -> bool:
        """Whether the base has something else there, or no such file."""
        then = self.before.loaded.files.get(self._old_path(line.path)) if self.before is not None else None
        if then is None:
            return self.before is not None
        assert self.after is not None, "the line stands there"
        now = self.after.loaded.files[line.path]
        return bool(_read(then.data, line.pointer) != _read(now.data, line.pointer))

    def _located(self, line: FromProfile | None) -> Location | None:
        if line is None or self.after is None or not self._stands(line):
            return None
        return self.after.loaded.files[line.path].locate(line.pointer)

    def old_name(self, pool: str) -> str:
        """What a pool was called before the change."""
        return next((old for old, new in self.renamed.items() if new == pool), pool)

    def _old_path(self, path: str) -> str:
        """The same file in the base, where its cluster or its pool had another name."""
        if self.before is None or self.after is None or path in self.before.loaded.files:
            return path
        old = {item.pool.name: item.layers.own.path for item in self.before.loaded.pools}
        new = {item.layers.own.path: item.pool.name for item in self.after.loaded.pools}
        if path in new:
            return old.get(self.old_name(new[path]), path)
        return self.before.plan.cluster.path if path == self.after.plan.cluster.path else path


def _own_values(name: str) -> Iterator[ValuePath]:
    """The part of the chart's values that is about the workload."""
    switches = read_switches()
    network = switches.network_of(name)
    paths = (*([network] if network is not None else []), *switches.of_workload(name).values)
    yield from dict.fromkeys(path[:1] for path in paths)


def _above(plan: ClusterPlan, path: ValuePath) -> Iterator[FromProfile]:
    for length in range(len(path) - 1, -1, -1):
        yield FromProfile(plan.cluster.path, "/".join(("/spec/stack/values", *path[:length])))
    yield plan.stack_line


def _values(seen: SeenCluster | None) -> dict[ValuePath, Any]:
    return {setting.path: setting.value for setting in seen.plan.values} if seen is not None else {}


def _spec_of(seen: SeenCluster | None, pool: str) -> dict[str, Any]:
    loaded: LoadedCluster | None = seen.loaded if seen is not None else None
    found = next((item for item in loaded.pools if item.pool.name == pool), None) if loaded is not None else None
    return found.layers.merged_spec() if found is not None else {}


def _read(data: Any, pointer: str) -> Any:
    found, complete = reach(data, pointer)
    return found if complete else _ABSENT
