"""Record what each value of the operator's chart takes effect with, at each release: `data/values/effects.json`.

    (cd tests/oracle/charts && go build -o /tmp/chart-oracle .)
    python tests/oracle/reconcile/build.py REPOSITORY OPERATORS RELEASE...
    PYTHONPATH=generator:tests python tests/tools/record_value_effects.py CHARTS /tmp/chart-oracle OPERATORS RELEASE...

Each leaf that the templates read gets a value of its type, under settings that may keep it from having an effect. What
Helm renders (`CHARTS` holds the charts as `<tag>/gpu-operator`), and what the release's own controllers make of that on
nodes of each kind, is compared with and without it. Only these releases are recorded anew; `value_effects` of
`tests/recorded/` keeps what the programs showed.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from itertools import combinations, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pointer import MISSING
from poolsmith.fleet.operands.chart.operator_part import ChartPart, ChartParts, stored
from poolsmith.fleet.operands.expansion import ClusterState, Made, Maker
from poolsmith.fleet.operands.install import expand_on_pools
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.charts import SUBCHART, Chart, read_chart
from poolsmith.gpu.catalog.gpu_clusters import served_by
from poolsmith.gpu.catalog.node_labels import WORKLOAD
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
Conditions = dict[str, list[str]]
"""By switch the positions with which a value takes effect."""
_MAKERS = ("driver", "claims")
"""Switches that say which controller makes it."""
SAME_CODE = {"v24.6.1": "v24.6.2", "v24.9.1": "v24.9.2", "v25.3.1": "v25.3.2"}
"""Releases whose `api`, `assets`, `controllers`, `internal`, `manifests` and chart are another's, but for versions in
values.yaml and the text of an error (`git diff` of the tags): what the programs show of one holds for both."""
_SOURCE = "what Helm 3.19.4 and the controllers of NVIDIA/gpu-operator show at each tag"
_SOURCE = "what Helm 3.19.4 and the controllers of NVIDIA/gpu-operator show at each tag"
_TRIES = 12
_MOST_VALUES = 2
_OWN = ("enabled", "enable", "create", "autoUpgrade")
_PLAUSIBLE: dict[str, tuple[Any, ...]] = {
    "featureGates": ({"DynamicMIG": True},),
    "maxUnavailable": ("30%",),
    "nodeSelector": ({WORKLOAD: "container"},),
    "scrapeTimeout": ("5s",),
    "relabelings": ([{"action": "drop", "sourceLabels": ["a"], "regex": "b"}],),
}
_BESIDE: dict[str, Settings] = {
    "create": {"name": "made", "data": {"any": "version: v1"}},
    "enabled": {"repository": "registry.example.com", "image": "made", "version": "v1"},
}
"""What a switch asks for beside it: what it makes, and an image where the chart names none."""
PLACE, RECORDING = "values/effects.json", "value_effects"
NAMESPACE = "gpu-operator"
_GROUP = "nvidia.com/"
_CONTENT = {"data": dict.fromkeys(("licensing.conf", "gridd.conf", "client_configuration_token.tok"), "eAo=")}
_DIGEST, _HASH = "DRIVER_CONFIG_DIGEST", "nvidia.com/last-applied-hash"
_MONITORS = "monitoring.coreos.com/v1/ServiceMonitor"
_STOPPED = ("ReconcileFailed", "ConflictingNodeSelector", "PrerequisiteNotMet")
NOTHING, RESOURCE, REFUSED = "nothing", "resource", "refused"


class Probe:
    """One release. `outcome` of values is what Helm renders beside custom resources, these, and what comes of them.

    It is the prediction's; a `Recorder` asks the real programs.
    """

    def __init__(self, release: str) -> None:
        self.release = release
        chart, known = read_chart(OPERATOR_CHART, release), value_paths().release(release)
        assert chart is not None, f"{release} is not there: tests/tools/import_operands.py"
        assert known is not None, f"{release} is not there: tests/tools/record_release.py"
        self.chart: Chart = chart
        self.apis = frozenset((_MONITORS, *served_by(release, None)))
        self._known: dict[str, tuple[str, str] | None] = {}
        read = {path for path in known.paths.read_paths(release) if path.partition(".")[0] != SUBCHART}
        above = {path.rpartition(".")[0] for path in read}
        self.leaves = tuple(path for path in sorted(read) if path not in above)
        self.read = read
        facts = recording("chart_values")[f"{OPERATOR_CHART}/{release}"]["paths"]
        self.schemas = {path: _schema(release, facts.get(path, {})) for path in self.leaves}

    def outcome(self, settings: Settings) -> tuple[str, str] | None:
        """Digests of the resources and of what comes of them; None where the chart, the API server or the operator
        refuses the values."""
        own = {path: value for path, value in settings.items() if not self._is_default(path, value)}
        key = json.dumps(own, sort_keys=True)
        if key not in self._known:
            found = self._outcome(tree(own))
            self._known[key] = None if found is None else (_digest(found[0]), _digest(found[1]))
        return self._known[key]

    def _is_default(self, path: str, value: Any) -> bool:
        default = self.chart.default(tuple(path.split(".")))
        return type(default) is type(value) and default == value

    def part(self, values: dict[str, Any]) -> ChartPart:
        return ChartParts().of(self.chart, values, NAMESPACE, self.apis)

    def _made(self, part: ChartPart, named: list[dict[str, Any]]) -> Any:
        """What comes of the resources; None where the operator stops at them."""
        state = ClusterState(
            nodes=one_of_each(),
            resources=part.resources,
            objects=(*part.existing, *named),
            namespace=NAMESPACE,
            service_monitors=True,
            api_versions=self.apis,
        )
        expansion = expand_on_pools(self.release, state)
        objects = [item for item in expansion.objects if not str(item["apiVersion"]).startswith(_GROUP)]
        stopped = expansion.errors or any(
            item["status"] == "True" and item["reason"] in _STOPPED
            for condition in expansion.conditions
            for item in condition.conditions
        )
        return None if stopped else (objects, expansion.node_labels, expansion.namespace_labels)

    def _outcome(self, values: dict[str, Any]) -> tuple[Any, Any] | None:
        part = self.part(values)
        if part.errors or part.unknown:
            return None
        made = self._made(part, [*_named(values)])
        return None if made is None else (part.resources, (made, [item.body for item in part.made]))

    def beside(self, switch: str) -> Settings:
        """What is given with a switch; nothing with another value."""
        block, _, key = switch.rpartition(".")
        wanted = {f"{block}.{name}": value for name, value in _BESIDE.get(key, {}).items()}
        return {
            path: value if isinstance(value, str) or self.schemas[path].get("type") == "object" else "text"
            for path, value in wanted.items()
            if path in self.schemas and not self.chart.default(tuple(path.split(".")))
        }

    def values_of(self, path: str) -> Iterator[Any]:
        """Values of its type, none of them its default."""
        default, draw = self.chart.default(tuple(path.split("."))), random.Random(path)
        schema = self.schemas[path]
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

    def __init__(self, release: str, charts: Path, helm: Program, operators: Path | None = None) -> None:
        super().__init__(release)
        self._folder, self._helm = charts / release / OPERATOR_CHART, helm
        self._operator = OperatorProgram(operators, release) if operators else None
        self._answers: dict[str, Any] = {}

    def part(self, values: dict[str, Any]) -> ChartPart:
        answer = self._helm.ask(chart_question(self._folder, self.release, NAMESPACE, sorted(self.apis), values))
        if "error" in answer:
            return ChartPart(errors=(answer["error"],))
        objects = sorted(answer["objects"], key=lambda item: json.dumps(item, sort_keys=True))
        custom = [item for item in objects if item["apiVersion"].startswith(_GROUP)]
        others = tuple(item for item in objects if item not in custom)
        resources, refused = stored(self.release, custom)
        made = tuple(Made(item, Maker.CHART, OPERATOR_CHART) for item in others)
        return ChartPart(resources=resources, existing=_in_namespace(others), made=made, errors=refused)

    def _made(self, part: ChartPart, named: list[dict[str, Any]]) -> Any:
        """Many values change nothing of what the operator is given: then it is asked once."""
        key = json.dumps((part.resources, named, part.existing), sort_keys=True)
        if key not in self._answers:
            assert self._operator is not None
            assert self._operator is not None
            asked = self._operator.ask(part.resources, one_of_each(), named, part.existing, NAMESPACE)
            self._answers[key] = _without_digests(asked.get("objects"))
        return self._answers[key]


def _in_namespace(objects: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    return tuple({**item, "metadata": {"namespace": NAMESPACE, **item["metadata"]}} for item in objects)


def _digest(found: Any) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _without_digests(node: Any) -> Any:
    """What changes nothing else only makes the driver start anew."""
    if isinstance(node, list):
        return [_without_digests(item) for item in node if not (isinstance(item, dict) and item.get("name") == _DIGEST)]
    if isinstance(node, dict):
        return {key: _without_digests(value) for key, value in node.items() if key != _HASH}
    return node


_NAMED = {"name": "ConfigMap", "configMapName": "ConfigMap", "secretName": "Secret", "secretEnv": "Secret"}


def _named(node: Any) -> Iterator[dict[str, Any]]:
    """What values name, so that the operator does not wait for it."""
    for key, value in node.items() if isinstance(node, dict) else ():
        if key in _NAMED and isinstance(value, str):
            metadata = {"name": value, "namespace": NAMESPACE}
            yield {"apiVersion": "v1", "kind": _NAMED[key], "metadata": metadata} | _CONTENT
        yield from _named(value)


def tree(settings: Mapping[str, Any]) -> dict[str, Any]:
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
            found[own] = {"true": {own: True} | probe.beside(own), "false": {own: False} | probe.beside(own)}
    return {name: positions for name, positions in found.items() if len(positions) > 1}


def effect(probe: Probe, path: str, expected: Any = None) -> str | Conditions | list[Conditions]:
    """The positions of switches with which it has an effect; or why it has none with any that is tried. What is
    `expected` is tried first, and pairs of switches only where each alone does not show it."""
    known = variables(probe, path)
    best = REFUSED
    hint = expected[0] if isinstance(expected, list) else expected
    first = [{name: at[0] for name, at in hint.items() if at}] if isinstance(hint, dict) else []
    for tried in (first, contexts(known), pairs(known)):
        for position in tried:
            for value in islice(probe.values_of(path), _MOST_VALUES):
                word = changed(probe, path, value, given(known, position))
                if not isinstance(word, str):
                    return conditions(probe, path, value, known, position)
                best = word if (word, best) != (NOTHING, RESOURCE) and word != REFUSED else best
        if best == expected:
            break
    of_code: dict[str, dict[str, list[str]]] = store.read_yaml("values/switches.yaml")["code"]
    return of_code.get(path, best)


def contexts(known: dict[str, dict[str, Settings]]) -> Iterator[dict[str, str]]:
    """The defaults; then all own switches on, with each position of the others."""
    yield {}
    yield _own(known)
    yield from ({**_own(known), **dict([place])} for places in _shared(known) for place in places)


def pairs(known: dict[str, dict[str, Settings]]) -> Iterator[dict[str, str]]:
    """All own switches on, with each pair of positions of others."""
    for first, second in combinations(_shared(known), 2):
        yield from ({**_own(known), **dict(pair)} for pair in product(first, second))


def _shared(known: dict[str, dict[str, Settings]]) -> list[list[tuple[str, str]]]:
    return [[(name, at) for at in positions] for name, positions in known.items() if name in switches()]


def _own(known: dict[str, dict[str, Settings]]) -> dict[str, str]:
    return {name: "true" for name in known if name not in switches()}


def given(known: dict[str, dict[str, Settings]], position: Mapping[str, str]) -> Settings:
    """In the order of the switches: later ones ask for settings of those before."""
    found: Settings = {}
    for name, positions in known.items():
        found |= positions.get(position.get(name, ""), {})
    return found


def changed(probe: Probe, path: str, value: Any, settings: Settings) -> bool | str:
    """Whether a value changes what is made; the word for what changes otherwise."""
    settings = probe.beside(path) | settings
    before, after = probe.outcome(settings), probe.outcome({**settings, path: value})
    if before is None or after is None:
        return REFUSED
    return True if before[1] != after[1] else RESOURCE if before[0] != after[0] else NOTHING


def conditions(
    probe: Probe, path: str, value: Any, known: dict[str, dict[str, Settings]], position: dict[str, str]
) -> Conditions | list[Conditions]:
    """Of each switch the positions that it works with, the others as they are; without those that don't matter. By who
    makes it where what one of them ignores another takes; without who takes nothing of it."""
    found = _conditions(probe, path, value, known, position) or {}
    for name in _MAKERS:
        places = [at for at in known.get(name, ()) if name not in found or at in found[name]]
        tried = {at: _conditions(probe, path, value, known, {**position, name: at}, fixed=name) for at in places}
        by_maker = {at: item for at, item in tried.items() if item is not None}
        if len(by_maker) < len(places):
            found[name] = [*by_maker]
        if any(item != next(iter(by_maker.values())) for item in by_maker.values()):
            return [item | {name: [at]} for at, item in by_maker.items()]
    return found


def _conditions(
    probe: Probe,
    path: str,
    value: Any,
    known: dict[str, dict[str, Settings]],
    position: dict[str, str],
    fixed: str | None = None,
) -> Conditions | None:
    """None where it changes nothing with any position of what is not `fixed`: a refusal is no effect."""
    words = {
        name: {at: changed(probe, path, value, given(known, {**position, name: at})) for at in positions}
        for name, positions in known.items()
        if name != fixed
    }
    if words and not any(word is True for found in words.values() for word in found.values()):
        return None
    return {
        name: [at for at, word in found.items() if word not in (NOTHING, RESOURCE)]
        for name, found in words.items()
        if any(word in (NOTHING, RESOURCE) for word in found.values())
    }


def record(probe: Probe) -> dict[str, Any]:
    expected = recorded_effects(probe.release)
    return {path: effect(probe, path, expected.get(path)) for path in probe.leaves}


def main(charts: str, helm: str, operators: str, *only: str) -> None:
    program = Program([helm])
    for release in only:
        found = record(Recorder(release, Path(charts), program, Path(operators)))
        write(dict.fromkeys((release, *(item for item, other in SAME_CODE.items() if other == release)), found))
        print(release, len(found), flush=True)


def write(found: Mapping[str, dict[str, Any]]) -> None:
    """Effects by release into the table, in the place of what it had of these paths, and into the recording."""
    place = store.DATA / PLACE
    table = json.loads(place.read_text("utf-8"))
    known = {item: _recorded(item) | found.get(item, {}) for item in (*table["releases"], *found)}
    place.write_text(text_of_table(known, [item for item in chart_versions(OPERATOR_CHART) if item in known], _SOURCE))
    old = recording(RECORDING)
    shown = {f"{release}/{path}": effect for release, paths in found.items() for path, effect in paths.items()}
    (DATA / f"{RECORDING}{ENDING}").write_bytes(packed({**{key: old[key] for key in old}, **shown}))


def _recorded(release: str) -> dict[str, Any]:
    paths = json.loads((store.DATA / PLACE).read_text("utf-8"))["values"]
    known = recorded_effects(release)
    found = {path: known.get(path) for path in paths}
    return {path: effect for path, effect in found.items() if effect is not None}


def text_of_table(known: Mapping[str, dict[str, Any]], releases: list[str], source: str) -> str:
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
        "source": source,
        "releases": releases,
    }
    lines_of_head = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return f'{{\n{lines_of_head},\n "values": {{\n{body}\n }}\n}}\n'


if __name__ == "__main__":
    main(*sys.argv[1:])
