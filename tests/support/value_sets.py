"""Random sets of values that are valid for a release of the operator's chart: each value has the type of its place.

The paths are those that the templates read; what a value looks like follows from the name of its last key, else from
the definition of the custom resource that it is written to, else from its default. One number makes one set.
"""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any

from poolsmith.catalog.chart_workloads import read_chart_workloads
from poolsmith.catalog.charts import read_chart
from poolsmith.catalog.crds import read_crds
from poolsmith.catalog.versions import at_least
from poolsmith.operands.chart.values_merge import merge_files
from support.plausible_values import BY_KEY, BY_PATH, DISCOVERY, Made, word
from support.recordings import recording
from support.value_recipes import RECIPES

RELEASES = ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
APIS = ("resource.k8s.io/v1/DeviceClass", "monitoring.coreos.com/v1/ServiceMonitor")
_DENSITIES = (0.02, 0.06, 0.15, 0.4)
_MASTER_VARIABLES_BREAK = ("v24.9.2", "v25.3.4")
"""Releases whose chart writes `master.extraEnvs` among the containers."""
_STRUCTURES = ("config", "global", "global.imagePullSecrets", "checksumValuesOnly")


def value_set(release: str, seed: int) -> Made:
    """The values of one number: some paths of a random density, and up to four things that people really set."""
    draw = random.Random(f"{release}/{seed}")
    values = _random_paths(release, draw)
    for recipe in draw.sample(RECIPES, draw.randint(0, 4)):
        values = merge_files([values, recipe(draw)])
    return _sound(release, values)


def _random_paths(release: str, draw: random.Random) -> Made:
    values: Made = {}
    density = draw.choice(_DENSITIES)
    for path, schema in _places(release):
        if draw.random() < density:
            _put(values, path, _value(path, schema, draw))
    return values


def _put(values: Made, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for key in above:
        values = values.setdefault(key, {})
    values[last] = value


@cache
def _places(release: str) -> tuple[tuple[str, Made], ...]:
    """Each path that a template reads to its end, with the schema of what stands there."""
    paths = recording("chart_values")[f"gpu-operator/{release}"]["paths"]
    read = [path for path, fact in paths.items() if fact.get("referenced") and not path.startswith(DISCOVERY)]
    above = {path.rpartition(".")[0] for path in read}
    own = [(path, _schema(release, paths[path])) for path in sorted(read) if path not in above]
    return (*own, *_discovery(release))


def _discovery(release: str) -> list[tuple[str, Made]]:
    entry = read_chart_workloads("gpu-operator", release)
    assert entry is not None, release
    version = entry.facts["nodeFeatureDiscovery"]
    own = read_chart_workloads(DISCOVERY, version)
    assert own is not None, version
    assert own.defaults is not None, version
    found = []
    for path in recording("chart_probes")[f"{DISCOVERY}/{version}"]:
        default: Any = own.defaults
        for key in path.split("."):
            default = default.get(key) if isinstance(default, dict) else None
        if path not in _STRUCTURES and not path.endswith("podDisruptionBudget"):
            found.append((f"{DISCOVERY}.{path}", _of_default(default)))
    return found


def _schema(release: str, fact: Made) -> Made:
    for write in fact.get("writes", ()):
        definition = read_crds(release).get(write["kind"])
        node: Any = definition.schema if definition else None
        for key in write["field"].split("."):
            node = node.get("properties", {}).get(key) if isinstance(node, dict) else None
        if isinstance(node, dict) and "type" in node:
            return node
    return {"type": fact["type"]} if "type" in fact else {}


def _of_default(default: Any) -> Made:
    names = ((bool, "boolean"), (int, "integer"), (str, "string"), (list, "array"), (dict, "object"))
    return {"type": next((name for kind, name in names if isinstance(default, kind)), "string")}


def _value(path: str, schema: Made, draw: random.Random) -> Any:
    key = path.rpartition(".")[2]
    made = BY_PATH.get(path) or BY_KEY.get(key)
    if made is not None and not (key in ("image", "config", "name") and schema.get("type") == "object"):
        return made(draw)
    return _of_schema(schema, draw, key)


def _of_schema(schema: Made, draw: random.Random, key: str = "", depth: int = 0) -> Any:
    if key in BY_KEY and depth:
        return BY_KEY[key](draw)
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return draw.choice((1, "25%"))
    match schema.get("type"):
        case "boolean":
            return draw.random() < 0.5
        case "integer":
            least = int(schema.get("minimum", 1))
            return draw.randint(least, int(schema.get("maximum", least + 40)))
        case "array":
            return [_of_schema(schema.get("items", {}), draw, "", depth + 1) for _ in range(draw.randint(0, 2))]
        case "object" if schema.get("properties"):
            names = sorted(schema["properties"])
            kept = [name for name in names if name in schema.get("required", ()) or draw.random() < 0.5]
            return {name: _of_schema(schema["properties"][name], draw, name, depth + 1) for name in kept}
        case "object":
            return {f"example.com/{word(draw)}": word(draw) for _ in range(draw.randint(0, 2))}
    return word(draw)


def _sound(release: str, values: Made) -> Made:
    """Without the combinations that the chart refuses, and that no type tells."""
    drawn = copy.deepcopy(values)
    cdi, plugin = drawn.get("cdi", {}), drawn.get("devicePlugin", {}).get("config", {})
    if cdi.get("nriPluginEnabled"):
        drawn["cdi"] = {**cdi, "enabled": True}
        drawn.setdefault("toolkit", {})["enabled"] = True
    for part in ("devicePlugin", "migManager", "dcgmExporter"):
        config = drawn.get(part, {}).get("config", {})
        if config.get("create"):
            config["name"] = f"made-{part.lower()}"
    if plugin.get("create") and not plugin.get("data"):
        plugin["data"] = {"any": "version: v1\n"}
    discovery = drawn.get(DISCOVERY, {})
    if release in _MASTER_VARIABLES_BREAK:
        discovery.get("master", {}).pop("extraEnvs", None)
    for part in ("worker", "gc"):
        account = discovery.get(part, {}).get("serviceAccount", {})
        if account.get("create"):
            account["name"] = f"own-{part}"
    if at_least(release, "v26.7"):
        if drawn.get("gpuCluster", {}).get("deployCR"):
            drawn.setdefault("clusterPolicy", {})["deployCR"] = False
            drawn.setdefault("driver", {}).setdefault("nvidiaDriverCRD", {})["enabled"] = True
    else:
        drawn.pop("gpuCluster", None)
        drawn.pop("clusterPolicy", None)
    return drawn


def merged_defaults(release: str) -> Made:
    """The chart's own values, as the catalog has them."""
    chart = read_chart("gpu-operator", release)
    assert chart is not None, release
    return chart.defaults
