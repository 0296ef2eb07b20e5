"""The rules PSM310 to PSM315: every object of a tree against the schema of its kind.

Half an object (a document that is meant as one and lacks its kind or version) is reported. Values that are filled in
after the file is written are not judged: nobody can know them from the file.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, RuleInfo, Severity, diagnose
from poolsmith.core.diagnostics.codes import schema as codes
from poolsmith.core.diagnostics.codes.schema import SCHEMA_VIOLATION
from poolsmith.core.diagnostics.message_text import kind_of
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.kubernetes.repository.delivered import Delivered
from poolsmith.kubernetes.repository.manifest_files import is_encrypted
from poolsmith.kubernetes.schema.schemas import NoSchema, Schemas
from poolsmith.kubernetes.schema.violation import BEYOND_JSON_SCHEMA, Violation, What

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree
    from poolsmith.kubernetes.schema.kind_schema import KindSchema


_BOTH = ("apiVersion", "kind")
_HELP = "write both, or move what is no object into a file of its own"
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")
"""kustomize fills in what these leave out."""


@record(kw_only=False)
class Half:
    """A document, or an item of a list in it at `base`, and what is said of it."""

    document: CheckedDocument
    base: str
    key: str
    message: str

    def diagnostic(self, places: StreamPlaces | DeliveredPlaces) -> Diagnostic:
        pointer = f"{self.base}{self.key}"
        index = self.document.index
        place = places.locate(index, pointer) if pointer else places.inside(index, "", 1, 1)
        return diagnose(SCHEMA_VIOLATION, self.message, place, help=_HELP)


def half_objects(tree: CheckedTree, patches: Container[str]) -> Iterator[Half]:
    """Patches and what is empty are left out."""
    beside = {document.path for document in tree.objects}
    for document in tree.documents:
        if document.is_object or document.path in patches or not document.data:
            continue
        if posixpath.basename(document.path) in _KUSTOMIZATIONS:
            continue
        if document.path in beside or _is_meant(document.data):
            yield half_object(document, "", document.data)


def half_object(document: CheckedDocument, base: str, body: Any) -> Half:
    """What is wrong with one that is known to be half."""
    where = f"item {base.rpartition('/')[2]} of the list" if base else f"document {document.index + 1}"
    if not isinstance(body, dict):
        first = "/0" if isinstance(body, list) else ""
        return Half(document, base, first, f"{where} is {kind_of(body)}, not an object of Kubernetes")
    wrong = [_wrong(body, key) for key in _BOTH if not _is_text(body.get(key))]
    present = [key for key in (*_BOTH, *body) if key in body]
    key = next((key for key in present if key in _BOTH and not _is_text(body[key])), present[0] if present else "")
    name = _object_name(body)
    of = f" ({name})" if name else ""
    message = f"{where}{of} is no object of Kubernetes: {', '.join(wrong)}"
    return Half(document, base, join("", key) if key else "", message)


def _is_meant(body: Any) -> bool:
    """One of the two alone, with the name of an object."""
    return isinstance(body, dict) and bool(_object_name(body)) and any(key in body for key in _BOTH)


def _object_name(body: Mapping[str, Any]) -> str:
    metadata = body.get("metadata")
    name = (metadata.get("name") or metadata.get("generateName")) if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _wrong(body: Mapping[str, Any], key: str) -> str:
    if key not in body:
        return f"`{key}` is missing"
    return f"`{key}` is empty" if body[key] == "" else f"`{key}` is {kind_of(body[key])}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


class Places:
    """Files are composed anew only where something is to be located, and once."""

    def __init__(self) -> None:
        self._by_path: dict[str, StreamPlaces] = {}

    def of(self, document: CheckedDocument) -> StreamPlaces | DeliveredPlaces:
        if isinstance(document, Delivered):
            return DeliveredPlaces(document)
        places = self._by_path.get(document.path)
        if places is None:
            places = self._by_path[document.path] = StreamPlaces(document.path, document.text)
        return places


class DeliveredPlaces:
    """The same of an object that several files make."""

    def __init__(self, document: Delivered) -> None:
        self._document = document

    def locate(self, _document: int, pointer: str, note: str | None = None) -> Location:
        return self._document.source.locate(pointer, note)

    def inside(self, _document: int, pointer: str, _line: int, _column: int) -> Location:
        return self._document.source.locate(pointer)


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
        for base, written in unfold(document.data):
            body = written if base else _with_its_kind(document)
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
                # foreign ones are only counted: nobody can do anything about them; of a broken text the mistake is told
                if not schema.is_foreign and not document.is_incomplete:
                    unknown.setdefault((api_version, kind), (document, base, _name(body), schema))
                continue
            if is_encrypted(body):
                judgement.skipped["encrypted objects", "nobody can read their values here"] += 1
                continue
            judgement.validated += 1
            violations = schema.violations(body)
            if violations:
                violations = _relevant(violations, is_patch=document.path in patches or document.is_incomplete)

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


def _with_its_kind(document: CheckedDocument) -> dict[str, Any]:
    """A kustomization need not say what it is."""
    data: dict[str, Any] = document.data
    if "apiVersion" in data and "kind" in data:
        return data
    return {"apiVersion": document.api_version, "kind": document.kind, **data}


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


_OPEN = pattern(r"\$\{[A-Za-z_][^{}]*+(?:\{[^{}]*+\}[^{}]*+)?\}")
"""Flux and envsubst, Helm and Jinja, ERB; a default of a variable may be a variable."""
_OF_ONE_VALUE = frozenset((What.TYPE, What.VALUE, What.DUPLICATE))
_OF_ALL_BELOW = frozenset((What.RULE,))


def without_open_values(violations: tuple[Violation, ...], body: Any) -> tuple[Violation, ...]:
    """Those that hold whatever is filled in."""
    return tuple(item for item in violations if not _is_open(item, body))


def _is_open(violation: Violation, body: Any) -> bool:
    if violation.what in _OF_ONE_VALUE:
        value = _at(body, violation)
        return isinstance(value, str) and is_open(value)
    if violation.what in _OF_ALL_BELOW:
        return _has_open(_at(body, violation))
    return False


def _at(node: Any, violation: Violation) -> Any:
    for step in reversed(violation.steps):
        try:
            node = node[step]
        except (LookupError, TypeError):
            return None
    return node


def is_open(text: str) -> bool:
    """Whether a text has a place that something is put into."""
    return _is_between(text, "{{", "}}") or _is_between(text, "<%", "%>") or _OPEN.search(text) is not None


def _is_between(text: str, opening: str, closing: str) -> bool:
    start = text.find(opening)
    return start >= 0 and text.find(closing, start + len(opening)) >= 0


def _has_open(value: Any) -> bool:
    if isinstance(value, str):
        return is_open(value)
    if isinstance(value, dict):
        return any(_has_open(item) for item in value.values())
    return isinstance(value, list) and any(map(_has_open, value))
