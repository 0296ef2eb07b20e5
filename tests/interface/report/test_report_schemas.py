"""The published schemas of the reports in JSON are those of what is printed."""

from __future__ import annotations

import json
import os

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolsmith.change.diff.change_report import ChangeReport
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.interface.app.schemas import REPORTS, report_schema_files, schema_text
from poolsmith.interface.report import diff_json, json_v1
from poolsmith.interface.report.formats import ReportContext
from support.change_reports import BASE, HEAD, finding, fleet_change, some_of_everything

CONTEXT = ReportContext(tool="poolsmith 1")


def closed(node):
    """The same schema, by which no field may be there that it does not tell of."""
    if isinstance(node, dict):
        extra = {"additionalProperties": False} if "properties" in node and node.get("type") == "object" else {}
        return {**{key: closed(value) for key, value in node.items()}, **extra}
    return [closed(item) for item in node] if isinstance(node, list) else node


def validator(kind):
    schema = closed(json.loads(schema_text(kind)))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


VALID = {kind: validator(kind) for kind in REPORTS}


def problems(kind, text):
    return [error.message for error in VALID[kind].iter_errors(json.loads(text))]


@pytest.mark.parametrize("name", sorted(report_schema_files()))
def test_the_schemas_in_docs_are_those_of_the_code(repository, name):
    path, wanted = repository / "docs/schemas" / name, report_schema_files()[name]
    if os.environ.get("UPDATE_DOCS") == "1":
        path.write_text(wanted)

    assert path.read_text() == wanted, (
        "run `UPDATE_DOCS=1 python -m pytest tests/interface/report/test_report_schemas.py`"
    )


@pytest.mark.parametrize("kind", REPORTS)
def test_the_schema_is_printed(run_cli, repository, kind):
    assert run_cli(["schema", kind]).out == (repository / f"docs/schemas/{kind}.schema.json").read_text()


@pytest.mark.parametrize("change", [ChangeReport(base=BASE, head=HEAD), fleet_change(3, 3), some_of_everything(many=2)])
def test_a_diff_is_valid(change):
    assert problems("diff", diff_json.diff_report(change, CONTEXT)) == []


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
@settings(max_examples=20)
@given(st.text(max_size=20))
def test_whatever_users_wrote_a_diff_is_valid(text):
    printed = diff_json.diff_report(some_of_everything(text), CONTEXT)

    assert printed.isascii()
    assert problems("diff", printed) == []


def test_some_of_everything_has_all_that_the_schema_tells_of():
    """No definition of the schema is one of which the tests hold no example."""
    printed = json.loads(diff_json.diff_report(some_of_everything(), CONTEXT))
    known = json.loads(schema_text("diff"))["$defs"]

    def seen(node):
        if isinstance(node, dict):
            return frozenset({frozenset(node)}).union(*map(seen, node.values()))
        return frozenset().union(*map(seen, node)) if isinstance(node, list) else frozenset()

    shapes = seen(printed)
    missing = {name for name, body in known.items() if frozenset(body["required"]) not in shapes}
    assert missing <= {"Waves"}  # of drivers, which other tests hold


def test_a_check_is_valid(sample_project, run_cli):
    found = tuple(finding("x", severity, help="y") for severity in Severity)
    outcome = Outcome(diagnostics=found, checked={"clusters": 1}, skipped=(Skipped("a", "b"),))

    assert problems("report", json_v1.check_report(outcome, CONTEXT)) == []
    assert problems("report", run_cli(["generate", "--check", "--root", sample_project, "--format", "json"]).out) == []


def test_secrets_are_masked():
    secret = "nvapi-" + "a1B2" * 10

    assert secret not in diff_json.diff_report(some_of_everything(f"x {secret}"), CONTEXT)
