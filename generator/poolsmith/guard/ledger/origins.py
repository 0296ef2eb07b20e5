"""Why a privilege is there: the profile line or chart default that causes it, and which lines each value causes.

The lines that a value causes are those of the ledger that are gone without it. This way is exact, for values that no
table can foresee; what follows from profiles has its table.
"""

from __future__ import annotations

import json
from dataclasses import field
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of, word
from poolsmith.core.sources.pointer import MISSING, copied, overlap, value_at
from poolsmith.fleet.operands.expansion import Maker
from poolsmith.fleet.operands.install import InstallationInput, install
from poolsmith.fleet.plan.origin import FromProfile, profile_inputs
from poolsmith.gpu.catalog.operands import read_operands
from poolsmith.gpu.catalog.switches import read_switches
from poolsmith.guard.ledger.installed_ledger import installed_ledger
from poolsmith.guard.ledger.ledger import ChartDefault, Through, line_order
from poolsmith.guard.ledger.privilege import normal_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.operands.chart.operator_part import ChartParts
    from poolsmith.gpu.catalog.switches import ValuePath
    from poolsmith.guard.ledger.ledger import Ledger, LineIdentity


if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.expansion import Made
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.gpu.catalog.switches import Switch, Switches, ValuePath
    from poolsmith.guard.ledger.ledger import Holder, LedgerLine, LineOrigin, LineOrigins
    from poolsmith.guard.ledger.privilege import Privilege

    Locate = Callable[[str, str], FromProfile | None]
    """A pool's line at a pointer: in its profile or in one of its bases; None where nobody wrote it."""

_HOLDER = attrgetter("namespace", "workload", "container", "pool")
_SOURCE = "/spec/driver/source"
_VALUES = "/spec/stack/values/"
_OPERATOR_SWITCH = "/spec/stack/release"
_SPECIAL = {"no-nri": ("cdi", "nriPluginEnabled")}
_GPU_CLUSTER = (("gpuCluster", "deployCR"), ("clusterPolicy", "deployCR"))
"""Without either there is none."""


