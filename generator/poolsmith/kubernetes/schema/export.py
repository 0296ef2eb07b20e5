"""Our schemas as JSON Schemas (draft 2020-12), closed: for kubeconform, and for comparing validators.

What JSON Schema can't say is left out: entries that stand twice, validation rules, base64. Nulls are allowed where
our own validator lets them through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.schema.compiler import Compiler, Nulls, demanded
from poolsmith.kubernetes.schema.scalars import DATE_TIME, INTEGER_BOUNDS, QUANTITY
from poolsmith.kubernetes.schema.schemas import core_compiler, kubernetes_minors, newest_kubernetes

if TYPE_CHECKING:
    from poolsmith.kubernetes.schema.kind_schema import KindSchema
    from poolsmith.kubernetes.schema.scalars import Schema

_LIMITS = (
    *("pattern", "minimum", "maximum", "multipleOf", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems"),
)
_TIME = DATE_TIME.pattern.removesuffix(r"\Z")
_METADATA = "meta.v1.ObjectMeta"


def json_schema(kind: KindSchema, minor: str | None = None) -> dict[str, Any]:
    """A self-contained JSON Schema of one kind. `minor` chooses the metadata of a custom resource."""
    exporter = _Exporter(kind.compiler)
    body = exporter.convert({"$ref": kind.name})
    result: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}
    if kind.is_custom:
        core = _Exporter(core_compiler(minor if minor in kubernetes_minors() and minor else newest_kubernetes()))
        metadata = core.convert({"$ref": _METADATA})
        root = exporter.definitions[kind.name]
        root["properties"] = {"apiVersion": {}, "kind": {}, "metadata": metadata, **root["properties"]}
        exporter.definitions |= core.definitions
    return {**result, "$defs": exporter.definitions}


class _Exporter:
    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._absent = compiler.nulls is Nulls.ABSENT
        self.definitions: dict[str, Any] = {}

    def convert(self, schema: Schema, *, required: bool = False) -> dict[str, Any]:
        """`required`: null counts as absent, and is refused with it."""
        name = schema.get("$ref")
        if name is None:
            return self._body(schema, null=self._null(schema) and not required)
        resolved = self._compiler.resolve(schema)
        null = self._null(resolved) and not required
        key = name if null == self._null(resolved) else f"{name}.required"
        if key not in self.definitions:
            self.definitions[key] = {}
            self.definitions[key].update(self._body(resolved, null=null))
        return {"$ref": f"#/$defs/{key}"}

    def _null(self, schema: Schema) -> bool:
        return self._absent or bool(schema.get("nullable")) or "default" in schema

    def _body(self, schema: Schema, *, null: bool) -> dict[str, Any]:
        types = ["null"] if null else []
        if schema.get("preserve") and "type" not in schema:
            return {}
        if schema.get("quantity"):
            return {"type": ["string", "number", *types], "pattern": QUANTITY}
        result: dict[str, Any] = {key: schema[key] for key in _LIMITS if key in schema}
        if schema.get("intOrString"):
            return {"type": ["integer", "string", *types], **result}
        kind = schema.get("type")
        if kind is not None:
            result["type"] = [kind, *types] if types else kind
        if "enum" in schema:
            result["enum"] = [*schema["enum"], *([None] if null and kind is not None else [])]
        if schema.get("format") == "date-time":
            result["pattern"] = f"^{_TIME}$"  # formats are not enforced
        if kind == "integer" and schema.get("format") in INTEGER_BOUNDS:
            least, most = INTEGER_BOUNDS[schema["format"]]
            result["minimum"] = max(least, result.get("minimum", least))
            result["maximum"] = min(most, result.get("maximum", most))
        if kind == "array":
            result["items"] = self._items(schema.get("items", {}))
        if kind == "object":
            self._mapping(schema, result)
        return result

    def _items(self, items: Schema) -> dict[str, Any]:
        """Null in a list of built-in objects is an empty object, so it misses what is required."""
        resolved = self._compiler.resolve(items)
        strict = self._absent and resolved.get("type") == "object" and bool(resolved.get("required"))
        return self.convert(items, required=strict)

    def _mapping(self, schema: Schema, result: dict[str, Any]) -> None:
        required = demanded(schema, self._compiler.resolve)
        result["properties"] = {
            key: self.convert(child, required=self._absent and key in required)
            for key, child in schema.get("properties", {}).items()
        }
        if required:
            result["required"] = list(required)
        if "additionalProperties" in schema:
            result["additionalProperties"] = self.convert(schema["additionalProperties"])
        elif not schema.get("preserve"):
            result["additionalProperties"] = False
