"""SARIF 2.1.0, as code scanning takes it: results at lines that people edit, with fingerprints that stay.

The text of messages is made of what strangers wrote: it is free of control characters, and forms no links.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.certain_edits import certain_edit
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted, cut, printable
from poolsmith.interface.report.finding_blocks import cluster_of
from poolsmith.interface.report.rule_page import family_of, format_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.core.diagnostics.certain_edits import Edit
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.rules.rule_book import RulePage
    from poolsmith.interface.report.formats import ReportContext

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000
"""Of a run, or GitHub refuses the file."""
MOST_SHOWN = 5_000
"""So many of them GitHub shows, the worst."""
_MOST_RELATED = 100
_LONGEST_TEXT = 1_000
_LONGEST_MESSAGE = 8_000
"""Of a description and of a message; together with the number of results they keep a file below 10 MB, compressed."""
_MOST_NOTIFICATIONS = 200
_ROOT = "%SRCROOT%"
_SKIPPED, _NOT_EVALUATED, _LEFT_OUT = "skipped", "not-evaluated", "left-out"
_NOTIFICATIONS = {
    _SKIPPED: "Something that the run did not look at, and why.",
    _NOT_EVALUATED: "How much of the input could not be evaluated.",
    _LEFT_OUT: "Findings that are not in this file.",
}


def check_report(outcome: Outcome, context: ReportContext) -> str:
    found = [item for item in outcome.diagnostics if not (item.asks_nothing and context.layout.folds(item))]
    idle = len(outcome.diagnostics) - len(found)
    notifications = [_notification(_SKIPPED, f"{item.what}: {item.reason}", "note") for item in outcome.skipped]
    if outcome.not_evaluated:
        text = f"{counted(outcome.not_evaluated, 'thing')} could not be evaluated"
        notifications.append(_notification(_NOT_EVALUATED, text, "warning"))
    if idle:
        text = f"{counted(idle, 'note')} with nothing to do; --verbose has them"
        notifications.append(_notification(_LEFT_OUT, text, "note"))
    return _log("check", found, notifications, context)


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """The findings that the change brings."""
    unknown = [*change.unknown, *(text for cluster in change.clusters for text in cluster.unknown)]
    notifications = [_notification(_NOT_EVALUATED, text, "warning") for text in unknown]
    return _log("diff", change.new_findings, notifications, context, baseline="new")


def _log(
    verb: str, found: Sequence[Diagnostic], notifications: list[Any], context: ReportContext, baseline: str = ""
) -> str:
    """ASCII; the text ends in a newline."""
    worst = sorted(found, key=lambda item: (item.is_waived, item.severity.rank, item.asks_nothing))
    results = worst[:MOST_RESULTS]
    if len(results) < len(worst):
        text = f"{len(worst) - len(results):,} of {len(worst):,} findings, the least severe ones: a run holds no more"
        notifications.append(_notification(_LEFT_OUT, text, "warning"))
    elif len(results) > MOST_SHOWN:
        text = f"GitHub shows the worst {MOST_SHOWN:,} of {len(results):,} findings"
        notifications.append(_notification(_LEFT_OUT, text, "note"))
    rules = _rules({item.code for item in results})
    index = {rule.code: number for number, rule in enumerate(rules)}
    name, _, version = context.tool.partition(" ")
    run = {
        "tool": {
            "driver": {
                "name": name,
                "version": version,
                **({"informationUri": context.docs} if context.docs else {}),
                "rules": [_descriptor(rule, context) for rule in rules],
                "notifications": [
                    {"id": kind, "shortDescription": {"text": text}} for kind, text in _NOTIFICATIONS.items()
                ],
            }
        },
        "automationDetails": {"id": f"{name}-{verb}/"},
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The top folder of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {"executionSuccessful": True, "toolExecutionNotifications": notifications[:_MOST_NOTIFICATIONS]}
        ],
        "results": list(_results(results, index, context, baseline)),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rules(codes: set[str]) -> list[RulePage]:
    from poolsmith.guard.rules.rule_book import rule_book  # on demand

    return [rule for rule in rule_book() if rule.code in codes]


def _descriptor(rule: RulePage, context: ReportContext) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _text(rule.what, _LONGEST_TEXT)},
        "fullDescription": {"text": _text(f"{rule.what} {rule.why}", _LONGEST_TEXT)},
        "help": {"text": _help(rule), "markdown": format_rule(rule)},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {"tags": [family_of(rule)], "precision": "very-high"},
    }
    if context.docs:
        body["helpUri"] = f"{context.docs}/rules.md#{rule.code.lower()}-{rule.name}"
    return body


def _help(rule: RulePage) -> str:
    parts = (rule.what, rule.why, f"What to do: {rule.fix}." if rule.fix else "")
    return "\n\n".join(part for part in parts if part)


def _results(
    found: Iterable[Diagnostic], index: dict[str, int], context: ReportContext, baseline: str
) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for item in found:
        seen[item.fingerprint] += 1
        yield _result(item, index[item.code], f"{item.fingerprint}:{seen[item.fingerprint]}", context) | (
            {"baselineState": baseline} if baseline else {}
        )


def _result(item: Diagnostic, rule: int, fingerprint: str, context: ReportContext) -> dict[str, Any]:
    """`fingerprint` tells apart what has the same words at several lines of one file, in the order of the lines."""
    text = item.message if item.help is None else f"{item.message}\n\nhelp: {item.help}"
    body: dict[str, Any] = {
        "ruleId": item.code,
        "ruleIndex": rule,
        "kind": "informational" if item.asks_nothing else "fail",
        "level": "none" if item.asks_nothing else item.severity.value,
        "message": {"text": _lines(text)},
        "locations": [_location(item.primary, context)],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint, "poolsmith/v1": item.fingerprint},
        "properties": {"subject": _text(item.subject), "cluster": cluster_of(item)},
    }
    related = item.related[:_MOST_RELATED]
    if related:
        body["relatedLocations"] = [
            {"id": number, **_location(place, context)} for number, place in enumerate(related, 1)
        ]
    if (edit := certain_edit(item)) is not None:
        body["fixes"] = [_fix(edit, context)]
    if item.is_waived:
        justification = {"justification": _text(item.waived_because)} if item.waived_because else {}
        body["suppressions"] = [{"kind": "external", "status": "accepted", **justification}]
    return body


def _fix(edit: Edit, context: ReportContext) -> dict[str, Any]:
    start, end = edit.start, edit.end
    region = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
    replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
    return {
        "description": {"text": f"write {_text(edit.text)}"},
        "artifactChanges": [{"artifactLocation": _artifact(edit.path, context), "replacements": [replacement]}],
    }


def _location(place: Location, context: ReportContext) -> dict[str, Any]:
    span = place.span
    body: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(span.path, context), "region": _region(place)}
    }
    if place.pointer:
        body["logicalLocations"] = [{"fullyQualifiedName": _text(place.pointer), "kind": "member"}]
    if place.note:
        body["message"] = {"text": _lines(place.note)}
    return body


def _region(place: Location) -> dict[str, int]:
    """Columns count from 1; the last is the first that is not meant. Of a whole file GitHub wants a line too."""
    start, end = place.span.start, place.span.end
    if start is None:
        return {"startLine": 1}
    body = {"startLine": max(1, start.line), "startColumn": max(1, start.column)}
    if end is not None and end > start:
        body |= {"endLine": end.line, "endColumn": end.column}
    return body


def _artifact(path: str, context: ReportContext) -> dict[str, str]:
    if path.startswith("/"):
        return {"uri": f"file://{_quoted(path)}"}
    return {"uri": _quoted(f"{context.below}{path}"), "uriBaseId": _ROOT}


def _quoted(path: str) -> str:
    """Percent-encoded: the bytes of a file's name, also those that are no UTF-8."""
    from urllib.parse import quote  # on demand

    try:
        return quote(path.encode("utf-8", "surrogateescape"), safe="/")
    except UnicodeEncodeError:  # no name of a file
        return quote(path.encode("utf-8", "surrogatepass"), safe="/")


def _notification(kind: str, text: str, level: str) -> dict[str, Any]:
    return {"descriptor": {"id": kind}, "level": level, "message": {"text": _text(masked(text))}}


def _text(text: str, limit: int = _LONGEST_MESSAGE) -> str:
    """One line. `](` would form a link, which SARIF knows in plain text too."""
    return cut(printable(text).replace("](", "] ("), limit)


def _lines(text: str) -> str:
    return cut("\n".join(map(_text, text.split("\n"))), _LONGEST_MESSAGE)
