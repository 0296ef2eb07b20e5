"""Profiles with values that nobody writes, but that the schemas of profiles allow: the longest name, the oddest key.

What the schema lets through, a later pass may refuse. What is generated has to be taken by whoever reads it.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from property.unlike_pools import fleets

_SCHEMAS = Path(__file__).resolve().parents[3] / "profiles/_schemas"
_FILES = {"Cluster": ("cluster", "ClusterSpec"), "NodePool": ("node-pool", "PoolSpec")}
_LEFT_ALONE = {
    "extends",
    "values",
    "acknowledge",
    "id",
    "product",
    "release",
    "engine",
    "distribution",
    "upgradingFrom",
    "ring",
    "beside",
    "after",
    "verify",
    "hydrate",
    "provisionedBy",
    "versions",
    "releases",
    "repoConfig",
    "certConfig",
    "kernelModuleConfig",
}
"""Fields whose values are names of something that has to exist, that have random values of their own, or that stand in the
place of another field."""


@cache
def _definitions(kind):
    return json.loads((_SCHEMAS / f"{_FILES[kind][0]}.schema.json").read_text("utf-8"))["$defs"]


@cache
def fields(kind):
    """Every field below `spec` by its path, with its schema; no lists on the way."""
    found = []

    def walk(name, path):
        for key, schema in _definitions(kind)[name].get("properties", {}).items():
            if key in _LEFT_ALONE:
                continue
            bare = next((one for one in schema.get("anyOf", ()) if one != {"type": "null"}), schema)
            below = bare.get("$ref", "").rpartition("/")[2]
            if below:
                walk(below, (*path, key))
            else:
                found.append(((*path, key), bare))

    walk(_FILES[kind][1], ())
    return found


def values(kind, schema):
    """Any value that a schema allows: texts at both ends of their length as often as between."""
    if "$ref" in schema:
        return objects(kind, _definitions(kind)[schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of(*(values(kind, one) for one in schema["anyOf"] if one != {"type": "null"}))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "boolean":
        return st.booleans()
    if schema.get("type") == "integer":
        low, high = schema["minimum"], schema["maximum"]
        return st.one_of(st.sampled_from((low, high)), st.integers(low, high))
    if schema.get("type") == "array":
        return st.lists(values(kind, schema["items"]), min_size=1, max_size=2, unique_by=json.dumps)
    if schema.get("type") == "object":
        keys = st.from_regex(schema["propertyNames"]["pattern"], fullmatch=True)
        return st.dictionaries(keys, values(kind, schema["additionalProperties"]), min_size=1, max_size=2)
    if schema.get("type") == "string":
        return st.from_regex(schema["pattern"].replace("\\d", "[0-9]"), fullmatch=True)
    return st.just("all")


@st.composite
def objects(draw, kind, schema):
    """An object with what it needs, and some of the rest."""
    needed = schema.get("required", ())
    return {
        key: draw(values(kind, below))
        for key, below in schema["properties"].items()
        if key in needed or draw(st.booleans())
    }


@st.composite
def projects(draw, releases=fleets.RELEASES):
    """A plausible project with one to three such values."""
    files = copy.deepcopy(draw(fleets.projects(releases)))
    places = [path for path, data in files.items() if data["kind"] in _FILES]
    for _ in range(draw(st.integers(1, 3))):
        data = files[draw(st.sampled_from(places))]
        path, schema = draw(st.sampled_from(fields(data["kind"])))
        node = data["spec"]
        for key in path[:-1]:
            if not isinstance(node.get(key), dict):
                node[key] = {}
            node = node[key]
        node[path[-1]] = draw(values(data["kind"], schema))
    return files
