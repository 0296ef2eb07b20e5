"""The recorded cases of kubeconform: the same verdict here, or a difference that is listed in docs/schemas.md."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import NoInputError
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.interface.app import check_paths
from support.recordings import recording

RECORDED = recording("kubeconform")
CASES = {key.partition("/")[2]: RECORDED[key] for key in RECORDED.below("cases")}
NOTHING_CHECKED = Outcome(
    diagnostics=(), checked={"validated objects": 0}, skipped=(Skipped("the document", "has no apiVersion and kind"),)
)
"""A file of nothing but half an object: exit code 3."""
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
    "x-local-crd-strict-suffix": "a kind without a schema is skipped, counted and noted; it is no error",
}


JUDGED = [name for name in CASES if name not in NO_VERDICT]
COUNTED = [
    name for name in JUDGED if CASES[name].get("summary") and not {"-exit-on-error", "-skip"} & set(CASES[name]["args"])
]
"""The cases in which kubeconform looks at everything and counts it."""


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory):
    """The folder of the cases' inputs, written in flow style."""
    root = tmp_path_factory.mktemp("kubeconform")
    (root / "fixtures").mkdir()
    for key in RECORDED.below("fixtures"):
        (root / key).write_text(RECORDED[key], "utf-8")
    return root


def option(args, name):
    return args[args.index(name) + 1] if name in args else None


def files_of(case):
    values = {index + 1 for index, item in enumerate(case["args"]) if item in ("-schema-location", "-output", "-n")}
    named = [item for index, item in enumerate(case["args"]) if item.startswith("fixtures/") and index not in values]
    return [*named, *filter(None, [case.get("stdin")])]


def outcome_of(fixtures, case):
    version = option(case["args"], "-kubernetes-version")
    try:
        return check_paths(fixtures, [fixtures / name for name in files_of(case)], kubernetes=version, everything=True)
    except NoInputError:
        return NOTHING_CHECKED


def refused(outcome):
    codes = {item.code for item in outcome.diagnostics}
    return outcome is NOTHING_CHECKED or bool(codes & SCHEMA_CODES) or any(code.startswith(READING) for code in codes)


@pytest.mark.parametrize("name", JUDGED)
def test_the_verdict_is_that_of_the_binary(fixtures, name):
    case = CASES[name]
    assert files_of(case)
    same = refused(outcome_of(fixtures, case)) == bool(case["exit"])

    assert same == (name not in DIFFERENT)


@pytest.mark.parametrize("name", COUNTED)
def test_as_many_objects_are_seen(fixtures, name):
    case = CASES[name]
    outcome = outcome_of(fixtures, case)
    skipped = len(outcome.skipped)
    found = [item for item in outcome.diagnostics if item.code.startswith("PSM0")]
    unreadable = sum(item.code != "PSM004" for item in found)  # a file with a key twice is judged all the same

    assert outcome.checked["validated objects"] + skipped + unreadable == sum(case["summary"].values())


def test_every_difference_is_documented(repository):
    text = (repository / "docs/schemas.md").read_text("utf-8")

    assert [name for name in DIFFERENT if f"`{name}`" not in text] == []


def test_the_lists_name_recorded_cases():
    assert {*DIFFERENT, *NO_VERDICT} <= CASES.keys()
