"""Make the compact table of value paths over all releases from what was recorded per release."""

from __future__ import annotations

import json
from typing import Any

from poolsmith.core.facts.versions import version_key
from poolsmith.gpu.catalog.charts import SUBCHART

_CONDITION = "nfd.enabled"  # Helm itself reads it: the condition of the dependency in Chart.yaml


def chart_values_entry(
    recorded: dict[str, dict[str, Any]], crds: dict[str, dict[str, Any]], *, source: str
) -> dict[str, Any]:
    """`recorded` maps a tag to its recorded chart, `crds` a tag to its definitions by kind (`crds_entry`).

    Per path: its type, the tags in which something reads it, in which values.yaml declares it, and in which it is
    declared and read by nothing. Enums are those of the CRD fields that it is written to, from the first tag whose
    definitions are known.
    """
    tags = sorted(recorded, key=version_key)
    facts: dict[str, dict[str, dict[str, Any]]] = {}
    for tag in tags:
        for path, fact in recorded[tag]["paths"].items():
            facts.setdefault(path, {})[tag] = fact
    return {
        "source": source,
        "tags": tags,
        "subcharts": {SUBCHART: {tag: recorded[tag]["nodeFeatureDiscoveryChart"] for tag in tags}},
        "enumsSince": min(crds, key=version_key) if crds else None,
        "paths": {path: _path(path, facts[path], tags, crds) for path in sorted(facts) if path != SUBCHART},
    }


def chart_values_text(entry: dict[str, Any]) -> str:
    """The table as it is kept: one line a path, so that a new tag shows in a diff."""
    paths = ",\n".join(f"  {json.dumps(path)}: {json.dumps(fact)}" for path, fact in entry["paths"].items())
    head = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in entry.items() if key != "paths")
    return f'{{\n{head} "paths": {{\n{paths}\n }}\n}}\n'


def _path(path: str, facts: dict[str, dict[str, Any]], tags: list[str], crds: dict[str, Any]) -> dict[str, Any]:
    read = [tag for tag, fact in facts.items() if fact.get("referenced") or _CONDITION in (path, f"{path}.enabled")]
    declared = [tag for tag, fact in facts.items() if fact["declared"]]
    fields = [
        field
        for tag, fact in facts.items()
        for write in fact.get("writes", ())
        if tag in crds and (field := _field(crds[tag], write)) is not None
    ]
    entry: dict[str, Any] = {}
    types = {fact["type"] for fact in facts.values() if fact.get("type")}
    if any(field.get("x-kubernetes-int-or-string") for field in fields):
        types = {"int-or-string"}
    types = types or {field["type"] for field in fields if "type" in field}
    if len(types) == 1:
        entry["type"] = types.pop()
    if read:
        entry["read"] = _ranges(read, tags)
    if declared:
        entry["declared"] = _ranges(declared, tags)
    if dead := [tag for tag in declared if tag not in read]:
        entry["dead"] = _ranges(dead, tags)
    enums = {tuple(field["enum"]) for field in fields if "enum" in field}
    if len(enums) == 1:
        entry["enum"] = list(enums.pop())
    writes = [write for fact in facts.values() for write in fact.get("writes", ())]
    if entry.get("type") == "string" and writes and all(write["quoted"] for write in writes):
        entry["quoted"] = True
    return entry


def _field(crds: dict[str, Any], write: dict[str, Any]) -> dict[str, Any] | None:
    node: dict[str, Any] | None = crds.get(write["kind"], {}).get("schema")
    for key in write["field"].split("."):
        node = (node or {}).get("properties", {}).get(key)
    return node


def _ranges(found: list[str], tags: list[str]) -> str:
    """`all`, or runs of tags: `v23.3.0..v24.9.2 v26.7.0`."""
    if len(found) == len(tags):
        return "all"
    runs: list[list[str]] = []
    wanted = set(found)
    for index, tag in enumerate(tags):
        if tag not in wanted:
            continue
        if runs and tags[index - 1] == runs[-1][-1]:
            runs[-1].append(tag)
        else:
            runs.append([tag])
    return " ".join(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)
