"""Random sets of values that are valid for any release of the operator's chart: each value has the type of its place.

The paths are those that the templates read; what a value looks like follows from the name of its last key, else from
the definition of the custom resource that it is written to, else from its default. One number makes one set.
"""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any

from poolsmith.core.facts.versions import at_least
from poolsmith.gpu.catalog.chart_workloads import chart_versions, read_chart_workloads
from poolsmith.gpu.catalog.projections import read_crds
from poolsmith.kubernetes.helm.values_merge import merge_files
from support.plausible_values import BY_KEY, BY_PATH, DISCOVERY, Made, word
from support.recordings import recording
from support.value_recipes import RECIPES

RELEASES = chart_versions("gpu-operator")
APIS = ("monitoring.coreos.com/v1/ServiceMonitor", "resource.k8s.io/v1/DeviceClass")
_DENSITIES = (0.02, 0.06, 0.15, 0.4)
_MASTER_VARIABLES_BREAK = ("0.16.6", "0.17.2", "0.17.3")
"""Versions of feature discovery whose chart writes `master.extraEnvs` among the containers."""
_STRUCTURES = ("config", "global", "global.imagePullSecrets", "checksumValuesOnly")


def value_set(seed: int) -> Made:
    """The values of one number: some paths of a random density, and up to four things that people really set."""
    draw = random.Random(seed)
    values: Made = {}
    density = draw.choice(_DENSITIES)
    for path, schema in _places():
        if draw.random() < density:
            _put(values, path, _value(path, schema, draw))
    for recipe in draw.sample(RECIPES, draw.randint(0, 4)):
        values = merge_files([values, recipe(draw)])
    return values


def served(seed: int) -> tuple[str, ...]:
    """The APIs of the cluster to which a set is installed: none in one of four."""
    return APIS if seed % 4 else ()


def for_release(values: Made, release: str, apis: tuple[str, ...]) -> Made:
    """What of a set a release has, without combinations that its chart refuses and that no type tells."""
    paths = recording("chart_values")[f"gpu-operator/{release}"]["paths"]
    known = {path for path in paths if not path.startswith(f"{DISCOVERY}.")}
    version = discovery_version(release)
    known |= {f"{DISCOVERY}.{path}" for path in _discovery_paths(version)}
    drawn = _cut(copy.deepcopy(values), "", known)
    _settle_configs(drawn)
    _settle_discovery(drawn, version)
    _settle_objects(drawn, release, apis)
    return drawn


def discovery_version(release: str) -> str:
    """The version of feature discovery that a release brings."""
    entry = read_chart_workloads("gpu-operator", release)
    assert entry is not None, release
    return entry.facts["nodeFeatureDiscovery"]


def _discovery_paths(version: str) -> list[str]:
    """What the templates of feature discovery read; a version that is not recorded reads what the next one does."""
    recorded = recording("chart_probes")
    minor = version.rpartition(".")[0]
    named = [
        f"{DISCOVERY}/{version}",
        *(key for key in recorded.below(DISCOVERY) if key.startswith(f"{DISCOVERY}/{minor}.")),
    ]
    found: list[str] = recorded[next(key for key in named if key in recorded)]
    return found


def _cut(values: Made, above: str, known: set[str]) -> Made:
    kept = {}
    for key, value in values.items():
        path = f"{above}{key}"
        if path in known and not (isinstance(value, dict) and any(other.startswith(f"{path}.") for other in known)):
            kept[key] = value
        elif isinstance(value, dict) and any(other.startswith(f"{path}.") for other in known):
            kept[key] = _cut(value, f"{path}.", known)
    return kept


def _put(values: Made, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for key in above:
        values = values.setdefault(key, {})
    values[last] = value


@cache
def _places() -> tuple[tuple[str, Made], ...]:
    """Each path that a template of any release reads to its end, with the newest release's schema of what stands there."""
    found: dict[str, Made] = {}
    for release in RELEASES:
        paths = recording("chart_values")[f"gpu-operator/{release}"]["paths"]
        read = [path for path, fact in paths.items() if fact.get("referenced") and not path.startswith(DISCOVERY)]
        above = {path.rpartition(".")[0] for path in read}
        found |= {path: _schema(release, paths[path]) for path in read if path not in above}
        found |= _discovery(discovery_version(release))
    ends = [path for path in sorted(found) if not any(other.startswith(f"{path}.") for other in found)]
    return tuple((path, found[path]) for path in ends)


def _discovery(version: str) -> dict[str, Made]:
    entry = read_chart_workloads(DISCOVERY, version)
    assert entry is not None, version
    assert entry.defaults is not None, version
    found = {}
    for path in _discovery_paths(version):
        default: Any = entry.defaults
        for key in path.split("."):
            default = default.get(key) if isinstance(default, dict) else None
        if path not in _STRUCTURES and not path.endswith("podDisruptionBudget"):
            found[f"{DISCOVERY}.{path}"] = _of_default(default)
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


def _settle_configs(drawn: Made) -> None:
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


def _settle_discovery(drawn: Made, version: str) -> None:
    discovery = drawn.get(DISCOVERY, {})
    if version in _MASTER_VARIABLES_BREAK:
        discovery.get("master", {}).pop("extraEnvs", None)
    for part in ("worker", "gc", "topologyUpdater"):
        account = discovery.get(part, {}).get("serviceAccount", {})
        if account:
            account["name"] = f"own-{part.lower()}"


def _settle_objects(drawn: Made, release: str, apis: tuple[str, ...]) -> None:
    if not at_least(release, "v26.7"):
        return
    if not apis:
        drawn.get("gpuCluster", {})["deployCR"] = False
    if drawn.get("gpuCluster", {}).get("deployCR"):
        drawn.setdefault("clusterPolicy", {})["deployCR"] = False
        drawn.setdefault("driver", {}).setdefault("nvidiaDriverCRD", {})["enabled"] = True
