"""JUnit is valid by the schema that Jenkins publishes, and fails where the run fails."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import xmlschema

from poolsmith.change.diff.change_report import ChangeReport, Revision
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.interface.report.formats import Layout, ReportContext
from poolsmith.interface.report.junit import check_report, diff_report

CONTEXT = ReportContext(tool="poolsmith 1.2.3")


@pytest.fixture(scope="session")
def valid(published):
    """A JUnit text as a tree, after the published schema took it."""
    schema = xmlschema.XMLSchema(str(published("junit.xsd")))

    def check(text):
        assert [error.reason for error in schema.iter_errors(text)] == []
        return ET.fromstring(text)

    return check


def counted(tree):
    """Of every suite, the numbers that it says are the numbers that it has."""
    for suite in tree.iter("testsuite"):
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("failures")) == sum(case.find("failure") is not None for case in suite)
        assert int(suite.get("skipped")) == sum(case.find("skipped") is not None for case in suite)
    assert int(tree.get("tests")) == len(list(tree.iter("testcase")))
    assert int(tree.get("failures")) == sum(case.find("failure") is not None for case in tree.iter("testcase"))


@pytest.mark.rows(1, "a check of the fleet each")
@pytest.mark.parametrize("fail_on", list(Severity))
def test_the_sample_fleet_is_valid_junit_and_fails_as_the_run_does(sample_project, run_cli, valid, fail_on):
    result = run_cli(["check", "--root", sample_project, "--format", "junit", "--fail-on", fail_on])
    tree = valid(result.out)

    counted(tree)
    assert (tree.get("failures") != "0") is (result.code == 1)


@pytest.mark.deep("a check of the whole fleet")
@pytest.mark.sample
def test_a_clean_run_is_not_empty(sample_project, run_cli, valid):
    run_cli(["generate", "--root", sample_project])
    tree = valid(run_cli(["generate", "--root", sample_project, "--format", "junit"]).out)

    assert tree.get("failures") == "0"
    assert "13 clusters" in {case.get("name") for case in tree.iter("testcase")}


def test_a_suite_for_each_cluster_and_file_and_a_case_for_each_rule(finding, valid):
    found = (
        finding("one", help="write less"),
        finding("two", line=12),
        finding("three", severity=Severity.WARNING),
        finding("four", path="policies/waivers.yaml"),
        replace(finding("five", path="profiles/lab/x.yaml"), status="waived", waived_because="known"),
    )
    tree = valid(check_report(Outcome(diagnostics=found, skipped=(Skipped("images", "no list"),)), CONTEXT))
    counted(tree)
    suites = {suite.get("name"): suite for suite in tree}

    assert list(suites) == ["cluster edge", "cluster lab", "policies/waivers.yaml", "skipped"]
    failing, warned = suites["cluster edge"]
    assert [item.get("message") for item in failing] == ["one", "two"]
    assert failing[0].text.startswith("profiles/edge/l4.yaml:11:5: error PSM")
    assert failing[0].text.endswith("\nhelp: write less")
    assert [item.tag for item in warned] == ["system-out"]
    assert suites["cluster lab"][0].find("skipped").text == "known"
    assert suites["skipped"][0].find("skipped").text == "no list"


def test_what_has_nothing_to_do_is_there_for_who_asks(finding, valid):
    outcome = Outcome(diagnostics=(replace(finding(severity=Severity.NOTE), to_do=False),))

    assert list(valid(check_report(outcome, CONTEXT)).iter("testcase")) == []
    assert len(list(valid(check_report(outcome, replace(CONTEXT, layout=Layout(verbose=True)))).iter("testcase"))) == 1


def test_a_diff_has_the_new_findings(finding, valid):
    change = ChangeReport(
        base=Revision(name="main"), head=Revision(name="work tree"), new_findings=(finding(),), unknown=("x broke",)
    )
    tree = valid(diff_report(change, CONTEXT))

    counted(tree)
    assert [suite.get("name") for suite in tree] == ["compared", "cluster edge", "unknown"]
