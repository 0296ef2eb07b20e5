"""What the API server answers to an object: how it stores a custom resource, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.schema.kind_schema import KindSchema, kind_of_definition
from poolsmith.kubernetes.schema.violation import What

if TYPE_CHECKING:
    from poolsmith.kubernetes.schema.violation import Violation

_TAKEN = frozenset((What.UNKNOWN_FIELD, What.NULL, What.NOT_EVALUATED))


@record
class CustomResource:
    """A kind that a CustomResourceDefinition declares, with its structural schema."""

    kind: str
    api_version: str
    plural: str
    scope: str
    schema: dict[str, Any]
    checks: KindSchema


@record
class Stored:
    """`resource` is what is stored; where there is something in `refused`, the API server does not take it at all.

    `pruned` are fields that it takes and does not keep.
    """

    resource: dict[str, Any]
    pruned: tuple[Violation, ...] = ()
    refused: tuple[Violation, ...] = ()


def custom_resource(*, kind: str, api_version: str, plural: str, scope: str, schema: dict[str, Any]) -> CustomResource:
    checks = kind_of_definition(schema, f"{api_version} {kind}")
    return CustomResource(kind=kind, api_version=api_version, plural=plural, scope=scope, schema=schema, checks=checks)


def stored(body: dict[str, Any], schema: KindSchema) -> Stored:
    """What becomes of an object that is created. A custom resource is pruned and filled in, and a status of it is not
    taken over; what is filled into built-in kinds, `pod_defaults` and `defaults` say."""
    resource = body
    if schema.is_custom:
        resource = {key: value for key, value in schema.kept(body).items() if key != "status"}
    return Stored(
        resource=resource,
        pruned=pruned(body, schema),
        refused=refused(resource, schema),
    )


def pruned(body: Any, schema: KindSchema) -> tuple[Violation, ...]:
    """Fields of an object that the API server does not know."""
    return tuple(item for item in schema.violations(body) if item.what is What.UNKNOWN_FIELD)


def refused(body: Any, schema: KindSchema) -> tuple[Violation, ...]:
    """Why the API server does not take an object; unknown fields and nulls are no reason to it."""
    return tuple(item for item in schema.violations(body) if item.grave and item.what not in _TAKEN)
