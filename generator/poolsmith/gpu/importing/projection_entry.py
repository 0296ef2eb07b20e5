"""Make a release's projection from what is known about its chart.

The value map says which value a template writes into which field, whether quoted, and whether behind a guard of
its own. The CRD tells quoted strings from whole structures. What neither says stands in an overlay kept by hand:
blocks that appear as a whole, defaults, refusals, metadata; each rule for a range of releases, with its basis.
"""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts.versions import covers

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
