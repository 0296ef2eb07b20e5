"""The recorded cases of kubeconform: the same verdict here, or a difference that is listed in docs/schemas.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from poolsmith.app import check_paths

FIXTURES = Path(__file__).resolve().parents[3] / "shared/upstream/kubeconform-fixtures"
SCHEMA_CODES = frozenset(("PSM310", "PSM311", "PSM313", "PSM315"))
READING = ("PSM0",)
NO_VERDICT = {
    "loc-invalid-nonhttp": "a wrong schema location; our schemas are built in",
    "x-json-nofile": "a file that does not exist is a wrong flag here, exit code 2",
    "x-junit-nofile": "the same",
    "x-tap-nofile": "the same",
    "x-text-nofile": "the same",
    "x-bad-output": "a flag of kubeconform",
    "x-version": "a flag of kubeconform",
    "crd-catalog-no-jsonschema": "needs the network",
    "nonet-valid-fails": "needs the absence of the network; our schemas are built in",
    "nonet-cache-http-refs": "a cache of fetched schemas; nothing is fetched here",
}
DIFFERENT = {
    "extra-prop-lax": "unknown fields are always errors",
    "dup-prop-lax": "a key that stands twice is always an error",
    "missing-kind": "a document that is no object is skipped and counted: Helm values lie beside manifests",
    "x-tap-missing-kind": "the same",
    "x-local-crd-strict-suffix": "a kind without a schema is skipped, counted and noted; it is no error",
}


def cases():
    path = FIXTURES / "expectations.json"
    return json.loads(path.read_text("utf-8"))["cases"] if path.exists() else []


def option(args, name):
    return args[args.index(name) + 1] if name in args else None


def files_of(case):
    values = {index + 1 for index, item in enumerate(case["args"]) if item in ("-schema-location", "-output", "-n")}
    named = [item for index, item in enumerate(case["args"]) if item.startswith("fixtures/") and index not in values]
    return [FIXTURES / name for name in [*named, *filter(None, [case.get("stdin")])]]


def outcome_of(case):
    version = option(case["args"], "-kubernetes-version")
    return check_paths(FIXTURES, files_of(case), kubernetes=version)


def refused(outcome):
    codes = {item.code for item in outcome.diagnostics}
    return bool(codes & SCHEMA_CODES) or any(code.startswith(READING) for code in codes)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_the_verdict_is_that_of_the_binary(shared, case):
    if case["id"] in NO_VERDICT:
        pytest.skip(NO_VERDICT[case["id"]])
    assert files_of(case)
    same = refused(outcome_of(case)) == bool(case["exit"])

    assert same == (case["id"] not in DIFFERENT)


@pytest.mark.parametrize("case", [case for case in cases() if case.get("summary")], ids=lambda case: case["id"])
def test_as_many_objects_are_seen(shared, case):
    if case["id"] in NO_VERDICT or "-exit-on-error" in case["args"] or "-skip" in case["args"]:
        pytest.skip("kubeconform does not look at everything there")
    outcome = outcome_of(case)
    skipped = len(outcome.skipped)
    unreadable = sum(item.code.startswith("PSM0") for item in outcome.diagnostics)

    assert outcome.checked["validated objects"] + skipped + unreadable == sum(case["summary"].values())


def test_every_difference_is_documented(repository):
    text = (repository / "docs/schemas.md").read_text("utf-8")

    assert [name for name in DIFFERENT if f"`{name}`" not in text] == []


def test_the_lists_name_recorded_cases(shared):
    assert {*DIFFERENT, *NO_VERDICT} <= {case["id"] for case in cases()}
