"""Make the pack of Kubernetes' own kinds.

The input is the PyPI package kubernetes-validate==1.37.0 (Apache-2.0), in a virtual environment of its own:

    python -m venv /path/to/throw-away
    /path/to/throw-away/bin/pip install --require-hashes -r .ci/requirements-schemas.lock
    PYTHONPATH=generator /path/to/throw-away/bin/python -m tools.pack_core_schemas

With `--check`, nothing is written: the exit code says whether the committed pack is what the package gives.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import util
from pathlib import Path
from typing import Any

from poolsmith.kubernetes.schema.scalars import Schema
from poolsmith.kubernetes.schema.schemas import ENDING, FOLDER, read_pack
from tools.schema_pack_text import Entry, pack_text, write_pack

PACKAGE = "kubernetes-validate==1.37.0"
FAMILY = "kubernetes"
_FOLDER_NAME = re.compile(r"v1\.(\d+)\.0-local")
_FREE = ("RawExtension", "FieldsV1", "JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool")
_FREE_FORM = frozenset((*_FREE, "JSONSchemaPropsOrStringArray", "Patch"))
_KEPT = ("enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "default", "format", "required")
_ENVELOPE = ("apiVersion", "kind")


def core_pack_text(folder: Path) -> str:
    """The pack of every `v1.<minor>.0-local` below `folder`."""
    by_minor = {
        int(match[1]): json.loads((path / "_definitions.json").read_bytes())["$defs"]
        for path in sorted(folder.iterdir())
        if (match := _FOLDER_NAME.fullmatch(path.name))
    }
    minors = sorted(by_minor)
    held: dict[tuple[str, str, str], tuple[list[int], Schema]] = {}
    for index, minor in enumerate(minors):
        names = _short_names(by_minor[minor])
        for full, definition in by_minor[minor].items():
            schema = _root(full, definition, names)
            key = names[full], _kind(definition), json.dumps(schema, sort_keys=True)
            held.setdefault(key, ([], schema))[0].append(index)
    header = {
        "source": f"PyPI {PACKAGE}: OpenAPI definitions of Kubernetes v1.{minors[0]}.0 to v1.{minors[-1]}.0",
        "licence": "Apache-2.0",
        "versions": [f"1.{minor}" for minor in minors],
    }
    return pack_text(header, (Entry(key[0], tuple(at), key[1], schema) for key, (at, schema) in held.items()))


def _short_names(definitions: dict[str, Any]) -> dict[str, str]:
    """Group, version and type; the full name where that is not unique."""
    short = {full: ".".join(full.split(".")[-3:]) for full in definitions}
    counts: dict[str, int] = {}
    for name in short.values():
        counts[name] = counts.get(name, 0) + 1
    return {full: name if counts[name] == 1 else full for full, name in short.items()}


def _kind(definition: dict[str, Any]) -> str:
    kinds = definition.get("x-kubernetes-group-version-kind", ())
    if len(kinds) != 1:  # what every group has (DeleteOptions, WatchEvent) is never a manifest
        return ""
    (kind,) = kinds
    group = f"{kind['group']}/" if kind["group"] else ""
    return f"{group}{kind['version']} {kind['kind']}"


def _root(full: str, definition: dict[str, Any], names: dict[str, str]) -> Schema:
    name = full.rpartition(".")[2]
    if name in _FREE_FORM:
        return {"preserve": True}
    if name == "Quantity":
        return {"quantity": True}
    if name == "IntOrString":
        return {"intOrString": True}
    return _structural(definition, names, envelope=bool(_kind(definition)))


def _structural(node: dict[str, Any], names: dict[str, str], *, envelope: bool = False) -> Schema:
    if "$ref" in node:
        return {"$ref": names[node["$ref"].rpartition("/")[2]]}
    if "oneOf" in node or "anyOf" in node or "allOf" in node:
        raise ValueError(f"an unexpected choice: {json.dumps(node)[:200]}")
    result: Schema = {key: node[key] for key in _KEPT if key in node}
    types = node.get("type", [])
    (result["type"],) = [item for item in ([types] if isinstance(types, str) else types) if item != "null"]
    if "properties" in node:
        result["properties"] = {
            key: {"type": "string"} if envelope and key in _ENVELOPE else _structural(child, names)
            for key, child in node["properties"].items()
        }
    if "items" in node:
        result["items"] = _structural(node["items"], names)
    if isinstance(node.get("additionalProperties"), dict):
        result["additionalProperties"] = _structural(node["additionalProperties"], names)
    if node.get("x-kubernetes-list-type") in ("map", "set"):
        result["listType"] = node["x-kubernetes-list-type"]
        if "x-kubernetes-list-map-keys" in node:
            result["listMapKeys"] = node["x-kubernetes-list-map-keys"]
    return result


def main(arguments: list[str]) -> int:
    folders = [Path(argument) for argument in arguments if not argument.startswith("-")]
    if not folders:
        found = util.find_spec("kubernetes_validate")
        if found is None or found.origin is None:
            sys.stderr.write(f"{PACKAGE} is not installed here; name its folder of schemas\n")
            return 2
        folders = [Path(found.origin).parent / "kubernetes-json-schema"]
    text = core_pack_text(folders[0])
    if "--check" in arguments:
        return int(read_pack(FAMILY).text != text)
    write_pack(FOLDER / f"{FAMILY}{ENDING}", text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
