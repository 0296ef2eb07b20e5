"""The rules PSM310 to PSM315: every object of a tree against the schema of its kind."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, RuleInfo, Severity, diagnose
from poolsmith.core.diagnostics.codes import object_schema as codes
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.guard.rules.schema.half_objects import half_object, half_objects
from poolsmith.guard.rules.schema.object_places import Places
from poolsmith.kubernetes.repository.file_forms import is_encrypted
from poolsmith.kubernetes.schema.schemas import KindSchema, NoSchema, Schemas
from poolsmith.kubernetes.schema.violation import BEYOND_JSON_SCHEMA, Violation, What

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULES = codes.OBJECT_SCHEMA
MOST_PER_OBJECT = 50
"""Findings of one object that are reported one by one; the rest is counted."""
MOST_PER_FILE = 500
_OWN = "poolsmith/v1"
_BASELINE = "Baseline"
_RULE_OF = {
    What.UNKNOWN_FIELD: codes.UNKNOWN_OBJECT_FIELD,
    What.NULL: codes.NULL_FIELD,
    What.DUPLICATE: codes.DUPLICATE_ENTRY,
}
_CREATED_BY_TOOLS = ["creationTimestamp", "metadata"]
_PATCH_MAY = frozenset((What.REQUIRED, What.NULL, What.DUPLICATE, What.RULE))


@record(kw_only=False)
class SchemaVerdict:
    """What was said of one object, for a second opinion. `refused` is the pointer that a JSON Schema would refuse."""

    document: CheckedDocument
    base: str
    kind: KindSchema
    body: dict[str, Any]
    refused: str | None


@record(frozen=False, kw_only=False)
class SchemaFindings:
    """What the schemas said about a tree. `skipped` counts objects by what and why.

    `half` are path and index of documents that are meant as objects, and are none.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    validated: int = 0
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    not_evaluated: int = 0
    verdicts: list[SchemaVerdict] = field(default_factory=list)
    half: set[tuple[str, int]] = field(default_factory=set)


def judge_objects(tree: CheckedTree, schemas: Schemas, *, keep_verdicts: bool = False) -> SchemaFindings:
    """Every object of the tree, `kind: List` unfolded."""
    judgement = SchemaFindings()
    patches = patch_files(tree)
    places = Places()
    unknown: dict[tuple[str, str], tuple[CheckedDocument, str, str, NoSchema]] = {}
    reported: Counter[str] = Counter()
    for document in tree.objects:
        for base, body in unfold(document.data):
            api_version, kind = body.get("apiVersion"), body.get("kind")
            if not isinstance(api_version, str) or not isinstance(kind, str):
                half = half_object(document, base, body)
                judgement.diagnostics.append(half.diagnostic(places.of(document)))
                continue
            if api_version == _OWN:
                if kind != _BASELINE:  # which the run itself reads
                    judgement.skipped["profiles", "`poolsmith check` without a path checks them"] += 1
                continue
            schema = schemas.find(api_version, kind)
            if isinstance(schema, NoSchema):
                judgement.skipped[f"{api_version} {kind}", schema.reason] += 1
                if not schema.is_foreign:  # those are only counted: nobody can do anything about them
                    unknown.setdefault((api_version, kind), (document, base, _name(body), schema))
                continue
            if is_encrypted(body):
                judgement.skipped["encrypted objects", "nobody can read their values here"] += 1
                continue
            judgement.validated += 1
            violations = schema.violations(body)
            if violations:
                violations = _relevant(violations, is_patch=document.path in patches or document.is_incomplete)
                from poolsmith.guard.rules.schema.open_values import without_open_values  # on demand

                decided = without_open_values(violations, body)
                judgement.not_evaluated += len(violations) - len(decided)
                violations = decided
            if keep_verdicts and document.path not in patches:
                refused = (join(base) + item.pointer for item in violations if item.what not in BEYOND_JSON_SCHEMA)
                judgement.verdicts.append(SchemaVerdict(document, base, schema, body, next(refused, None)))
            if violations:
                _report(judgement, document, base, _name(body), violations, places, reported)
    for half in half_objects(tree, patches):
        judgement.half.add((half.document.path, half.document.index))
        judgement.diagnostics.append(half.diagnostic(places.of(half.document)))
    for (api_version, kind), (document, base, name, schema) in unknown.items():
        count = judgement.skipped[f"{api_version} {kind}", schema.reason]
        judgement.diagnostics.append(_unknown(schema, document, base, name, count, places))
    return judgement


