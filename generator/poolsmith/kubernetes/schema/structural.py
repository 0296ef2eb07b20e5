"""Structural schemas of custom resources: how we write them, and what the API server keeps of a value by one.

Source: k8s.io/apiextensions-apiserver@v0.34.1:pkg/apiserver/schema/{pruning,defaulting}.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.schema.scalars import Schema

_KEPT = (
    *("type", "enum", "pattern", "format", "nullable", "default", "required"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems"),
)
_PROSE = frozenset(("description", "title", "example", "externalDocs", "x-kubernetes-map-type"))
_READ = frozenset(
    (
        *("properties", "items", "additionalProperties", "x-kubernetes-preserve-unknown-fields"),
        *("x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"),
        "x-kubernetes-validations",
    )
)
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def short_form(node: dict[str, Any], path: str = "", *, whole: bool = False) -> Schema:
    """A schema of a CustomResourceDefinition in the form that `schemas` describes.

    What that form has no word for becomes a rule that nothing evaluates; with `whole` it raises ValueError.
    """
    result: Schema = {key: node[key] for key in _KEPT if key in node}
    rest = set(node) - set(_KEPT) - _PROSE - _READ
    if "properties" in node:
        result["properties"] = {
            key: short_form(child, f"{path}.{key}", whole=whole) for key, child in node["properties"].items()
        }
    if "items" in node:
        result["items"] = short_form(node["items"], f"{path}[]", whole=whole)
    additional = node.get("additionalProperties")
    if isinstance(additional, dict):
        result["additionalProperties"] = short_form(additional, f"{path}{{}}", whole=whole)
    elif additional:
        result["preserve"] = True
    if node.get("x-kubernetes-preserve-unknown-fields"):
        result["preserve"] = True
    if node.get("x-kubernetes-int-or-string"):
        result["intOrString"] = True
        if node.get("anyOf") == _INT_OR_STRING:
            rest.discard("anyOf")
    if node.get("x-kubernetes-list-type") in ("map", "set"):
        result["listType"] = node["x-kubernetes-list-type"]
        if "x-kubernetes-list-map-keys" in node:
            result["listMapKeys"] = node["x-kubernetes-list-map-keys"]
    rules = [" ".join(rule["rule"].split()) for rule in node.get("x-kubernetes-validations", ())]
    if rest and whole:
        raise ValueError(f"{path}: {', '.join(sorted(rest))} is not understood")
    if rules or rest:
        result["rules"] = [*rules, *sorted(rest)]
    return result


def kept(schema: Schema, value: Any, resolve: Callable[[Schema], Schema], *, prune: bool = True) -> Any:
    """A copy as the API server keeps it: without unknown fields (with `prune`), and with defaults.

    A null where none is allowed counts as absent. Only mappings that are there get defaults inside, and a default may
    itself have fields with defaults.
    """
    if isinstance(value, dict):
        return _kept_fields(schema, value, resolve, prune)
    if isinstance(value, list):
        items = resolve(schema.get("items", {}))
        return [kept(items, item, resolve, prune=prune) for item in value]
    return value


def _kept_fields(
    schema: Schema, value: dict[str, Any], resolve: Callable[[Schema], Schema], prune: bool
) -> dict[str, Any]:
    properties: dict[str, Schema] = schema.get("properties", {})
    others = schema.get("additionalProperties")
    result: dict[str, Any] = {}
    for key, item in value.items():
        child = properties.get(key, others)
        if child is None:
            if not prune or schema.get("preserve"):
                result[key] = copy.deepcopy(item)
        elif item is not None or resolve(child).get("nullable"):
            result[key] = kept(resolve(child), item, resolve, prune=prune)
    for key, child in properties.items():
        if key not in result and "default" in (below := resolve(child)):
            result[key] = kept(below, below["default"], resolve, prune=prune)
    return result
