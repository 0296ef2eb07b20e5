"""The text of a diff fits a screen, says what matters first, and where the rest is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.change.diff.change_report import ChangeReport
from poolsmith.core.diagnostics import Severity
from poolsmith.interface.report.diff_text import diff_report, styled
from poolsmith.interface.report.formats import Layout, ReportContext
from support.change_reports import BASE, HEAD, fleet_change, some_of_everything

REST = "poolsmith diff -v"


def text(change, **layout):
    return diff_report(change, ReportContext(tool="poolsmith 1", layout=Layout(rest=REST, **layout)))


def test_an_empty_diff_is_one_line_that_says_what_was_compared():
    assert text(ChangeReport(base=BASE, head=HEAD, unchanged_clusters=8)) == (
        "nothing changes: origin/main (0123456789ab) to HEAD: no cluster changes\n"
    )


@pytest.mark.parametrize(("unchanged", "said"), [(0, "2 clusters change"), (7, ", 7 do not")])
def test_clusters_that_do_not_change_are_counted_where_there_are_any(unchanged, said):
    first = text(replace(some_of_everything(), unchanged_clusters=unchanged)).splitlines()[0]

    assert (said in first, "0 do not" in first) == (True, False)


def test_a_thousand_pools_fit_a_screen():
    lines = text(fleet_change()).splitlines()

    assert len(lines) <= 20
    assert lines[1].startswith("look closely: 100 new errors; +1 privilege on 1,000 pools")
    assert lines[2] == "what was written, and what comes of it"
    assert lines[-1] == "`poolsmith diff -v` shows all"


def test_some_of_everything_fits_a_screen_and_verbose_folds_nothing():
    change = some_of_everything("x", many=30)
    short, whole = text(change).splitlines(), text(change, verbose=True)

    assert len(short) <= 80
    assert short[-1] == "`poolsmith diff -v` shows all"
    assert "shows all" not in whole
    for number in range(30):
        assert f"x{number} x" in whole


def test_what_is_whole_does_not_send_anybody_anywhere():
    change = ChangeReport(base=BASE, head=HEAD, self_grants=some_of_everything().self_grants[:1])

    assert "shows all" not in text(change)


@pytest.mark.parametrize(("fail_on", "shown"), [(Severity.ERROR, False), (Severity.NOTE, True)])
def test_a_note_is_folded_unless_it_fails_the_run(fail_on, shown):
    change = some_of_everything()
    notes = tuple(item for item in change.new_findings if item.severity is Severity.NOTE)
    change = ChangeReport(base=BASE, head=HEAD, new_findings=notes)

    assert ("note PSM" in text(change, fail_on=fail_on)) is shown
    assert "PSM" in text(change, fail_on=fail_on)


@given(st.text(max_size=20))
def test_no_text_steers_a_terminal(hostile):
    for verbose in (False, True):
        printed = text(some_of_everything(f"x{hostile}"), verbose=verbose)

        assert all(line.isprintable() for line in printed.split("\n"))


def test_secrets_are_masked():
    secret = "nvapi-" + "a1B2" * 10

    assert secret not in text(some_of_everything(f"x {secret}"), verbose=True)


def test_a_terminal_gets_the_same_words_in_narrow_lines():
    change = fleet_change(2, 2)
    narrow = "".join(piece for piece, _ in styled(change, Layout(width=60, rest=REST)))

    assert narrow.split() == text(change).split()
    assert {style for _, style in styled(change)} >= {"error", "place", "faint", "plain"}
