"""Record what each value of the operator's chart takes effect with, at each release: `data/values/effects.json`.

    (cd tests/oracle/charts && go build -o /tmp/chart-oracle .)
    python tests/oracle/reconcile/build.py REPOSITORY OPERATORS RELEASE...
    PYTHONPATH=generator:tests python tests/tools/record_value_effects.py CHARTS /tmp/chart-oracle OPERATORS RELEASE...

Each leaf that the templates read gets a value of its type, under settings that may keep it from having an effect. What
Helm renders (`CHARTS` holds the charts as `<tag>/gpu-operator`), and what the release's own ClusterPolicy controller
makes of that on nodes of each kind, is compared with and without it. What NVIDIADriver and GPUCluster objects bring is
the prediction, which `tests/fleet/operands/` holds against the operator's own recorded runs. Only these releases are
recorded anew; `value_effects` of `tests/recorded/` keeps what the programs showed.
"""

from __future__ import annotations

import json
import random
import sys
from itertools import combinations, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pointer import MISSING
from poolsmith.fleet.operands.chart.operator_part import ChartPart, ChartParts, stored
from poolsmith.fleet.operands.expansion import ClusterState, Expansion, Made, Maker
from poolsmith.fleet.operands.install import expand_on_pools
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.charts import SUBCHART, Chart, read_chart
from poolsmith.gpu.catalog.gpu_clusters import served_by
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.value_effects import recorded_effects, switches
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.guard.rules.setup.configured import one_of_each
from poolsmith.kubernetes.helm.values_merge import merge_files
from support.oracle_programs import OperatorProgram, Program, chart_question
from support.recordings import DATA, ENDING, packed, recording
from support.value_sets import _schema, _value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Settings = dict[str, Any]
"""Values by dotted path."""
_TRIES = 12
_MOST_VALUES = 2
_OWN = ("enabled", "enable", "create", "autoUpgrade")
_PLAUSIBLE: dict[str, tuple[Any, ...]] = {
    "featureGates": ({"DynamicMIG": True},),
    "maxUnavailable": ("30%",),
    "relabelings": ([{"action": "drop", "sourceLabels": ["a"], "regex": "b"}],),
}
_MADE = {"name": "made", "data": {"any": "version: v1"}}
"""What a switch that makes a map asks for beside it."""
PLACE, RECORDING = "values/effects.json", "value_effects"
NAMESPACE = "gpu-operator"
_GROUP = "nvidia.com/"
_MONITORS = "monitoring.coreos.com/v1/ServiceMonitor"
NOTHING, RESOURCE, REFUSED = "nothing", "resource", "refused"


class Probe:
    """One release. `outcome` of values is what Helm renders beside custom resources, these, and what comes of them.

    It is the prediction's; a `Recorder` asks the real programs.
    """

    def __init__(self, release: str) -> None:
        self.release = release
        chart = read_chart(OPERATOR_CHART, release)
        assert chart is not None, release
        self.chart: Chart = chart
        self.apis = frozenset((_MONITORS, *served_by(release, None)))
        self._known: dict[str, tuple[Any, Any] | None] = {}
        known = value_paths().release(release)
        assert known is not None, release
        read = {path for path in known.paths.read_paths(release) if path.partition(".")[0] != SUBCHART}
        above = {path.rpartition(".")[0] for path in read}
        self.leaves = tuple(path for path in sorted(read) if path not in above)
        self.read = read
        facts = recording("chart_values")[f"{OPERATOR_CHART}/{release}"]["paths"]
        self._schemas = {path: _schema(release, facts.get(path, {})) for path in self.leaves}

    def outcome(self, settings: Settings, *, keep: bool = True) -> tuple[Any, Any] | None:
        """None where the chart, the API server or the operator refuses the values."""
        key = json.dumps(settings, sort_keys=True)
        if key not in self._known:
            found = self._outcome(_tree(settings))
            if keep:
                self._known[key] = found
            return found
        return self._known[key]

    def _part(self, values: dict[str, Any]) -> ChartPart:
        return ChartParts().of(self.chart, values, NAMESPACE, self.apis)

    def _made(self, part: ChartPart, values: dict[str, Any], expansion: Expansion) -> Any:
        """What comes of the resources; None where the operator stops at them."""
        objects = [item for item in expansion.objects if not str(item["apiVersion"]).startswith(_GROUP)]
        return None if expansion.errors else (objects, expansion.node_labels, expansion.namespace_labels)

    def _outcome(self, values: dict[str, Any]) -> tuple[Any, Any] | None:
        part = self._part(values)
        if part.errors or part.unknown:
            return None
        state = ClusterState(
            nodes=one_of_each(),
            resources=part.resources,
            objects=(*part.existing, *_maps(values)),
            namespace=NAMESPACE,
            service_monitors=True,
            api_versions=self.apis,
        )
        made = self._made(part, values, expand_on_pools(self.release, state))
        return None if made is None else (part.resources, (made, [item.body for item in part.made]))

    def values_of(self, path: str) -> Iterator[Any]:
        """Values of its type, none of them its default."""
        default, draw = self.chart.default(tuple(path.split("."))), random.Random(path)
        schema = self._schemas[path]
        if isinstance(default, bool) or schema.get("type") == "boolean":
            yield from (item for item in (True, False) if item is not default)
            return
        seen: list[Any] = [default, "", [], {}, None]
        for value in (
            *_PLAUSIBLE.get(path.rpartition(".")[2], ()),
            *(_value(path, schema, draw) for _ in range(_TRIES)),
        ):
            if value not in seen:
                seen.append(value)
                yield value


