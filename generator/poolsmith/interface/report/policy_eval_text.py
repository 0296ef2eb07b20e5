"""What policies say of objects, as text and as JSON version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.printable import cut_inside, printable, printable_line
from poolsmith.interface.report.json_v1 import diagnostic_body

if TYPE_CHECKING:
    from collections.abc import Iterator

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
