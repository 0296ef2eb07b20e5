"""A custom resource as the API server stores it: pruned, with its defaults, or refused.

Rules in CEL are not run here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import copied
from poolsmith.kubernetes.server.crd_prune import check_spec

if TYPE_CHECKING:
    from poolsmith.kubernetes.server.custom_resource import CustomResource


@record
class Admitted:
    """`resource` is what would be stored; with `violations` the API server refuses it."""

    resource: dict[str, Any]
    pruned: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()


def admit(resource: dict[str, Any], definition: CustomResource) -> Admitted:
    """What becomes of a resource that is created: unknown fields go, defaults come, a status is not taken over."""
    spec = resource.get("spec")
    findings = check_spec(spec, definition.schema)
    schema = definition.schema["properties"]["spec"]
    stored = {key: copied(value) for key, value in resource.items() if key not in ("spec", "status")}
    if spec is not None:
        stored["spec"] = _stored(spec, schema)
    return Admitted(resource=stored, pruned=tuple(findings.pruned), violations=tuple(findings.violations))


def _stored(value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return _stored_object(value, schema)
    if isinstance(value, list):
        items = schema.get("items", {})
        return [_stored(item, items) for item in value]
    return value


def _stored_object(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A null counts as absent unless the field allows it; a default may have defaults of its own inside."""
    properties: dict[str, Any] = schema.get("properties", {})
    others = schema.get("additionalProperties")
    keeps = schema.get("x-kubernetes-preserve-unknown-fields") is True or others is True
    result: dict[str, Any] = {}
    for key, item in value.items():
        child = properties.get(key, others if isinstance(others, dict) else None)
        if child is None:
            if keeps:
                result[key] = copied(item)
        elif item is not None or child.get("nullable"):
            result[key] = _stored(item, child)
        elif key not in properties:
            result[key] = None
    for key, child in properties.items():
        if key not in result and "default" in child:
            result[key] = _stored(copied(child["default"]), child)
    return result
