"""What the API server makes of the fields of one custom resource, by its definition.

Built-in kinds are left out: both engines read them through the Go types that the server has, and every diff fills in
the same defaults. Only fields that a definition does not have are told of them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.kubernetes.schema.kind_schema import KindSchema
    from poolsmith.kubernetes.schema.scalars import Schema

_ENVELOPE = frozenset(("apiVersion", "kind", "metadata", "status"))
_EMPTY_IS_DROPPED = ("annotations", "finalizers", "labels", "ownerReferences")
_WHOLE = "atomic"


class Effect(StrEnum):
    """What comes of a field that is applied."""

    NULL_FOR_DEFAULT = "null-for-default"
    NULL_IN_LIST = "null-in-list"
    DEFAULT_IN_LIST = "default-in-list"
    EMPTY_METADATA = "empty-metadata"
    NULL_METADATA = "null-metadata"
    NULL_REFUSED = "null-refused"
    NULL_OF_REQUIRED = "null-of-required"
    UNDECLARED = "undeclared"
    ADDED = "added"
    OTHERS = "written-by-others"


@record
class ServerField:
    """A field at a JSON pointer (RFC 6901): what is applied, and what the server has there afterwards.

    None stands for null and for nothing at all; which of the two, the effect says.
    """

    pointer: str
    effect: Effect
    given: Any = None
    stored: Any = None


def server_fields(body: dict[str, Any], schema: KindSchema) -> Iterator[ServerField]:
    """All fields that the server stores otherwise than they are applied, or refuses; in the order of the object."""
    yield from _metadata(body.get("metadata"))
    walk = _Walk(schema.compiler.resolve)
    spec = {key: value for key, value in body.items() if key not in _ENVELOPE}
    properties = schema.definition.get("properties", {})
    top = {key: value for key, value in properties.items() if key not in _ENVELOPE}
    yield from walk.mapping(spec, {**schema.definition, "properties": top}, (), whole=False)


def _metadata(metadata: Any) -> Iterator[ServerField]:
    if not isinstance(metadata, dict):
        return
    for key in _EMPTY_IS_DROPPED:
        if key not in metadata:
            continue
        value, pointer = metadata[key], f"/metadata/{key}"
        if value is None:
            yield ServerField(pointer=pointer, effect=Effect.NULL_METADATA)
        elif not value:
            if key == "annotations":  # Argo CD takes an empty mapping of annotations away itself, but not in each diff
                yield ServerField(pointer=pointer, effect=Effect.NULL_METADATA, given=value)
            else:
                yield ServerField(pointer=pointer, effect=Effect.EMPTY_METADATA, given=value)
        elif isinstance(value, dict):
            for name, text in value.items():
                if text is None:
                    yield ServerField(pointer=join(pointer, name), effect=Effect.NULL_METADATA, stored="")


class _Walk:
    """`whole` says that a list above is replaced as a whole, so that nothing below is merged field by field."""

    def __init__(self, resolve: Callable[[Schema], Schema]) -> None:
        self.resolve = resolve

    def mapping(
        self, value: dict[str, Any], schema: Schema, path: tuple[str | int, ...], *, whole: bool
    ) -> Iterator[ServerField]:
        properties: dict[str, Schema] = schema.get("properties", {})
        further = schema.get("additionalProperties")
        required = schema.get("required", ())
        for key, item in value.items():
            below = properties.get(key, further)
            if isinstance(below, dict):
                below = self.resolve(below)
                if item is None:
                    yield from _null(below, (*path, key), whole=whole, required=key in required)
                else:
                    yield from self.value(item, below, (*path, key), whole=whole)
            elif not schema.get("preserve") and below is not True:
                yield ServerField(pointer=join("", *path, key), effect=Effect.UNDECLARED, given=item)
        for key, child in properties.items():
            below = self.resolve(child)
            if key not in value and "default" in below:
                effect = Effect.DEFAULT_IN_LIST if whole else Effect.ADDED
                yield ServerField(pointer=join("", *path, key), effect=effect, stored=below["default"])

    def value(self, value: Any, schema: Schema, path: tuple[str | int, ...], *, whole: bool) -> Iterator[ServerField]:
        if value is None:
            yield from _null(schema, path, whole=whole, required=True)
        elif isinstance(value, dict):
            yield from self.mapping(value, schema, path, whole=whole)
        elif isinstance(value, list):
            items = self.resolve(schema.get("items", {}))
            replaced = whole or schema.get("listType", _WHOLE) == _WHOLE
            for index, item in enumerate(value):
                yield from self.value(item, items, (*path, index), whole=replaced)


def _null(schema: Schema, path: tuple[str | int, ...], *, whole: bool, required: bool) -> Iterator[ServerField]:
    if schema.get("nullable"):
        return
    if "default" in schema:
        effect = Effect.NULL_IN_LIST if whole else Effect.NULL_FOR_DEFAULT
    else:
        effect = Effect.NULL_OF_REQUIRED if required else Effect.NULL_REFUSED
    yield ServerField(pointer=join("", *path), effect=effect, stored=schema.get("default"))
