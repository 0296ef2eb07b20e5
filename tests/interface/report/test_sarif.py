"""SARIF is valid by the published schema, and says what code scanning needs."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from urllib.parse import unquote

import jsonschema
import pytest

from poolsmith.change.diff.change_report import ChangeReport, Revision
from poolsmith.core.diagnostics import Severity, whole_file
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.interface.report.formats import Layout, ReportContext
from poolsmith.interface.report.sarif import MOST_RESULTS, check_report, diff_report

CONTEXT = ReportContext(tool="poolsmith 1.2.3", docs="https://git.example.com/poolsmith/docs")


@pytest.fixture(scope="session")
def valid(published):
    """A SARIF text as a document, after the published schema took it."""
    path = published("sarif-2.1.0.json")
    schema = json.loads(path.read_text("utf-8"))
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())

    def check(text):
        document = json.loads(text)
        assert [(list(error.path), error.message) for error in validator.iter_errors(document)] == []
        return document

    return check


def run_of(*found, context=CONTEXT, **more):
    (run,) = json.loads(check_report(Outcome(diagnostics=found, **more), context))["runs"]
    return run


def told(run):
    return [item["message"]["text"] for item in run["invocations"][0]["toolExecutionNotifications"]]


@pytest.mark.parametrize("verbose", [False, True])
def test_the_sample_fleet_is_valid_sarif(sample_project, run_cli, valid, verbose):
    flags = ["-v"] if verbose else []
    document = valid(run_cli(["check", "--root", sample_project, "--format", "sarif", *flags]).out)
    (run,) = document["runs"]

    assert len(run["results"]) > 20
    for result in run["results"]:
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["markdown"].startswith(f"### {rule['id']} {rule['name']}\n")


def test_every_part_at_once_is_valid(finding, valid):
    related = (replace(finding().primary, note="brings it"), whole_file("profiles/_bases/a b.yaml"))
    found = (
        finding(related=related, help="write less\nor more", subject="edge/l4"),
        replace(finding(), status="waived", waived_because="we know (waived by team until 2027-01-01)"),
        finding(severity=Severity.WARNING, path="/elsewhere/x.yaml"),
        replace(finding(severity=Severity.NOTE), to_do=False),
    )
    outcome = Outcome(diagnostics=found, skipped=(Skipped("images", "no list"),), not_evaluated=2)
    (run,) = valid(check_report(outcome, replace(CONTEXT, layout=Layout(verbose=True))))["runs"]

    assert [item.get("level") for item in run["results"]] == ["error", "warning", "none", "error"]
    assert run["results"][-1]["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "we know (waived by team until 2027-01-01)"}
    ]
    assert told(run) == ["images: no list", "2 things could not be evaluated"]


def test_a_clean_run_has_results_and_they_are_none(valid):
    (run,) = valid(check_report(Outcome(checked={"clusters": 3}), CONTEXT))["runs"]

    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_a_result_stands_at_its_line(finding):
    (result,) = run_of(finding())["results"]
    place = result["locations"][0]["physicalLocation"]

    assert place["artifactLocation"] == {"uri": "profiles/edge/l4.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 11, "startColumn": 5, "endLine": 11, "endColumn": 12}


def test_a_project_below_its_repository_names_files_from_the_top(finding):
    (result,) = run_of(finding(), context=replace(CONTEXT, below="fleets/gpu x/"))["results"]
    assert (
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "fleets/gpu%20x/profiles/edge/l4.yaml"
    )


@pytest.mark.parametrize(
    "path", ["a b.yaml", "javascript:x.yaml", "a#b?c.yaml", "ü/%41.yaml", "[x](y).yaml", "a\udcff.yaml"]
)
def test_a_path_is_percent_encoded_and_stays_relative(finding, path):
    (result,) = run_of(finding(path=path))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]

    assert uri.isascii()
    assert not set(uri) & set(" :#?[]()")
    assert unquote(uri, errors="surrogateescape") == path


def test_a_rule_leads_to_its_page(finding, repository):
    (rule,) = run_of(finding())["tool"]["driver"]["rules"]
    address, _, anchor = rule["helpUri"].partition("#")

    assert address == "https://git.example.com/poolsmith/docs/rules.md"
    assert f"### {rule['id']} {rule['name']}\n" in (repository / "docs/rules.md").read_text("utf-8")
    assert anchor == f"{rule['id'].lower()}-{rule['name']}"


def test_fingerprints_stay_when_lines_move_and_tell_twins_apart(finding):
    def hashes(*found):
        return [item["partialFingerprints"]["primaryLocationLineHash"] for item in run_of(*found)["results"]]

    one, two = hashes(finding(line=3), finding(line=9))
    assert one != two
    assert hashes(finding(line=4), finding(line=10)) == [one, two]
    assert hashes(finding(message="else")) != [one]


def test_what_has_nothing_to_do_is_counted_not_listed(finding):
    run = run_of(replace(finding(severity=Severity.NOTE), to_do=False))

    assert run["results"] == []
    assert told(run) == ["1 note with nothing to do; --verbose has them"]


@pytest.mark.deep("tens of thousands of findings")
def test_a_run_holds_no_more_than_github_takes_and_says_so(finding, valid):
    found = [finding(path=f"profiles/c{number}/x.yaml", severity=Severity.WARNING) for number in range(MOST_RESULTS)]
    text = check_report(Outcome(diagnostics=(*found, finding())), CONTEXT)
    (run,) = json.loads(text)["runs"]

    assert len(run["results"]) == MOST_RESULTS
    assert run["results"][0]["level"] == "error"
    assert told(run) == ["1 of 25,001 findings, the least severe ones: a run holds no more"]
    assert len(gzip.compress(text.encode())) < 10_000_000


def test_a_diff_has_the_new_findings(finding, valid):
    change = ChangeReport(
        base=Revision(name="main"), head=Revision(name="work tree"), new_findings=(finding(),), unknown=("x broke",)
    )
    (run,) = valid(diff_report(change, CONTEXT))["runs"]

    assert [item["baselineState"] for item in run["results"]] == ["new"]
    assert run["automationDetails"]["id"] == "poolsmith-diff/"
    assert told(run) == ["x broke"]


def test_no_address_of_the_docs_is_no_address(finding, valid):
    document = valid(check_report(Outcome(diagnostics=(finding(),)), replace(CONTEXT, docs="")))
    assert "https://" not in json.dumps(document["runs"]).replace("https://docs.oasis-open.org", "")
