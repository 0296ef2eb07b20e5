"""The catalog entries of a release that are made from its chart: values, projection, and the table of value paths.

The value map says which value a template writes into which field, whether quoted, and whether behind a guard of
its own. The CRD tells quoted strings from whole structures. What neither says stands in an overlay kept by hand:
blocks that appear as a whole, defaults, refusals, metadata; each rule for a range of releases, with its basis.
The table of value paths is compact: one for all releases.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts.pack_merge import range_text
from poolsmith.core.facts.versions import covers, version_key
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.charts import SUBCHART
from poolsmith.gpu.importing.chart_import import chart_entry, value_map
from poolsmith.gpu.importing.operator_repository import CHART, DEFINITIONS, MANIFESTS, YAML_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.gpu.importing.operator_repository import OperatorRepository


_ROOT = "spec."


def projection_entry(
    *,
    release: str,
    source: str,
    value_paths: dict[str, dict[str, Any]],
    crds: dict[str, dict[str, Any]],
    overlay: dict[str, Any],
) -> dict[str, Any]:
    """The entry of one release.

    `value_paths` is the recorded value map, `crds` maps a kind to its compact definition (`crd_entry`).
    """
    objects = [
        _object(item, value_paths, crds[item["kind"]], [rule for rule in overlay["rules"] if covers(rule, release)])
        for item in overlay["objects"]
        if covers(item, release)
    ]
    return {
        "release": release,
        "source": source,
        "chart": overlay["chart"],
        "refusals": [
            {key: value for key, value in item.items() if key not in ("since", "before")}
            for item in overlay["refusals"]
            if covers(item, release)
        ],
        "objects": objects,
        "templated": [path for path in overlay["templated"] if path in value_paths],
    }


def _object(
    item: dict[str, Any], value_paths: dict[str, dict[str, Any]], crd: dict[str, Any], rules: list[dict[str, Any]]
) -> dict[str, Any]:
    kind = item["kind"]
    fields = _written_fields(kind, value_paths, crd["schema"])
    blocks: dict[str, list[str]] = {}
    conditions, annotations = list(item.get("if", [])), dict(item.get("annotations", {}))
    for rule in rules:
        if rule["kind"] != kind:
            continue
        conditions.extend(rule.get("if", []))
        annotations |= rule.get("annotations", {})
        blocks |= rule.get("blocks", {})
        for field, change in rule.get("fields", {}).items():
            if change is None:
                fields.pop(field, None)
            else:
                fields[field] = change
        if "restrict" in rule:
            _restrict(rule["restrict"], fields, blocks)
    return {
        "kind": kind,
        "apiVersion": crd["apiVersion"],
        "name": item["name"],
        "labels": item["labels"],
        "if": conditions,
        "annotations": annotations,
        "blocks": dict(sorted(blocks.items())),
        "fields": dict(sorted(fields.items())),
    }


def _written_fields(kind: str, value_paths: dict[str, dict[str, Any]], schema: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for path, fact in value_paths.items():
        for write in fact.get("writes", ()):
            if write["kind"] != kind:
                continue
            field = write["field"].removeprefix(_ROOT)
            form = "plain" if not write["quoted"] else "quoted" if _is_string(schema, write["field"]) else "data"
            form += "?" if write["guarded"] else ""
            fields[field] = form if field == path else {"as": form, "from": path}
    return fields


def _is_string(schema: dict[str, Any], field: str) -> bool:
    node: dict[str, Any] = schema
    for key in field.split("."):
        node = node.get("properties", {}).get(key, {})
    return node.get("type") == "string"


def _restrict(rule: dict[str, Any], fields: dict[str, Any], blocks: dict[str, list[str]]) -> None:
    """Put one more condition on everything right below a block, save what is excepted."""
    prefix = rule["below"] + "."
    children = {field.removeprefix(prefix).partition(".")[0] for field in fields if field.startswith(prefix)}
    for name in sorted(children - set(rule["except"])):
        path = prefix + name
        if path in fields:
            body = fields[path] if isinstance(fields[path], dict) else {"as": fields[path]}
            fields[path] = {**body, "if": [*rule["if"], *body.get("if", [])]}
        else:
            blocks[path] = [*rule["if"], *blocks.get(path, [])]


FILES = ("Chart.yaml", "values.yaml")
TEMPLATES = "templates/"
_LAYOUTS = "state-mig-manager/0400_configmap.yaml"
_DRIVER = "NVIDIADriver"


def chart_files(repository: OperatorRepository) -> dict[str, bytes]:
    """The chart's files by their paths in it; none where the repository does not hold a whole chart."""
    folder = CHART.path
    if repository.folder_of(CHART) != folder:
        return {}
    names = [name for name in repository.names(folder) if name in FILES or name.startswith(TEMPLATES)]
    if not {*FILES} <= {*names} or len(names) == len(FILES):
        return {}
    return repository.texts(folder, names)