@record(frozen=False, kw_only=False)
class Origins:
    """Looks origins up for one cluster; `chart` is the operator's, None where there is no operator."""

    plan: ClusterPlan
    chart: Chart | None
    made: Mapping[str, Made]
    """By their keys."""
    locate: Locate
    effects: Effects = field(default_factory=dict)
    """Of the values that users set: the lines that are gone without each."""
    switches: Switches = field(default_factory=read_switches)
    _workloads: dict[str, LineOrigins] = field(default_factory=dict)
    _host_paths: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    _pointers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _mounts: dict[tuple[str, str, tuple[str, ...]], LineOrigins] = field(default_factory=dict)
    _holders: dict[tuple[str, str, str], LineOrigins] = field(default_factory=dict)
    _containers: dict[str, LineOrigins] = field(default_factory=dict)
    _values_known: dict[ValuePath, Any] = field(default_factory=dict)
    _lines_known: dict[tuple[str, tuple[str, ...]], tuple[FromProfile, ...]] = field(default_factory=dict)

    def signature(self) -> Hashable:
        """All that the answers depend on, besides what was made: the lines, with the cluster's own folder left out."""
        own = self.plan.cluster.path.rpartition("/")[0] + "/"

        def below(lines: tuple[FromProfile, ...]) -> tuple[Hashable, ...]:
            return tuple((line.path.removeprefix(own), line.pointer) for line in lines)

        def lines(origin: Origin) -> tuple[Hashable, ...]:
            return below(profile_inputs(origin)) or (str(origin),)

        return (
            self.plan.cluster.path.removeprefix(own),
            tuple(lines(setting.origin) for setting in self.plan.values),
            tuple(lines(item.origin) for item in self.plan.driver_objects),
            tuple(lines(item.origin) for unit in self.plan.units for item in unit.objects),
            tuple(lines(item.origin) for item in self.plan.toolkit_overlays),
            tuple(below(self._lines(pool.name, (_SOURCE, *self.switches.pointers))) for pool in self.plan.pools),
        )

    def of_workload(self, key: str) -> LineOrigins:
        """Why a workload exists at all, then through what."""
        if key not in self._workloads:
            self._workloads[key] = tuple(dict.fromkeys(self._of_workload(self.made[key])))
        return self._workloads[key]

    def of_pool(self, key: str, pool: str) -> LineOrigins:
        """What in the pool's own profile gets the workload there."""
        if key not in self._pointers:
            made = self.made[key]
            pod = mapping(mapping(pod_template_of(made.body)).get("spec"))
            labels = mapping(pod.get("nodeSelector"))
            selected = (pointer for label in labels for pointer in self.switches.labels.get(label, ()))
            self._pointers[key] = (*self.switches.of_workload(made.name).pool, *selected)
        return self._lines(pool, self._pointers[key])

    def of_container(self, container: str, pool: str) -> LineOrigins:
        """What brings the container into a workload that would be there without it."""
        switch = self.switches.containers.get(container)
        if switch is None:
            return ()
        lines = self._lines(pool, switch.pool)
        if lines:
            return lines
        if container not in self._containers:
            self._containers[container] = tuple(self._values(switch.values[:1]))
        return self._containers[container]

    def of_privilege(self, key: str, privilege: Privilege, pools: tuple[str, ...]) -> LineOrigins:
        """What sets this one privilege, where it is a value's doing or that of a line of the pools."""
        if privilege.name == "host-path":
            mount = (key, privilege.arguments[0], pools)
            if mount not in self._mounts:
                self._mounts[mount] = self._of_host_path(*mount)
            return self._mounts[mount]
        name = self.switches.privileges.get(privilege.name)
        network = None if name is None else self.switches.network_of(self.made[key].name)
        if network is None or name is None:
            return ()
        path = (*network[:-1], name)
        return tuple(self._values([path])) if self.value(path) is True else ()

    def _may_be_known(self, privilege: Privilege) -> bool:
        """Whether `of_privilege` may know something of it."""
        return privilege.name == "host-path" or privilege.name in self.switches.privileges

    def of_values(self, key: str, container: str, privilege: Privilege, pools: Iterable[str]) -> LineOrigins:
        """The user's values without which a privilege would not be there."""
        if not self.effects:
            return ()
        namespace, _, workload = key.partition("/")
        lines = {(pool, namespace, workload, container, privilege.name, privilege.arguments) for pool in pools}
        paths = [path for path, brought in self.effects.items() if not brought.isdisjoint(lines)]
        return tuple(dict.fromkeys(self._values(paths)))

    def of_line(self, key: str, container: str, privilege: Privilege, pool: str) -> LineOrigins:
        """All of them, what is nearest to the privilege first."""
        nearest = (
            *self.of_values(key, container, privilege, (pool,)),
            *self.of_privilege(key, privilege, (pool,)),
        )
        rest = self._of_holder(key, container, pool)
        return tuple(dict.fromkeys((*nearest, *rest))) if nearest else rest

    def of_holder(self, holder: Holder) -> LineOrigins:
        """What brings a whole workload to some pool: the origins that all of its lines there share."""
        if not self.effects and not any(self.of_pool(holder.key, pool) for pool in holder.pools):
            container, held, _ = holder.rows[0]
            if container not in self.switches.containers and not self._may_be_known(held):
                return self.of_workload(holder.key)
        return tuple(dict.fromkeys(origin for pool in holder.pools for origin in self._of_all(holder, pool)))

    def _of_all(self, holder: Holder, pool: str) -> Iterator[LineOrigin]:
        """Those of the first line that the others have, which are not asked where the pool or the workload says it."""
        found = (self.of_line(holder.key, container, held, pool) for container, held, _ in holder.rows)
        first = next(found)
        others: list[LineOrigins] | None = None
        certain = {*self.of_pool(holder.key, pool), *self.of_workload(holder.key)}
        for origin in first:
            if origin not in certain:
                others = list({id(one): one for one in found}.values()) if others is None else others
                if not all(origin in one for one in others):
                    continue
            yield origin

    def with_origins(self, lines: Iterable[LedgerLine], known: dict[LineOrigins, LineOrigins]) -> Iterator[LedgerLine]:
        """The lines with what `of_line` says of each; equal origins are one object, which `known` has.

        A fleet has hundreds of thousands of lines. Those of one holder stand together in a ledger, and most of them
        have no origin of their own.
        """
        for (namespace, workload, container, pool), held in groupby(lines, _HOLDER):
            key = f"{namespace}/{workload}"
            shared = self._of_holder(key, container, pool)
            shared = known.setdefault(shared, shared)
            for line in held:
                found, privilege = shared, line.privilege
                if self.effects or self._may_be_known(privilege):
                    found = self.of_line(key, container, privilege, pool)
                    found = known.setdefault(found, found)
                yield line.with_origins(found)

    def _of_holder(self, key: str, container: str, pool: str) -> LineOrigins:
        """What all lines of one container on one pool have in common."""
        holder = (key, container, pool)
        if holder not in self._holders:
            found = (*self.of_container(container, pool), *self.of_pool(key, pool), *self.of_workload(key))
            self._holders[holder] = tuple(dict.fromkeys(found))
        return self._holders[holder]

    def _of_host_path(self, key: str, path: str, pools: tuple[str, ...]) -> LineOrigins:
        ours = self.made[key].maker is Maker.POOLSMITH
        found = (self._of_volume(name, pools, ours=ours) for name in self._volumes_at(key, path))
        return tuple(dict.fromkeys(origin for origins in found for origin in origins))

    def _of_workload(self, made: Made) -> Iterator[LineOrigin]:
        match made.maker:
            case Maker.POOLSMITH:
                yield from self._of_unit(made)
            case Maker.OPERAND:
                yield from self.of_workload(made.through)
            case Maker.CHART | Maker.HOOK:
                yield from self._of_chart(self.switches.of_workload(made.name))
            case Maker.OPERATOR:
                yield from self._of_operand(made)
        yield Through(self.made[made.through].workload if made.maker is Maker.OPERAND else made.through)

    def _of_chart(self, switch: Switch) -> list[LineOrigin]:
        path = self.plan.cluster.path
        lines: list[LineOrigin] = [FromProfile(path, pointer) for pointer in switch.cluster if self.chart is None]
        if switch.values and self.chart is not None:
            lines.extend(self._values(switch.values[:1]))
        return lines or [self._stack()]

    def _of_unit(self, made: Made) -> Iterator[LineOrigin]:
        for unit in self.plan.units:
            for item in unit.objects:
                if item.body is made.body or item.body == made.body:
                    yield from profile_inputs(item.origin)
        for overlay in self.plan.toolkit_overlays:
            if made.name in (overlay.name, overlay.entrypoint):
                yield from profile_inputs(overlay.origin)

    def _of_operand(self, made: Made) -> Iterator[LineOrigin]:
        if made.through.startswith("GPUCluster/"):
            yield from self._values(_GPU_CLUSTER)
        if made.through.startswith("NVIDIADriver/"):
            name = made.through.partition("/")[2]
            for item in self.plan.driver_objects:
                if item.name == name:
                    yield from self._lines(item.pool, (_SOURCE,))
                    yield from profile_inputs(item.origin)
            yield from self._values(self.switches.of_workload(made.name).values)
            return
        paths = [path for word in self._rule(made) if (path := _path(word)) is not None]
        yield from self._values(paths) if paths else [self._stack()]

    def _stack(self) -> FromProfile:
        return FromProfile(self.plan.cluster.path, _OPERATOR_SWITCH)

    def _rule(self, made: Made) -> tuple[str, ...]:
        """The words of the operator's step that creates the object."""
        entry = read_operands(self.plan.cluster.spec.stack.release)
        for state in entry.states if entry is not None else ():
            for item in state.objects:
                if item["kind"] == made.body["kind"] and item["name"] and made.name.startswith(item["name"]):
                    exact = made.name == item["name"]
                    if exact or item["name"] == "nvidia-driver-daemonset":
                        return state.enabled
        return ()

    def _volumes(self, key: str) -> dict[str, tuple[str, ...]]:
        """The volumes of a workload by their host paths, as the ledger writes these."""
        if key not in self._host_paths:
            pod = mapping(mapping(pod_template_of(self.made[key].body)).get("spec"))
            found: dict[str, tuple[str, ...]] = {}
            for volume in mappings(pod.get("volumes")):
                if isinstance(volume.get("hostPath"), dict):
                    path = normal_path(word(volume["hostPath"].get("path")))
                    found[path] = (*found.get(path, ()), word(volume.get("name")))
            self._host_paths[key] = found
        return self._host_paths[key]

    def _volumes_at(self, key: str, path: str) -> tuple[str, ...]:
        """The volumes at a path, or at the nearest folder above it: a container may mount a part of one."""
        volumes = self._volumes(key)
        while path not in volumes and path not in ("", "/"):
            path = path.rpartition("/")[0] or "/"
        return volumes.get(path, ())

    def _of_volume(self, name: str, pools: Iterable[str], *, ours: bool) -> LineOrigins:
        """Values that somebody set, else lines of the pools, else the chart's default where it brings it about.

        In a workload of ours, what a pool decides is not the doing of the operator's values.
        """
        switch = self.switches.volumes.get(name)
        if switch is None:
            return ()
        derived = [item for item in self.plan.values if not (self.effects and is_users(item))]
        for path in () if ours and switch.pool else switch.values:
            if any(overlap(setting.path, path) for setting in derived):
                return tuple(self._values([path]))
        lines = tuple(dict.fromkeys(line for pool in pools for line in self._lines(pool, switch.pool)))
        return lines or (tuple(self._values(switch.values[:1])) if switch.by_default else ())

    def _values(self, paths: Iterable[ValuePath]) -> Iterator[LineOrigin]:
        """For each value the profile lines that set it, or the chart's default."""
        for path in paths:
            settings = [item for item in self.plan.values if overlap(item.path, path)]
            lines = [line for setting in settings for line in profile_inputs(setting.origin)]
            if lines:
                yield from lines
            elif settings:
                yield from (setting.origin for setting in settings)
            else:
                default = self.chart.default(path) if self.chart is not None else None
                yield ChartDefault(path, json.dumps(default))

    def value(self, path: ValuePath) -> Any:
        """What the operator's chart is given at a path, its default included."""
        if path not in self._values_known:
            self._values_known[path] = self._find_value(path)
        return self._values_known[path]

    def _find_value(self, path: ValuePath) -> Any:
        for setting in self.plan.values:
            if path[: len(setting.path)] == setting.path:
                found = value_at(setting.value, path[len(setting.path) :], MISSING)
                if found is not MISSING:
                    return found
        return self.chart.default(path) if self.chart is not None else None

    def _lines(self, pool: str, pointers: tuple[str, ...]) -> tuple[FromProfile, ...]:
        key = pool, pointers
        if key not in self._lines_known:
            found = (self.locate(pool, pointer) for pointer in pointers)
            self._lines_known[key] = tuple(dict.fromkeys(line for line in found if line is not None))
        return self._lines_known[key]


