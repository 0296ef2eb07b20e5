"""The JSON report, version 1: an envelope of its own, not a dump of internal types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.masking import masked

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.formats import ReportContext


def check_report(outcome: Outcome, context: ReportContext) -> str:
    return format_json(outcome, tool=context.tool)


def format_json(outcome: Outcome, *, tool: str) -> str:
    """`tool` is name and version. The text ends in a newline; nothing else belongs on standard output.

    ASCII: whatever encoding the reader's pipe has, the text stays JSON.
    """
    return json.dumps(report(outcome, tool=tool), indent=2) + "\n"


def report(outcome: Outcome, *, tool: str) -> dict[str, Any]:
    body = {
        "version": 1,
        "tool": tool,
        "summary": {
            "checked": sum(outcome.checked.values()),
            "checkedByKind": outcome.checked,
            "skipped": len(outcome.skipped),
            "skippedReasons": [{"what": masked(item.what), "reason": masked(item.reason)} for item in outcome.skipped],
            "waived": outcome.waived,
            "notEvaluated": outcome.not_evaluated,
            "acceptedUnknown": outcome.accepted_unknown,
            "errors": outcome.count(Severity.ERROR),
            "warnings": outcome.count(Severity.WARNING),
            "notes": outcome.count(Severity.NOTE),
        },
        "diagnostics": [_with_age(item, outcome) for item in outcome.diagnostics],
    }
    if outcome.taken:
        body["taken"] = outcome.taken
    if outcome.judged:
        body["judged"] = masked(outcome.judged)
    if outcome.needs:
        body["needs"] = outcome.needs
    if outcome.coverage is not None:
        body["coverage"] = {
            "configurations": outcome.coverage.found,
            "judged": outcome.coverage.found - len(outcome.coverage.unjudged),
            "unjudged": [
                {"what": masked(item.what), "why": masked(item.why), "add": item.add}
                for item in outcome.coverage.unjudged
            ],
        }
    return body if outcome.shard is None else body | {"shard": outcome.shard}


def _with_age(item: Diagnostic, outcome: Outcome) -> dict[str, Any]:
    first = outcome.first_seen.get((item.code, item.subject))
    return diagnostic_body(item) | ({"firstSeen": first} if first else {})


def diagnostic_body(item: Diagnostic) -> dict[str, Any]:
    return {
        "code": item.code,
        "name": item.name,
        "severity": item.severity.value,
        "message": item.message,
        "subject": masked(item.subject),
        "primary": location_body(item.primary),
        "related": [location_body(location) for location in item.related],
        "help": item.help,
        "fingerprint": item.fingerprint,
        "status": item.status,
    }


def location_body(location: Location) -> dict[str, Any]:
    start = location.span.start
    body: dict[str, Any] = {
        "path": masked(location.span.path),
        "line": start.line if start else None,
        "column": start.column if start else None,
        "pointer": masked(location.pointer),
    }
    if location.note is not None:
        body["note"] = location.note
    return body