def mig_layouts(repository: OperatorRepository) -> dict[str, Any] | None:
    """The layouts that the operator ships, where it ships any as a file. Raises PoolsmithError."""
    folder = repository.folder_of(MANIFESTS)
    if folder is None or _LAYOUTS not in repository.names(folder):
        return None
    text = repository.texts(folder, [_LAYOUTS]).get(_LAYOUTS, b"").decode()
    try:
        layouts: dict[str, Any] = read_documents(read_documents(text)[0]["data"]["config.yaml"])[0]
    except (YamlProblem, LookupError, TypeError):
        raise PoolsmithError(f"{folder}/{_LAYOUTS} holds no layouts") from None
    return layouts


def driver_definition(repository: OperatorRepository) -> dict[str, Any] | None:
    """The CustomResourceDefinition of NVIDIADriver."""
    folder = repository.folder_of(DEFINITIONS)
    if folder is None:
        return None
    names = [name for name in repository.names(folder) if name.endswith(YAML_ENDINGS)]
    for text in repository.texts(folder, names).values():
        for document in read_documents(text.decode()):
            if isinstance(document, dict) and document.get("spec", {}).get("names", {}).get("kind") == _DRIVER:
                return document
    return None


def chart_entries(
    files: dict[str, bytes],
    *,
    release: str,
    source: str,
    crds: Mapping[str, Any],
    overlay: Mapping[str, Any],
    driver_crd: dict[str, Any] | None,
    mig_config: dict[str, Any] | None = None,
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """The entries of `charts/gpu-operator` and `projection`, by these names; and what each value path is now.

    `crds` are the compact definitions of the release by kind, `overlay` is that of `projection`. Raises PoolsmithError.
    """
    paths = value_map(files)
    chart, values = (read_documents(files[name].decode())[0] for name in FILES)
    discovery: dict[str, Any] = next((item for item in chart.get("dependencies") or () if item.get("name")), {})
    entry = chart_entry(
        release=release,
        values=values,
        value_paths=paths,
        kube_version=str(chart.get("kubeVersion", "")),
        nfd_chart=str(discovery["version"]) if "version" in discovery else None,
        source=source,
        driver_crd=driver_crd,
        mig_config=mig_config,
    )
    projected = projection_entry(
        release=release, source=source, value_paths=paths, crds=dict(crds), overlay=dict(overlay)
    )
    return {"charts/gpu-operator": entry, "projection": projected}, paths


def entry_text(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, indent=1, ensure_ascii=False) + "\n"


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
        "paths": {path: path_entry(path, facts[path], tags, crds) for path in sorted(facts) if path != SUBCHART},
    }


def chart_values_text(entry: dict[str, Any]) -> str:
    """The table as it is kept: one line a path, so that a new tag shows in a diff."""
    paths = ",\n".join(f"  {json.dumps(path)}: {json.dumps(fact)}" for path, fact in entry["paths"].items())
    head = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in entry.items() if key != "paths")
    return f'{{\n{head} "paths": {{\n{paths}\n }}\n}}\n'


def path_entry(path: str, facts: dict[str, dict[str, Any]], tags: list[str], crds: dict[str, Any]) -> dict[str, Any]:
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
        entry["read"] = ranges(read, tags)
    if declared:
        entry["declared"] = ranges(declared, tags)
    if dead := [tag for tag in declared if tag not in read]:
        entry["dead"] = ranges(dead, tags)
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


def ranges(found: list[str], tags: list[str]) -> str:
    """`all`, or runs of tags: `v23.3.0..v24.9.2 v26.7.0`."""
    return range_text(found, tags) or ""
