"""What policies say of objects, as text and as JSON version 1.

Results of policy tests as text, JSON version 1 and JUnit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import cut_inside, printable, printable_line
from poolsmith.interface.report.escaped_text import attribute
from poolsmith.interface.report.json_v1 import diagnostic_body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.admission.policy_test import CaseResult
    from poolsmith.kubernetes.admission.verdict import Decision, PolicyEvalResult, ValidationResult


_LONGEST = 10 * 1024
"""As the API server bounds audit annotations; its messages are shorter, but expressions in them need not be."""


def eval_json(result: PolicyEvalResult) -> str:
    """ASCII: whatever encoding the reader's pipe has, the text stays JSON."""
    body = {
        "version": 1,
        "kubernetes": result.kubernetes,
        "allowed": result.allowed,
        "results": [
            _result(item, decision.shown) for decision in result.decisions for item in decision.evaluation.results
        ],
        "notMatched": [
            {"object": decision.shown, "policy": item.policy, "binding": item.binding, "why": item.why}
            for decision in result.decisions
            for item in decision.evaluation.not_matched
        ],
        "decisions": [_decision(item) for item in result.decisions],
        "notes": list(result.notes),
        "diagnostics": [diagnostic_body(item) for item in result.diagnostics],
    }
    return json.dumps(body, indent=2) + "\n"


def eval_text(result: PolicyEvalResult) -> str:
    """For people: what each policy says of each object, and what becomes of it."""
    return "".join(f"{line}\n" for line in _lines(result))


def response_message(item: ValidationResult) -> str:
    """What the API server answers."""
    binding = f" with binding '{item.binding}'" if item.binding is not None else ""
    return f"ValidatingAdmissionPolicy '{item.policy}'{binding} denied request: {item.message}"


def _result(item: ValidationResult, shown: str) -> dict[str, Any]:
    return {
        "policy": item.policy,
        "binding": item.binding,
        "validation": item.validation,
        "verdict": str(item.verdict),
        "action": item.action,
        "message": item.message,
        "denied": item.denied,
        "reason": item.reason or None,
        "code": item.code,
        "actions": list(item.actions),
        "params": item.param,
        "pointer": item.pointer,
        "object": shown,
    }


def _decision(decision: Decision) -> dict[str, Any]:
    evaluation = decision.evaluation
    denial = evaluation.denial
    return {
        "object": decision.shown,
        "operation": decision.operation,
        "allowed": decision.allowed,
        "code": denial.code if denial is not None else None,
        "reason": (denial.reason or "Invalid") if denial is not None else None,
        "message": response_message(denial) if denial is not None else None,
        "warnings": [
            f"Validation failed for ValidatingAdmissionPolicy '{item.policy}' with binding '{item.binding}': "
            f"{item.message}"
            for item in evaluation.results
            if item.failed and "Warn" in item.actions
        ],
        "auditAnnotations": {item.key: item.value for item in evaluation.audit_annotations},
    }


def _lines(result: PolicyEvalResult) -> Iterator[str]:
    for decision in result.decisions:
        evaluation = decision.evaluation
        yield f"{printable_line(decision.shown)}: {decision.operation}"
        for item in evaluation.results:
            yield f"   {_words(item)}"
        for skipped in evaluation.not_matched:
            binding = f" / {skipped.binding}" if skipped.binding is not None else ""
            yield f"   not matched    {printable(skipped.policy + binding)}: {printable(skipped.why)}"
        for audit in evaluation.audit_annotations:
            yield f"   audit log      {printable(audit.key)}: {_short(audit.value)}"
        yield f"   {_outcome(decision, sound=not result.has_errors)}"
    for note in result.notes:
        yield f"note: {printable(note)}"


def _words(item: ValidationResult) -> str:
    where = item.policy
    if item.binding is not None:
        where += f" / {item.binding}"
    if item.param is not None:
        where += f" with {item.param}"
    if item.validation is not None:
        where += f", validation {item.validation}"
    verdict = "not evaluated" if item.verdict == "notEvaluated" else str(item.verdict)
    done = f"{item.action}: " if item.action is not None else ""
    return f"{verdict:<14} {printable(where)}" + (f": {done}{_short(item.message)}" if item.message else "")