def unfold(body: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects that a document stands for, each with its pointer: itself, or the items of a `kind: List`."""
    if body.get("kind") == "List" and body.get("apiVersion") == "v1" and isinstance(body.get("items"), list):
        for index, item in enumerate(body["items"]):
            yield f"/items/{index}", item if isinstance(item, dict) else {}
        return
    yield "", body


def _relevant(violations: tuple[Violation, ...], *, is_patch: bool) -> tuple[Violation, ...]:
    """A strategic-merge patch is part of an object, with directives of its own."""
    kept = (
        item
        for item in violations
        if not (item.what is What.NULL and item.steps == _CREATED_BY_TOOLS)
        and not (is_patch and (item.what in _PATCH_MAY or str(item.steps[0] if item.steps else "").startswith("$")))
    )
    return tuple(kept)


def patch_files(tree: CheckedTree) -> frozenset[str]:
    """The files that kustomizations name as patches."""
    found: set[str] = set()
    for document in tree.kustomizations:
        folder = posixpath.dirname(document.path)
        for key in ("patches", "patchesStrategicMerge", "patchesJson6902"):
            entries = document.data.get(key)
            for entry in entries if isinstance(entries, list) else ():
                path = entry.get("path") if isinstance(entry, dict) else entry
                if isinstance(path, str) and "\n" not in path:
                    found.add(posixpath.normpath(posixpath.join(folder, path)))
    return frozenset(found)


def _report(
    judgement: SchemaFindings,
    document: CheckedDocument,
    base: str,
    name: str,
    violations: tuple[Violation, ...],
    places: Places,
    reported: Counter[str],
) -> None:
    told = [item for item in violations if item.what is not What.NOT_EVALUATED]
    judgement.not_evaluated += len(violations) - len(told)
    limit = max(0, min(MOST_PER_OBJECT, MOST_PER_FILE - reported[document.path]))
    for violation in told[:limit]:
        reported[document.path] += 1
        judgement.diagnostics.append(_diagnostic(violation, document, base, name, places))
    if (rest := len(told) - limit) > 0:
        worst = min((_severity(item) for item in told[limit:]), key=lambda item: item.rank)
        message = f"{name}: {rest} more values are not what the schema allows"
        location = places.of(document).locate(document.index, base)
        judgement.diagnostics.append(diagnose(codes.SCHEMA_VIOLATION, message, location, severity=worst))


def _diagnostic(violation: Violation, document: CheckedDocument, base: str, name: str, places: Places) -> Diagnostic:
    rule: RuleInfo = _RULE_OF.get(violation.what, codes.SCHEMA_VIOLATION)
    dotted = violation.dotted
    what = f"`{dotted}` {violation.message}" if dotted else violation.message
    return diagnose(
        rule,
        f"{name}: {what}",
        places.of(document).locate(document.index, base + violation.pointer),
        help=violation.help,
        subject=name,
        severity=_severity(violation),
    )


def _severity(violation: Violation) -> Severity:
    if violation.what is What.NULL:
        return codes.NULL_FIELD.severity
    return Severity.ERROR if violation.grave else Severity.WARNING


def _unknown(
    schema: NoSchema, document: CheckedDocument, base: str, name: str, count: int, places: Places
) -> Diagnostic:
    rule = codes.KIND_NOT_SERVED if schema.refused else codes.KIND_WITHOUT_SCHEMA
    times = f" ({count} objects)" if count > 1 else ""
    return diagnose(
        rule,
        f"{name}: {schema.reason}{times}",
        places.of(document).locate(document.index, f"{base}/kind"),
        help=schema.help,
        subject=name,
    )


def _name(body: dict[str, Any]) -> str:
    """Kind/name, as CheckedDocument says it."""
    metadata = body.get("metadata")
    name = (metadata.get("name") or metadata.get("generateName")) if isinstance(metadata, dict) else None
    return f"{body['kind']}/{name}" if isinstance(name, str) else str(body["kind"])