class Recorder(Probe):
    """One release as Helm and the operator's own code have it."""

    def __init__(self, release: str, charts: Path, helm: Program, operators: Path) -> None:
        super().__init__(release)
        self._folder, self._helm = charts / release / OPERATOR_CHART, helm
        self._operator = OperatorProgram(operators, release)
        self._answers: dict[str, dict[str, Any]] = {}

    def _part(self, values: dict[str, Any]) -> ChartPart:
        answer = self._helm.ask(chart_question(self._folder, self.release, NAMESPACE, sorted(self.apis), values))
        if "error" in answer:
            return ChartPart(errors=(answer["error"],))
        objects = sorted(answer["objects"], key=lambda item: json.dumps(item, sort_keys=True))
        custom = [item for item in objects if item["apiVersion"].startswith(_GROUP)]
        others = tuple(item for item in objects if item not in custom)
        resources, refused = stored(self.release, custom)
        made = tuple(Made(item, Maker.CHART, OPERATOR_CHART) for item in others)
        return ChartPart(resources=resources, existing=_in_namespace(others), made=made, errors=refused)

    def _made(self, part: ChartPart, values: dict[str, Any], expansion: Expansion) -> Any:
        policy = next((item for item in part.resources if item["kind"] == "ClusterPolicy"), None)
        if policy is None:
            return super()._made(part, values, expansion)
        answer = self._asked(policy, [*_maps(values)], part.existing)
        if "error" in answer:
            return None
        found = answer["objects"]
        names = {(item["kind"], item["metadata"]["name"]) for item in found}
        beside = [item for item in expansion.objects if _name(item) not in names and item["kind"] == "DaemonSet"]
        return found, beside, expansion.node_labels if len(part.resources) > 1 else {}

    def _asked(self, policy: Any, maps: list[dict[str, Any]], chart: tuple[dict[str, Any], ...]) -> dict[str, Any]:
        """Many values change nothing of what the operator is given: then it is asked once."""
        key = json.dumps((policy, maps, chart), sort_keys=True)
        if key not in self._answers:
            self._answers[key] = self._operator.ask(policy, one_of_each(), maps, chart, NAMESPACE)
        return self._answers[key]


