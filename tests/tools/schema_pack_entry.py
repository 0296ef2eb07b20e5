"""Put the definitions of one release more into a pack of schemas.

The result is what `pack_crd_schemas` makes of the definitions of all releases: what the pack holds of the others is
put together again from its shared parts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.versions import version_key
from tools.pack_crd_schemas import _entries, crd_schemas
from tools.schema_pack_text import pack_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.kubernetes.schema.scalars import Schema
    from poolsmith.kubernetes.schema.schemas import PackView, SchemaPack

_REFERENCE = "$ref"


def pack_with_release(pack: SchemaPack, release: str, definitions: Iterable[str]) -> str:
    """The text of a pack with `release`, from the texts of its CustomResourceDefinitions.

    What the pack held of the release gives way. Raises ValueError for a definition that uses what packs do not hold.
    """
    versions = sorted({*pack.versions, release}, key=version_key)
    made = {kind: schema for text in definitions for kind, schema in crd_schemas(text).items()}
    roots: dict[tuple[str, str], list[int]] = {}
    schemas: dict[tuple[str, str], Schema] = {}
    for index, version in enumerate(versions):
        kinds = made if version == release else _held(pack.view(version))
        for kind, schema in kinds.items():
            key = kind, json.dumps(schema, sort_keys=True)
            roots.setdefault(key, []).append(index)
            schemas[key] = schema
    return pack_text({**pack.header, "versions": versions}, _entries(roots, schemas, len(versions)))


def _held(view: PackView) -> dict[str, Schema]:
    return {kind: _whole(view.definition(name), view) for kind, name in view.kinds.items()}


def _whole(node: Any, view: PackView) -> Any:
    """A schema with its shared parts in place; a field may have any name, also that of a reference."""
    if _REFERENCE in node:
        return _whole(view.definition(node[_REFERENCE]), view)
    whole = dict(node)
    if "properties" in node:
        whole["properties"] = {name: _whole(child, view) for name, child in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in node:
            whole[key] = _whole(node[key], view)
    return whole
