"""Make the packs of custom resources from CustomResourceDefinitions.

    PYTHONPATH=generator python -m tools.pack_crd_schemas FOLDER

FOLDER holds the projects' published CRDs, unmodified (see FAMILIES for paths and versions). Kept are types and
limits, never descriptions. Equal parts of all definitions of a family are stored once.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import version_key
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.kubernetes.schema.scalars import Schema
from poolsmith.kubernetes.schema.schemas import ENDING, FOLDER
from poolsmith.kubernetes.schema.structural import short_form
from tools.schema_pack_text import Entry, pack_text, write_pack

_SHARED_FROM = 60
"""Characters of JSON from which an equal part is worth a definition of its own."""


@dataclass(frozen=True, slots=True)
class Family:
    """One pack: where its CRDs lie, as a pattern per version. `is_whole`: whether rules in CEL are kept, each of
    which needs a function of ours, and which fields are required, which bases of overlays lack."""

    name: str
    source: str
    files: dict[str, str]
    is_whole: bool = True


FAMILIES = (
    Family(
        "gpu-operator",
        "github.com/NVIDIA/gpu-operator, deployments/gpu-operator/crds of each tag",
        {tag: f"gpu-operator/{tag}/crds/*.yaml" for tag in sorted(store.names("crds"), key=version_key)},
    ),
    Family(
        "node-feature-discovery",
        "github.com/kubernetes-sigs/node-feature-discovery, deployment/base/nfd-crds",
        {"v0.19.0": "node-feature-discovery/crds/*.yaml"},
    ),
    Family("argo-cd", "github.com/argoproj/argo-cd, manifests/crds", {"v3.5.1": "argo-cd/crds/*.yaml"}),
    Family(
        "flux",
        "github.com/fluxcd helm-controller v1.6.3, kustomize-controller v1.9.4, source-controller v1.9.1",
        {"v2.9": "flux/crds/*.yaml"},
    ),
    Family(
        "confidential-containers",
        "github.com/confidential-containers operator (each tag) and trustee-operator v0.21.0, config/crd/bases",
        {
            "v0.7.0": "confidential-containers/v0.7.0/*-crd.yaml",
            "v0.8.0": "confidential-containers/v0.8.0/*-crd.yaml",
            "v0.17.0": "confidential-containers/crds/*.yaml",
        },
    ),
    Family(
        "karpenter",
        "github.com/kubernetes-sigs/karpenter 226646810, aws/karpenter-provider-aws 1d927085d, "
        "Azure/karpenter-provider-azure 352646f5 (2026-08), pkg/apis/crds",
        {"v1.14": "karpenter/crds/*.yaml"},
        is_whole=False,
    ),
)


def family_text(family: Family, folder: Path) -> str:
    """The pack of a family from the CRDs below `folder`."""
    roots: dict[tuple[str, str], list[int]] = {}
    schemas: dict[tuple[str, str], Schema] = {}
    for index, pattern in enumerate(family.files.values()):
        paths = sorted(folder.glob(pattern))
        if not paths:
            raise FileNotFoundError(f"no CRD: {pattern}")
        for path in paths:
            for kind, whole in crd_schemas(path.read_text("utf-8")).items():
                schema = whole if family.is_whole else _forms(whole)
                key = kind, json.dumps(schema, sort_keys=True)
                roots.setdefault(key, []).append(index)
                schemas[key] = schema
    header = {"source": family.source, "licence": "Apache-2.0", "versions": list(family.files)}
    return pack_text(header, _entries(roots, schemas, len(family.files)))


def _forms(schema: Schema) -> Schema:
    kept = {key: value for key, value in schema.items() if key not in ("rules", "required")}
    return _map_children(kept, _forms)


def crd_schemas(text: str) -> dict[str, Schema]:
    """`apiVersion Kind` to the structural schema of each served version. Raises ValueError for what is not kept."""
    found: dict[str, Schema] = {}
    for document in read_documents(text):
        if not isinstance(document, dict) or document.get("kind") != "CustomResourceDefinition":
            continue
        spec = document["spec"]
        for version in spec["versions"]:
            if version["served"]:
                schema = short_form(version["schema"]["openAPIV3Schema"], whole=True)
                for key in ("apiVersion", "kind", "metadata"):
                    schema.get("properties", {}).pop(key, None)
                found[f"{spec['group']}/{version['name']} {spec['names']['kind']}"] = schema
    return found


def _entries(
    roots: dict[tuple[str, str], list[int]], schemas: dict[tuple[str, str], Schema], versions: int
) -> list[Entry]:
    counts: Counter[str] = Counter()
    for schema in schemas.values():
        _count(schema, counts)
    shared: dict[str, str] = {}
    entries: list[Entry] = []

    def share(schema: Schema) -> Schema:
        text = json.dumps(schema, sort_keys=True)
        if counts[text] > 1 and len(text) >= _SHARED_FROM:
            if text not in shared:
                body = _map_children(schema, share)
                shared[text] = f"{len(shared) + 1:05}"
                entries.append(Entry(shared[text], tuple(range(versions)), "", body))
            return {"$ref": shared[text]}
        return _map_children(schema, share)

    for (kind, text), at in sorted(roots.items()):
        entries.append(
            Entry(kind.replace("/", ".").replace(" ", "."), tuple(at), kind, _map_children(schemas[kind, text], share))
        )
    return entries


def _count(schema: Schema, counts: Counter[str]) -> None:
    counts[json.dumps(schema, sort_keys=True)] += 1
    for child in _children(schema):
        _count(child, counts)


def _children(schema: Schema) -> list[Schema]:
    found = list(schema.get("properties", {}).values())
    return found + [schema[key] for key in ("items", "additionalProperties") if key in schema]


def _map_children(schema: Schema, change: Any) -> Schema:
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {key: change(child) for key, child in sorted(schema["properties"].items())}
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = change(schema[key])
    return result


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    for family in FAMILIES:
        write_pack(FOLDER / f"{family.name}{ENDING}", family_text(family, Path(arguments[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
