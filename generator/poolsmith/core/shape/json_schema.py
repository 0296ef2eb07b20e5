"""JSON Schemas of our kinds, for editors, from the same declarations that loading uses."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Any, get_args, get_origin

from poolsmith.core.record import record
from poolsmith.core.shape.field import API_VERSION, BaseMetadata, Metadata
from poolsmith.core.shape.reader import FieldReader, fields_of

if TYPE_CHECKING:
    from poolsmith.core.shape.field import Shape

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@record
class Kind:
    """One of our kinds. `is_part` says that a document may lack what another brings; `extends` that it names others."""

    name: str
    spec: type
    title: str
    file: str
    is_part: bool = False
    extends: bool = False


def schema_of(kind: Kind) -> dict[str, Any]:
    """The schema of one kind.

    A document that extends a part may leave out what the part has, so its required fields are not required.
    """
    definitions: dict[str, Any] = {}
    full = _reference(kind.spec, definitions, partial=False)
    partial = _reference(kind.spec, definitions, partial=True)
    body: dict[str, Any] = {
        "$schema": DRAFT,
        "$id": f"{API_VERSION}/{kind.file}",
        "title": kind.title,
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": kind.name},
            "metadata": _reference(BaseMetadata if kind.is_part else Metadata, definitions, partial=False),
            "spec": {"type": "object"},
        },
    }
    if kind.is_part:
        body["properties"]["spec"] = partial
    elif kind.extends:
        extends = {"properties": {"spec": {"required": ["extends"]}}}
        body["if"] = extends
        body["then"] = {"properties": {"spec": partial}}
        body["else"] = {"properties": {"spec": full}}
    else:
        body["properties"]["spec"] = full
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
    lists = {field.shape.several_of: name for name, field in fields_of(cls).items() if field.shape.several_of}
    for name, field in fields_of(cls).items():
        schema = _schema(field.hint, field.shape, definitions, partial=partial)
        demanded = field.required and not partial and name not in lists
        if demanded:
            required.append(name)
        else:
            schema = {"anyOf": [schema, {"type": "null"}]}
        schema["description"] = field.shape.doc
        if examples := (*field.shape.examples, *field.shape.words):
            shown = [list(item) if isinstance(item, tuple) else item for item in examples]
            schema["examples"] = [item for index, item in enumerate(shown) if item not in shown[:index]]
        properties[name] = schema
    body: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    if cls.__doc__:
        body["description"] = cls.__doc__
    if required:
        body["required"] = required
    if lists:
        body["allOf"] = [
            _one_of(single, several, fields_of(cls)[single], partial=partial) for single, several in lists.items()
        ]
    return body


def _one_of(single: str, several: str, field: FieldReader, *, partial: bool) -> dict[str, Any]:
    """One value or a list of them; null is as good as absent, save that JSON Schema would take both for given."""
    given = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in (single, several)]
    if field.required and not partial:
        return {"oneOf": given}
    return {"not": {"allOf": given}}


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
        least = {"minItems": 1} if shape.several_of else {}
        return {"type": "array", "items": item, **least, **({"uniqueItems": True} if shape.unique else {})}
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
