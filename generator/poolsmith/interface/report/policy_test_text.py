"""Results of policy tests as text, JSON version 1 and JUnit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.printable import printable, printable_line
from poolsmith.interface.report.json_v1 import diagnostic_body
from poolsmith.interface.report.xml_text import attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.admission.policy_test import CaseResult


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