def _name(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def _in_namespace(objects: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    return tuple({**item, "metadata": {"namespace": NAMESPACE, **item["metadata"]}} for item in objects)


def _maps(node: Any) -> Iterator[dict[str, Any]]:
    """What values name, so that the operator does not wait for it."""
    for key, value in node.items() if isinstance(node, dict) else ():
        if key in ("name", "configMapName") and isinstance(value, str):
            data = {"licensing.conf": "x", "gridd.conf": "x", "client_configuration_token.tok": "x"}
            yield {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": value, "namespace": NAMESPACE},
                "data": data,
            }
        yield from _maps(value)


def _tree(settings: Settings) -> dict[str, Any]:
    trees = []
    for path, value in settings.items():
        tree = value
        for key in reversed(path.split(".")):
            tree = {key: tree}
        trees.append(tree)
    return merge_files(trees) if trees else {}


def variables(probe: Probe, path: str) -> dict[str, dict[str, Settings]]:
    """What may keep a value from having an effect: by name of a switch its positions, each with its settings."""
    found = {name: switch.positions(probe.read, path) for name, switch in switches().items() if switch.may_hold(path)}
    shared = {setting for positions in found.values() for settings in positions.values() for setting in settings}
    keys = path.split(".")
    for own in (".".join((*keys[:length], last)) for length in range(1, len(keys)) for last in _OWN):
        if own in probe.read and own not in (*shared, path):
            beside = {f"{own.removesuffix('.create')}.{key}": value for key, value in _MADE.items()}
            known = {other: value for other, value in beside.items() if own.endswith(".create") and other != path}
            found[own] = {"true": {own: True, **known}, "false": {own: False, **known}}
    return {name: positions for name, positions in found.items() if len(positions) > 1}


def effect(probe: Probe, path: str, expected: Any = None) -> str | dict[str, list[str]]:
    """The positions of switches with which it has an effect; or why it has none with any that is tried. What is
    `expected` is tried first."""
    known = variables(probe, path)
    best = REFUSED
    hint = {name: at[0] for name, at in expected.items() if at} if isinstance(expected, dict) else {}
    for position in (*([hint] if hint else []), *contexts(known)):
        for value in islice(probe.values_of(path), _MOST_VALUES):
            word = changed(probe, path, value, given(known, position))
            if not isinstance(word, str):
                return conditions(probe, path, value, known, position)
            best = word if (word, best) != (NOTHING, RESOURCE) and word != REFUSED else best
    of_code: dict[str, dict[str, list[str]]] = store.read_yaml("values/switches.yaml")["code"]
    return of_code.get(path, best)


def contexts(known: dict[str, dict[str, Settings]]) -> Iterator[dict[str, str]]:
    """The defaults; then all own switches on, with each position of the others, and each pair of them."""
    yield {}
    shared = [[(name, at) for at in positions] for name, positions in known.items() if name in switches()]
    own = {name: "true" for name in known if name not in switches()}
    yield own
    for choices in shared:
        yield from ({**own, name: position} for name, position in choices)
    for first, second in combinations(shared, 2):
        yield from ({**own, **dict(pair)} for pair in product(first, second))


def given(known: dict[str, dict[str, Settings]], position: Mapping[str, str]) -> Settings:
    found: Settings = {}
    for name, at in position.items():
        found |= known[name].get(at, {})
    return found


def changed(probe: Probe, path: str, value: Any, settings: Settings) -> bool | str:
    """Whether a value changes what is made; the word for what changes otherwise."""
    before = probe.outcome(settings)
    after = probe.outcome({**settings, path: value}, keep=False)
    if before is None or after is None:
        return REFUSED
    return True if before[1] != after[1] else RESOURCE if before[0] != after[0] else NOTHING


def conditions(
    probe: Probe, path: str, value: Any, known: dict[str, dict[str, Settings]], position: dict[str, str]
) -> dict[str, list[str]]:
    """Of each switch the positions that it works with, the others as they are; without those that don't matter."""
    found = {}
    for name, positions in known.items():
        words = {
            at: position.get(name) == at or changed(probe, path, value, given(known, {**position, name: at}))
            for at in positions
        }
        off = [at for at, word in words.items() if word in (NOTHING, RESOURCE)]
        if off:
            found[name] = [at for at in positions if at not in off]
    return found


def record(probe: Probe) -> dict[str, Any]:
    expected = recorded_effects(probe.release)
    return {path: effect(probe, path, expected.get(path)) for path in probe.leaves}


def main(charts: str, helm: str, operators: str, *only: str) -> None:
    program = Program([helm])
    for release in only:
        found = record(Recorder(release, Path(charts), program, Path(operators)))
        write({release: found})
        print(release, len(found), flush=True)


def write(found: Mapping[str, dict[str, Any]]) -> None:
    """Effects by release into the table, in the place of what it had of these paths, and into the recording."""
    place = store.DATA / PLACE
    table = json.loads(place.read_text("utf-8"))
    known = {item: _recorded(item) | found.get(item, {}) for item in (*table["releases"], *found)}
    place.write_text(_text(known, [item for item in chart_versions(OPERATOR_CHART) if item in known]))
    old = recording(RECORDING)
    shown = {f"{release}/{path}": effect for release, paths in found.items() for path, effect in paths.items()}
    (DATA / f"{RECORDING}{ENDING}").write_bytes(packed({**{key: old[key] for key in old}, **shown}))


def _recorded(release: str) -> dict[str, Any]:
    paths = json.loads((store.DATA / PLACE).read_text("utf-8"))["values"]
    known = recorded_effects(release)
    found = {path: known.get(path) for path in paths}
    return {path: effect for path, effect in found.items() if effect is not None}


def _text(known: Mapping[str, dict[str, Any]], releases: list[str]) -> str:
    """A line a path: from which release on which effect holds; null where the release does not read it."""
    lines = []
    for path in sorted({path for item in known.values() for path in item}):
        runs: list[list[Any]] = []
        for release in releases:
            found = known[release].get(path, MISSING)
            shown = None if found is MISSING else found
            if not runs or runs[-1][1] != shown:
                runs.append([release, shown])
        if runs[0][1] is None:
            runs = runs[1:]
        lines.append(f"  {json.dumps(path)}: {json.dumps(runs)}")
    body = ",\n".join(lines)
    head = {
        "source": "predictions of NVIDIA/gpu-operator at each tag, held against Helm 3.19.4 and the operator's own "
        "ClusterPolicy controller where tests/recorded/data has what they showed",
        "releases": releases,
    }
    lines_of_head = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return f'{{\n{lines_of_head},\n "values": {{\n{body}\n }}\n}}\n'


if __name__ == "__main__":
    main(*sys.argv[1:])
