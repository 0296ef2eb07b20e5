"""JSON Schemas of our kinds, for editors, from the same declarations that loading uses."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Any, get_args, get_origin

from poolsmith.ledger.grants.grant import GRANT, GrantSpec
from poolsmith.policies.enforcement import ENFORCEMENT, EnforcementSpec
from poolsmith.policies.policy_test import KIND as POLICY_TEST
from poolsmith.policies.policy_test import PolicyTestSpec
from poolsmith.policies.rule_setting import SETTINGS, RuleSettingsSpec
from poolsmith.policies.waiver import WAIVERS, WaiverListSpec
from poolsmith.profiles.cluster import API_VERSION, ClusterSpec, Metadata
from poolsmith.profiles.driver_image_list import DRIVER_IMAGES, DriverImageListSpec
from poolsmith.profiles.node_pool import PoolSpec
from poolsmith.shape.reader import fields_of

if TYPE_CHECKING:
    from poolsmith.shape.field import Shape

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PROFILE_KINDS: dict[str, type] = {
    "Cluster": ClusterSpec,
    "NodePool": PoolSpec,
    "NodePoolBase": PoolSpec,
    DRIVER_IMAGES: DriverImageListSpec,
}
_PARTIAL_KINDS = ("NodePool", "NodePoolBase")
_POLICY_KINDS: dict[str, type] = {
    GRANT: GrantSpec,
    ENFORCEMENT: EnforcementSpec,
    WAIVERS: WaiverListSpec,
    SETTINGS: RuleSettingsSpec,
    POLICY_TEST: PolicyTestSpec,
}
KINDS = _PROFILE_KINDS | _POLICY_KINDS
FILE_NAMES = {
    "Cluster": "cluster.schema.json",
    "NodePool": "node-pool.schema.json",
    "NodePoolBase": "node-pool-base.schema.json",
    DRIVER_IMAGES: "driver-image-list.schema.json",
}
POLICY_FILE_NAMES = {
    GRANT: "privilege-grant.schema.json",
    ENFORCEMENT: "privilege-enforcement.schema.json",
    WAIVERS: "waiver-list.schema.json",
    SETTINGS: "rule-settings.schema.json",
    POLICY_TEST: "policy-test.schema.json",
}
"""Of the kinds in `policies/`."""
_TITLES = {
    "Cluster": "What all GPU node pools of one cluster share",
    "NodePool": "One pool of GPU nodes",
    "NodePoolBase": "A part of pools, to be extended",
    DRIVER_IMAGES: "Driver images that somebody has seen in a registry",
    GRANT: "What containers of some workloads may hold, and why",
    ENFORCEMENT: "What becomes of pods that want more than was granted",
    WAIVERS: "Findings that are accepted for a while",
    SETTINGS: "How rules are taken in this repository",
    POLICY_TEST: "What admission policies have to say of some objects",
}


def schema_of(kind: str) -> dict[str, Any]:
    """The schema of one kind. Raises KeyError.

    A pool that extends a base may leave out what the base has, so its required fields are not required.
    """
    definitions: dict[str, Any] = {}
    cls = KINDS[kind]
    full = _reference(cls, definitions, partial=False)
    partial = _reference(cls, definitions, partial=True)
    body: dict[str, Any] = {
        "$schema": DRAFT,
        "$id": f"poolsmith/v1/{(FILE_NAMES | POLICY_FILE_NAMES)[kind]}",
        "title": _TITLES[kind],
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": kind},
            "metadata": _reference(Metadata, definitions, partial=False),
            "spec": {"type": "object"},
        },
    }
    if kind not in _PARTIAL_KINDS:
        body["properties"]["spec"] = full
    elif kind == "NodePoolBase":
        body["properties"]["spec"] = partial
    else:
        extends = {"properties": {"spec": {"required": ["extends"]}}}
        body["if"] = extends
        body["then"] = {"properties": {"spec": partial}}
        body["else"] = {"properties": {"spec": full}}
    used = _used(body, definitions)
    body["$defs"] = {name: definitions[name] for name in sorted(used)}
    return body


def _reference(cls: type, definitions: dict[str, Any], *, partial: bool) -> dict[str, Any]:
    name = cls.__name__ + (".partial" if partial else "")
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = _object(cls, definitions, partial=partial)
    return {"$ref": f"#/$defs/{name}"}


def _object(cls: type, definitions: dict[str, Any], *, partial: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required = []
    for name, field in fields_of(cls).items():
        schema = _schema(field.hint, field.shape, definitions, partial=partial)
        demanded = field.required and not partial
        if demanded:
            required.append(name)
        else:
            schema = {"anyOf": [schema, {"type": "null"}]}
        schema["description"] = field.shape.doc
        if field.shape.examples:
            schema["examples"] = [list(item) if isinstance(item, tuple) else item for item in field.shape.examples]
        properties[name] = schema
    body: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    if cls.__doc__:
        body["description"] = cls.__doc__
    if required:
        body["required"] = required
    return body


def _schema(hint: Any, shape: Shape, definitions: dict[str, Any], *, partial: bool) -> dict[str, Any]:
    origin = get_origin(hint)
    if hint is Any:
        return {}
    if hint is str:
        return {"type": "string", **({"pattern": f"^({shape.pattern})$"} if shape.pattern else {})}
    if hint is bool:
        return {"type": "boolean"}
    if hint is int:
        bounds = {"minimum": shape.minimum, "maximum": shape.maximum}
        return {"type": "integer", **{key: value for key, value in bounds.items() if value is not None}}
    if origin is tuple:
        item = _schema(get_args(hint)[0], shape, definitions, partial=False)  # lists replace as a whole
        return {"type": "array", "items": item, **({"uniqueItems": True} if shape.unique else {})}
    if origin is dict:
        body = {
            "type": "object",
            "additionalProperties": _schema(get_args(hint)[1], shape, definitions, partial=False),
        }
        if shape.keys:
            body["propertyNames"] = {"pattern": f"^({shape.keys})$"}
        return body
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _reference(hint, definitions, partial=partial)
    raise TypeError(f"no schema for {hint!r}")


def _used(body: Any, definitions: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    pending = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            name = reference.removeprefix("#/$defs/") if isinstance(reference, str) else None
            if name is not None and name not in found:
                found.add(name)
                pending.append(definitions[name])
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return found
