"""Which values a chart beside the operator's reads: from its own files, at one version or at all that are recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts.versions import version_key
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.catalog.version_ranges import is_range, released_in
from poolsmith.gpu.importing.chart_entries import path_entry, ranges
from poolsmith.gpu.importing.chart_import import value_map, whole_values

if TYPE_CHECKING:
    from collections.abc import Mapping


def stack_chart_entry(found: Mapping[str, dict[str, bytes]], *, source: str) -> dict[str, Any]:
    """Of the files of a chart by their paths, at each version in its order. Raises PoolsmithError.

    A schema of the values is kept as the types by path that its newest one takes.
    """
    tags = list(found)
    subcharts = _subcharts({tag: chart_about(files) for tag, files in found.items()})
    facts: dict[str, dict[str, dict[str, Any]]] = {}
    free: dict[str, list[str]] = {}
    for tag in tags:
        whole = whole_values(found[tag])
        for path, fact in value_map(found[tag]).items():
            if tag not in subcharts.get(path.partition(".")[0], {"versions": ()})["versions"]:
                fact["referenced"] = fact.get("referenced") or not whole.isdisjoint(_above(path))
                facts.setdefault(path, {})[tag] = fact
        for path in whole:
            free.setdefault(path, []).append(tag)
    paths = {path: path_entry(path, facts[path], tags, {}) for path in sorted(facts)}
    for path, fact in paths.items():
        if path in free and any(other.startswith(f"{path}.") for other in paths):
            fact["free"] = ranges(free[path], tags)
    schemas = {tag: files["values.schema.json"] for tag, files in found.items() if "values.schema.json" in files}
    return {"source": source, "tags": tags, "subcharts": subcharts, **_schema(schemas), "paths": paths}


def chart_about(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Chart.yaml. Raises PoolsmithError."""
    return mapping_in(files, "Chart.yaml")


def mapping_in(files: Mapping[str, bytes], path: str) -> dict[str, Any]:
    """A file of a chart that holds a mapping. Raises PoolsmithError."""
    try:
        found = read_documents(files[path].decode())[0]
    except (KeyError, IndexError, UnicodeDecodeError, YamlProblem):
        raise PoolsmithError(f"there is no {path} that can be read") from None
    if not isinstance(found, dict):
        raise PoolsmithError(f"{path} is not a mapping")
    return found


def _above(path: str) -> list[str]:
    steps = path.split(".")
    return [".".join(steps[:length]) for length in range(1, len(steps))]


def _subcharts(about: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """By the key of their values: the chart, its version at each tag, and the paths that switch it on."""
    found: dict[str, Any] = {}
    for tag, chart in about.items():
        for item in chart.get("dependencies") or ():
            entry = found.setdefault(item.get("alias") or item["name"], {"chart": item["name"], "versions": {}})
            entry["versions"][tag] = _one_version(item["name"], str(item["version"]))
            if item.get("condition"):
                entry["conditions"] = [path.strip() for path in item["condition"].split(",")]
    return found


def _one_version(chart: str, said: str) -> str:
    """Of a range, the newest recorded one in it; record Node Feature Discovery first."""
    known = value_paths(chart).tags if chart in CHART_OF else ()
    return next(reversed(released_in(said, known)), said) if said not in known and is_range(said) else said


def _schema(schemas: dict[str, bytes]) -> dict[str, Any]:
    """The types that the newest schema takes, by path, and since when the chart has one."""
    if not schemas:
        return {}
    tags = sorted(schemas, key=version_key)
    types: dict[str, list[str]] = {}
    _types("", json.loads(schemas[tags[-1]]), types)
    return {"schemaSince": tags[0], "schema": types}


def _types(path: str, node: dict[str, Any], found: dict[str, list[str]]) -> None:
    said = node.get("type")
    if path and said:
        found[path] = [said] if isinstance(said, str) else said
    for key, child in node.get("properties", {}).items():
        _types(f"{path}.{key}" if path else key, child, found)
