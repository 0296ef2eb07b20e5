"""The page by symptom, the file that `explain` searches, and the figures of the field are those of the reports."""

from __future__ import annotations

import os

import pytest

from docs.symptoms import DATA, PAGE, ROOT, data, entries, figures, not_told, page
from poolsmith.core.diagnostics import NoInputError, UsageError
from poolsmith.interface.app.explain import explain
from poolsmith.interface.app.symptoms import symptoms_of


@pytest.mark.parametrize(("path", "made"), [(PAGE, page), (DATA, data)], ids=["page", "data"])
def test_what_is_generated_is_that_of_the_reports(path, made):
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        path.write_text(made(), "utf-8")

    assert path.read_text("utf-8") == made(), "run `make docs`"


def test_the_figures_are_those_of_the_reports(assert_table):
    assert_table(ROOT / "docs/proof.md", "field", figures())
    assert_table(ROOT / "docs/proof.md", "field-not-told", not_told())


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["seen"][0][:50])
def test_what_was_seen_leads_to_its_cause(entry):
    for seen in entry["seen"]:
        assert entry["cause"] in symptoms_of(seen)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('Warning FailedCreatePodSandBox 3s kubelet failed to get sandbox runtime: no runtime for "nvidia" is configured', "toolkit"),
        ("0/9 nodes are available: 9 node(s) had untolerated taint {gpu: }, preemption is not helpful", "tainted"),
        ("OutOfSync that never ends", "Argo CD"),
        ("License Status : Unlicensed (Unrestricted)", "licence"),
    ],
)  # fmt: skip
def test_a_line_of_a_log_is_found(text, cause, tmp_path):
    assert cause.lower() in explain(tmp_path, text).text.lower()


@pytest.mark.parametrize(
    "text", ["nothing", "prod-eu/a100", "lab:driver.version", "zzz qqq", "", "\x00", "a" * 100_000]
)
def test_what_is_like_nothing_is_an_error(text, tmp_path):
    (tmp_path / "profiles").mkdir()

    with pytest.raises((UsageError, LookupError, OSError)):
        explain(tmp_path, text)


@pytest.mark.parametrize("text", ["zzz", "zzz qqq"])
def test_without_profiles_an_unknown_word_is_said_to_be_one(text, tmp_path):
    with pytest.raises(NoInputError, match=f"`{text}` is no rule and no symptom that is known, and .* has no folder"):
        explain(tmp_path, text)
