"""Make compact structural schemas from CustomResourceDefinitions.

Only what decides whether an object is taken, and which of its fields are kept: no descriptions, no messages.
"""

from __future__ import annotations

from typing import Any

_KEPT = (
    "type",
    "format",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "multipleOf",
    "uniqueItems",
    "required",
    "nullable",
    "default",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)
_SCHEMAS = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "allOf", "oneOf")
_RULES = "x-kubernetes-validations"


def crds_entry(*, release: str, source: str, definitions: list[dict[str, Any]]) -> dict[str, Any]:
    """All definitions of one release, by kind; of each the version that is stored."""
    return {
        "release": release,
        "source": source,
        "kinds": {item["spec"]["names"]["kind"]: crd_entry(item) for item in definitions},
    }


def crd_entry(definition: dict[str, Any]) -> dict[str, Any]:
    spec = definition["spec"]
    version = next(item for item in spec["versions"] if item["storage"])
    return {
        "apiVersion": f"{spec['group']}/{version['name']}",
        "plural": spec["names"]["plural"],
        "scope": spec["scope"],
        "schema": structural(version["schema"]["openAPIV3Schema"]),
    }


def structural(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without its prose."""
    kept = {key: schema[key] for key in _KEPT if key in schema}
    for key in _SCHEMAS:
        if isinstance(schema.get(key), dict):
            kept[key] = structural(schema[key])
        elif key in schema:
            kept[key] = schema[key]
    for key in _LISTS:
        if key in schema:
            kept[key] = [structural(item) for item in schema[key]]
    if "properties" in schema:
        kept["properties"] = {name: structural(child) for name, child in schema["properties"].items()}
    if _RULES in schema:
        kept[_RULES] = [
            {key: rule[key] for key in ("rule", "fieldPath", "optionalOldSelf") if key in rule}
            for rule in schema[_RULES]
        ]
    return kept
