"""Custom resources that an API server stores otherwise than they are applied, by construction over their definitions.

And what it made of them: which fields it dropped, changed or added.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from poolsmith.core.sources.pointer import join
from support.damaged_objects import complete, put, short
from support.server_verdicts import definitions

KINDS = ("ClusterPolicy", "NVIDIADriver", "GPUCluster")
_WITHOUT_DEFAULT = 9
_DEEPEST = 9
_METADATA: dict[str, dict[str, Any]] = {
    "labels: {}": {"labels": {}},
    "labels: null": {"labels": None},
    "a label: null": {"labels": {"a": None}},
    "annotations: {}": {"annotations": {}},
    "annotations: null": {"annotations": None},
    "finalizers: []": {"finalizers": []},
    "ownerReferences: []": {"ownerReferences": []},
}
Path = tuple[str | int, ...]


def defined_kinds(release: str) -> tuple[str, ...]:
    """Those that are delivered, of what a release defines."""
    names = {item["spec"]["names"]["kind"] for item in definitions(release)}
    return tuple(kind for kind in KINDS if kind in names)


def of_other_definitions(releases: Iterable[str]) -> tuple[str, ...]:
    """One release, the newest, of all whose definitions differ in descriptions alone: a server can't tell them apart."""
    found = {json.dumps([_without_prose(item["spec"]) for item in definitions(tag)]): tag for tag in releases}
    return tuple(found.values())


def _without_prose(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            key: _without_prose(value)
            for key, value in sorted(node.items())
            if not (key == "description" and isinstance(value, str))
        }
    return [_without_prose(item) for item in node] if isinstance(node, list) else node


def probes(release: str, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A name and an object for each way in which a field can come back otherwise, and one that stays as it is."""
    (spec,) = (item["spec"] for item in definitions(release) if item["spec"]["names"]["kind"] == kind)
    (version,) = (item for item in spec["versions"] if item["served"])
    schema = short(version["schema"]["openAPIV3Schema"])
    name = "gpu-cluster" if kind == "GPUCluster" else "a"
    bare = {"apiVersion": f"{spec['group']}/{version['name']}", "kind": kind, "metadata": {"name": name}, "spec": {}}
    base = complete(bare, schema, short)
    yield "plain", base
    for text, metadata in _METADATA.items():
        yield text, {**base, "metadata": {"name": name, **metadata}}
    yield "undeclared", {**base, "spec": {**base["spec"], "poolsmith": 1}}
    places = list(_places(schema["properties"]["spec"], ("spec",)))
    for path, below in places:
        if "default" in below:
            yield f"null for the default of {join('', *path)}", _with(base, path, None, schema)
        if below.get("type") == "array" and _defaults(short(below["items"])):
            item = complete({}, below["items"], short)
            inner = {key: value for key, value in item.items() if key not in _defaults(short(below["items"]))}
            yield f"an item of {join('', *path)}", _with(base, path, [inner], schema)
    without = (path for path, below in places if "default" not in below and isinstance(path[-1], str))
    for path in islice(without, _WITHOUT_DEFAULT):
        yield f"null at {join('', *path)}", _with(base, path, None, schema)


def _with(base: dict[str, Any], path: Path, value: Any, schema: dict[str, Any]) -> dict[str, Any]:
    return put(complete(put(base, path, value), schema, short), path, value)


def _defaults(schema: dict[str, Any]) -> set[str]:
    return {key for key, child in schema.get("properties", {}).items() if "default" in short(child)}


def _places(schema: dict[str, Any], path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for key, child in short(schema).get("properties", {}).items():
        below = short(child)
        if len(path) < _DEEPEST:
            yield (*path, key), below
            yield from _places(below, (*path, key))
            if below.get("type") == "array":
                yield from _places(short(below["items"]), (*path, key, 0))


def changes(given: Any, stored: Any, path: Path = ()) -> Iterator[tuple[str, str]]:
    """Each field that is stored otherwise than given: dropped, changed or added, and its JSON pointer; the topmost."""
    if isinstance(given, dict) and isinstance(stored, dict):
        for key in {**given, **stored}:
            if key not in stored:
                yield "dropped", join("", *path, key)
            elif key not in given:
                yield "added", join("", *path, key)
            else:
                yield from changes(given[key], stored[key], (*path, key))
    elif isinstance(given, list) and isinstance(stored, list) and len(given) == len(stored):
        for index, (one, other) in enumerate(zip(given, stored, strict=True)):
            yield from changes(one, other, (*path, index))
    elif given != stored:
        yield "changed", join("", *path)


def of_metadata(body: dict[str, Any]) -> dict[str, Any]:
    """An object with no more metadata than somebody applies; no status."""
    kept = ("annotations", "finalizers", "labels", "name", "namespace", "ownerReferences")
    metadata = {key: value for key, value in body["metadata"].items() if key in kept}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": metadata}