def is_users(setting: ValueSetting) -> bool:
    """Whether the cluster's profile sets the value itself; what it causes is found by taking it away."""
    return isinstance(setting.origin, FromProfile) and setting.origin.pointer.startswith(_VALUES)


def _path(word: str) -> ValuePath | None:
    """The value behind a word of a step's rule."""
    if word in ("always", "never"):
        return None
    if word.startswith("mode="):
        return ("sandboxWorkloads", "mode")
    return _SPECIAL.get(word, (word, "enabled"))


MOST = 24
"""Values that are taken away one by one; of more, all of a component are taken away together."""

Effects = dict["ValuePath", frozenset["LineIdentity"]]


def value_effects(given: InstallationInput, ledger: Ledger, paths: Iterable[ValuePath], charts: ChartParts) -> Effects:
    """By value path. Where nothing could be installed without a value, nobody knows what it brings: nothing is told."""
    asked = tuple(dict.fromkeys(paths))
    if len(asked) > MOST:
        asked = tuple(dict.fromkeys(path[:1] for path in asked))
    have = {line_order(line) for line in ledger.lines}
    effects: Effects = {}
    for path in asked:
        without = install(replace(given, values=without_value(given.values, path)), charts)
        if without.errors:
            continue
        rest = installed_ledger(without)
        effects[path] = frozenset(have.difference(line_order(line) for line in rest.lines))
    return effects


def without_value(values: dict[str, Any], path: ValuePath) -> dict[str, Any]:
    """The values but for the one at a path that they have."""
    result: dict[str, Any] = copied(values)
    block = result
    for key in path[:-1]:
        block = block[key]
    block.pop(path[-1], None)
    return result
