"""Whether the API server would take an object, and which fields of it would get lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import schema as codes
from poolsmith.core.record import record
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.gpu.catalog.stack_objects import OPERATOR_GROUP
from poolsmith.kubernetes.schema.schemas import NoSchema, newest_kubernetes, schemas_for
from poolsmith.kubernetes.schema.violation import Violation, What
from poolsmith.kubernetes.server.storing import stored

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import RuleInfo
    from poolsmith.kubernetes.schema.kind_schema import KindSchema

MOST = 50
_RULE_OF = {What.DUPLICATE: codes.DUPLICATE_ENTRY}


@record
class Said:
    """One thing about an object: which rule, where in it, and what."""

    rule: RuleInfo
    pointer: str
    text: str
    help: str | None = None


@record
class ApiServerAnswer:
    """`stored` is the object as the API server keeps it; with `violations` it does not take it at all.

    `dropped` are fields that it takes and does not keep.
    """

    stored: dict[str, Any]
    violations: tuple[Said, ...] = ()
    dropped: tuple[Said, ...] = ()


def is_of_operator(api_version: str) -> bool:
    """Whether the operator's own definitions decide."""
    return api_version.rpartition("/")[0] == OPERATOR_GROUP


def kept(body: dict[str, Any], release: str) -> dict[str, Any] | None:
    """The object as the API server keeps it, by the same definitions as in `judge`; None where it does not take it."""
    schema = _schema_of(body, release)
    if isinstance(schema, NoSchema):
        return None if is_of_operator(body["apiVersion"]) else body
    answer = stored(body, schema)
    return None if answer.refused else answer.resource


def _schema_of(body: dict[str, Any], release: str) -> KindSchema | NoSchema:
    schemas = schemas_for(schema_versions(kubernetes=newest_kubernetes(), operator=release))
    return schemas.find(body["apiVersion"], body["kind"])


def judge(body: dict[str, Any], release: str) -> ApiServerAnswer:
    """By the definitions of the operator's release, and the newest Kubernetes for everything else.

    What no schema is known of is taken, but not where the operator's release should have one.
    """
    schema = _schema_of(body, release)
    if isinstance(schema, NoSchema):
        if not is_of_operator(body["apiVersion"]):
            return ApiServerAnswer(stored=body)
        said = Said(rule=codes.KIND_NOT_SERVED, pointer="/kind", text=schema.reason, help=schema.help)
        return ApiServerAnswer(stored=body, violations=(said,))
    answer = stored(body, schema)
    return ApiServerAnswer(
        stored=answer.resource,
        violations=tuple(map(_said, answer.refused[:MOST])),
        dropped=tuple(map(_said, answer.pruned[:MOST])),
    )


def _said(violation: Violation) -> Said:
    rule = _RULE_OF.get(violation.what, codes.SCHEMA_VIOLATION)
    return Said(rule=rule, pointer=violation.pointer, text=violation.text, help=violation.help)
