"""Whatever stands in a pull request, no report says more than its findings: nothing is forged in any format."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import Location, Position, Severity, Span, diagnose
from poolsmith.core.diagnostics.message_text import harmless
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.interface.report import github, junit, sarif, text
from poolsmith.interface.report.formats import GROUPS, Layout, ReportContext
from support.code_book import CODE_BOOK

RULES = {severity: next(rule for rule in CODE_BOOK if rule.severity is severity) for severity in Severity}
TOKEN = "0123456789abcdef"
EVIL = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        (
            "::error file=x::forged",
            "\n::error::forged",
            "%0A::error::forged",
            "\r\n::set-output name=x::y",
            f"::{TOKEN}::",
            "##[error]forged",
            "##vso[task.complete]",
            '"/><failure message="forged"/>',
            "]]><failure/>",
            "</system-out></testcase><testcase name='forged'>",
            "&lt;&#0;&#x1b;<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
            '"}],"results":[]',
            "[forged](https://evil.example)",
            "[x](1)",
            "\x00\x0b\x1b[2J\ufffe\uffff\ud800\u202e\u2028",
            "profiles/edge/l4.yaml:1:1: error PSM101 forged",
        )
    ),
)


@st.composite
def findings(draw):
    severity = draw(st.sampled_from(list(Severity)))
    span = Span(path=draw(EVIL) or "x", start=Position(1, 1), end=Position(1, draw(st.integers(1, 9))))
    place = Location(span=span, pointer=draw(EVIL), note=draw(st.none() | EVIL), source_line=draw(st.none() | EVIL))
    return diagnose(
        RULES[severity], draw(EVIL), place, help=draw(st.none() | EVIL), subject=draw(EVIL), related=(place,)
    )


OUTCOMES = st.builds(
    lambda found, what, fact: Outcome(diagnostics=tuple(found), skipped=(Skipped(what, fact),), facts=(fact,)),
    st.lists(findings(), max_size=5),
    EVIL,
    EVIL,
)
VERBOSE = ReportContext(tool="poolsmith 1", layout=Layout(verbose=True), stop_token=TOKEN)


@given(OUTCOMES)
def test_annotations_are_those_of_the_findings(outcome):
    printed = harmless(github.check_report(outcome, VERBOSE), with_commands=True)
    lines = re.split(r"\r\n|\r|\n|\x0b|\x0c|\x85|\u2028|\u2029", printed)
    stop = lines.index(f"::stop-commands::{TOKEN}")

    assert len([line for line in lines[:stop] if re.match(r"\s*::", line)]) == len(outcome.diagnostics)
    assert all(re.match(r"::(error|warning|notice) file=[^,:]*,line=1,col=1,", line) for line in lines[:stop])
    assert [line for line in lines[stop + 1 :] if line.strip() == f"::{TOKEN}::"] == [f"::{TOKEN}::"]
    assert lines[-2:] == [f"::{TOKEN}::", ""]
    assert not re.search(r"##(\[|vso\[|teamcity\[)", printed)


@given(OUTCOMES)
def test_junit_has_the_findings_and_nothing_else(outcome):
    printed = junit.check_report(outcome, VERBOSE)
    tree = ET.fromstring(printed.encode("ascii"))

    assert "<!DOCTYPE" not in printed
    assert {item.tag for item in tree.iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "skipped", "system-out"
    }  # fmt: skip
    errors = sum(item.severity is Severity.ERROR for item in outcome.diagnostics)
    assert len(list(tree.iter("failure"))) == errors


@given(OUTCOMES)
def test_sarif_has_the_findings_and_no_links(outcome):
    printed = sarif.check_report(outcome, VERBOSE)
    (run,) = json.loads(printed.encode("ascii"))["runs"]

    assert len(run["results"]) == len(outcome.diagnostics)
    for result in run["results"]:
        messages = [
            result["message"],
            *(place["message"] for place in result["relatedLocations"] if "message" in place),
        ]
        for message in messages:
            assert "](" not in message["text"]
            assert all(line.isprintable() for line in message["text"].split("\n"))
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"(file://)?[A-Za-z0-9._~%/-]*", uri)
        assert not re.match(r"[a-z]+:(?!///)", uri)


@given(OUTCOMES, st.sampled_from(GROUPS), st.booleans(), st.none() | st.integers(40, 100))
@example(Outcome(facts=("::error::forged",)), "rule", False, None)
def test_the_text_neither_steers_a_terminal_nor_forges_a_line_for_grep(outcome, group, verbose, width):
    layout = Layout(group_by=group, verbose=verbose, width=width)
    printed = harmless(text.format_text(outcome, layout))

    assert all(line.isprintable() for line in printed.split("\n"))
    assert not re.search(r"^\s*::", printed, re.MULTILINE)
