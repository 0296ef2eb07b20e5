"""Releases taken out of the catalog, as if poolsmith were older; and packs that hold what was taken out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from poolsmith.core.facts import store
from poolsmith.core.facts.pack_merge import range_text, tags_of
from poolsmith.core.facts.packs import ENTRIES

GENERATOR = Path(__file__).parents[2] / "generator"
_RANGED = ("read", "declared", "dead")


def package_without(tag, folder):
    """A copy of the package that does not know a release; where it is imported from."""
    shutil.copytree(
        GENERATOR / "poolsmith", folder / "poolsmith", ignore=shutil.ignore_patterns("__pycache__", "compiled")
    )
    data = folder / "poolsmith/data"
    for entries in ENTRIES:
        path = data / entries / f"{tag}.json"
        for other in (data / entries).glob("*.json"):
            document = json.loads(other.read_bytes())
            if document.get(store.LIKE) == tag:
                whole = store.read_json(f"{entries}/{other.stem}.json")
                other.write_text(json.dumps(whole))
        path.unlink(missing_ok=True)
    for name, cut in _CUTS.items():
        read = store.read_json if name.endswith(".json") else store.read_yaml
        (data / name).write_text(json.dumps(cut(read(name), tag)))
    return folder


def run(package, *arguments):
    """poolsmith of that package."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    command = [sys.executable, "-m", "poolsmith", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def pack_of(tag, name="taken-out", like=None, drop=()):
    """The files of a pack with everything that is built in of a release, by path in the pack."""
    files = {
        f"{folder}/{tag}.json": json.dumps(store.read_json(f"{folder}/{tag}.json"))
        for folder in ENTRIES
        if tag in store.built_in(folder) and folder not in drop
    }
    files[f"values/{tag}.json"] = json.dumps(_values_of(tag))
    facts = {"release": store.read_yaml("releases.yaml")["releases"][tag], "like": like or _before(tag)}
    facts["chart"] = store.read_yaml("chart_workloads/gpu_operator.yaml")["versions"][tag]
    files[f"facts/{tag}.json"] = json.dumps(facts)
    kept = {path: text.encode() for path, text in files.items() if path.partition("/")[0] not in drop}
    return with_manifest(kept, tag, name=name)


def with_manifest(files, *tags, name="taken-out"):
    manifest = [
        "apiVersion: poolsmith/v1",
        "kind: CatalogPack",
        f"metadata: {{name: {name}}}",
        f"spec: {{version: '1', source: a test, releases: [{', '.join(tags)}]",
        "  , files: [",
        *(f"    {{path: {path}, sha256: {_sum(content)}}}," for path, content in sorted(files.items())),
        "  ]}",
    ]
    return {**files, "pack.yaml": "\n".join(manifest).encode() + b"\n"}


def put(root, files, name="taken-out", *, pin=True):
    """Write a pack into a project, with its lock."""
    folder = root / "profiles/_catalog" / name
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    if pin:
        lock = (
            "apiVersion: poolsmith/v1\nkind: CatalogLock\nmetadata: {name: catalog}\n"
            f"spec: {{packs: [{{name: {name}, version: '1', sha256: {_sum(files['pack.yaml'])}}}]}}\n"
        )
        (root / "profiles/_catalog/lock.yaml").write_text(lock)
    return folder


def _sum(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _before(tag):
    tags = list(store.read_yaml("releases.yaml")["releases"])
    return tags[tags.index(tag) - 1]


def _values_of(tag):
    table = store.read_json("chart_values.json")
    paths = {}
    for path, fact in table["paths"].items():
        holds = {key: "all" for key in _RANGED if tag in tags_of(fact.get(key), table["tags"])}
        if holds:
            paths[path] = {**{key: value for key, value in fact.items() if key not in _RANGED}, **holds}
    subcharts = {chart: {tag: versions[tag]} for chart, versions in table["subcharts"].items()}
    return {"source": table["source"], "tags": [tag], "subcharts": subcharts, "enumsSince": tag, "paths": paths}


def _cut_releases(data, tag):
    del data["releases"][tag]
    return data


def _cut_versions(data, tag):
    data["versions"].pop(tag)
    return data


def _cut_lists(node, tag):
    if isinstance(node, list):
        return [_cut_lists(item, tag) for item in node if item != tag]
    return {key: _cut_lists(value, tag) for key, value in node.items()} if isinstance(node, dict) else node


def _cut_values(data, tag):
    tags = [other for other in data["tags"] if other != tag]
    for path, fact in list(data["paths"].items()):
        for key in _RANGED:
            text = range_text(set(tags_of(fact.pop(key, None), data["tags"])) - {tag}, tags)
            if text is not None:
                fact[key] = text
        if not fact.keys() & set(_RANGED):
            del data["paths"][path]
    for versions in data["subcharts"].values():
        del versions[tag]
    return {**data, "tags": tags}


def _cut_images(data, tag):
    """Runs that begin with the tag begin with the next one that there is, unless that has a run of its own."""
    tags = store.read_json("chart_values.json")["tags"]
    following = tags[tags.index(tag) + 1 :][:1]
    for path, runs in data["images"].items():
        starts = {start for start, _ in runs}
        kept = []
        for start, value in runs:
            if start != tag:
                kept.append([start, value])
            elif following and following[0] not in starts:
                kept.append([following[0], value])
        data["images"][path] = kept
    return data


_CUTS = {
    "releases.yaml": _cut_releases,
    "chart_values.json": _cut_values,
    "values/images.json": _cut_images,
    "chart_workloads/gpu_operator.yaml": _cut_versions,
    "server_defaults.yaml": _cut_lists,
    "chart_nulls.yaml": _cut_lists,
}