def _outcome(decision: Decision, *, sound: bool) -> str:
    denial = decision.evaluation.denial
    if denial is not None:
        return f"=> denied ({denial.reason or 'Invalid'}, {denial.code}): {_short(denial.message)}"
    if decision.allowed is None:
        return "=> not decided: something was not evaluated"
    if not sound:
        return "=> not decided: something is wrong in a file"
    return "=> allowed" if decision.evaluation.results else "=> allowed: no policy applies to it"


def _short(text: str) -> str:
    """One line; of one that is very long both ends, since an expression stands before the reason why it failed."""
    return cut_inside(printable(text.strip().replace("\n", " ")), _LONGEST)


def tests_text(cases: Sequence[CaseResult]) -> str:
    """A line for each case, after its file."""
    lines: list[str] = []
    file = None
    for case in cases:
        if case.file != file:
            file = case.file
            lines.append(printable_line(file))
        word = "ok    " if case.passed else "FAILED"
        lines.append(f"   {word} {printable(case.policy)}: {printable(case.name)}")
    return "".join(f"{line}\n" for line in lines)


def tests_json(cases: Sequence[CaseResult], diagnostics: Sequence[Diagnostic]) -> str:
    failed = sum(not case.passed for case in cases)
    body = {
        "version": 1,
        "summary": {"cases": len(cases), "passed": len(cases) - failed, "failed": failed},
        "cases": [
            {
                "file": case.file,
                "name": case.name,
                "policy": case.policy,
                "passed": case.passed,
                "expected": case.expected,
                "actual": case.actual,
                "message": case.message,
                "why": case.why or None,
            }
            for case in cases
        ],
        "diagnostics": [diagnostic_body(item) for item in diagnostics],
    }
    return json.dumps(body, indent=2) + "\n"


def tests_junit(cases: Sequence[CaseResult], diagnostics: Sequence[Diagnostic]) -> str:
    """A suite for each file; what is wrong beside the cases is a failing case of a suite of its own."""
    others = [item for item in diagnostics if item.name != "failed-policy-test" and item.severity.value != "note"]
    suites = [
        _suite(name, [case for case in cases if case.file == name]) for name in dict.fromkeys(c.file for c in cases)
    ]
    if others:
        suites.append(_findings(others))
    failures = sum(not case.passed for case in cases) + len(others)
    head = (
        f'<testsuites name="poolsmith policy test" tests="{len(cases) + len(others)}" failures="{failures}" errors="0">'
    )
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>")) + "\n"


def _suite(name: str, cases: Sequence[CaseResult]) -> str:
    failures = sum(not case.passed for case in cases)
    lines = [f'  <testsuite name={attribute(name)} tests="{len(cases)}" failures="{failures}" errors="0" skipped="0">']
    for case in cases:
        head = f"    <testcase name={attribute(case.name)} classname={attribute(case.policy)}"
        if case.passed:
            lines.append(f"{head}/>")
        else:
            lines.append(f"{head}>")
            lines.append(f"      <failure message={attribute(case.why)} type={attribute(case.expected)}/>")
            lines.append("    </testcase>")
    return "\n".join((*lines, "  </testsuite>"))


def _findings(items: Sequence[Diagnostic]) -> str:
    lines = [f'  <testsuite name="findings" tests="{len(items)}" failures="{len(items)}" errors="0" skipped="0">']
    for item in items:
        name, kind = f"{item.primary.span}: {item.code} {item.name}", item.name
        lines.append(f"    <testcase name={attribute(name)} classname={attribute(item.primary.span.path)}>")
        lines.append(f"      <failure message={attribute(item.message)} type={attribute(kind)}/>")
        lines.append("    </testcase>")
    return "\n".join((*lines, "  </testsuite>"))
