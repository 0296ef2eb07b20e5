"""The line at the end of a run."""

from __future__ import annotations

from support.unproved import sentence


def test_a_run_that_proved_everything_says_nothing():
    assert sentence([]) == ""


def test_what_is_missing_is_counted_with_the_command_that_gets_it():
    tool = "Skipped: the tool `helm` is not on PATH"

    assert sentence([tool, "Skipped: the browser `chromium` is not on PATH", tool]) == (
        "not proved here: 2 tests of `helm` (make tools); "
        "1 test of a real browser (install chromium, or make tools as root)"
    )
    assert sentence(["POOLSMITH_OPERATOR names no folder of checkouts"]).endswith(
        "1 test of real checkouts (set POOLSMITH_OPERATOR, tests/recorded/README.md)"
    )


def test_a_reason_that_nobody_knows_stands_as_it_is():
    assert sentence(["Skipped: the moon is full"]) == "not proved here: 1 test of the moon is full"
