"""The pictures of a change and the pages of a fleet in a browser: nothing is cut or broken, and axe finds nothing."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from poolsmith.interface.app.fleet_site import SiteOptions, site_facts
from poolsmith.interface.report.formats import ReportContext
from poolsmith.interface.report.html import diff_report
from poolsmith.interface.report.site.pages import pages
from support.change_reports import fleet_change, some_of_everything
from support.html_reports import ROOT, context, large_fleet, sample_fleet
from support.page_layout import broken_words, cut_texts, is_wider

LOOKS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))


@pytest.fixture(scope="module")
def shown():
    """A mixed change, a change of a whole fleet, and one page of a site of each kind."""
    from tools.make_picture import report

    facts = site_facts(ROOT, SiteOptions(today=dt.date(2026, 11, 1), since="HEAD"))
    site = dict(pages(facts, ReportContext(tool="poolsmith")))
    wanted = ("index", "ends", "releases", "history", "clusters/prod-eu/index", "clusters/prod-eu/pools/h100-rhel")
    return {
        "diff": report(),
        "fleet diff": diff_report(fleet_change(100, 10), context()),
        **{name: site[f"{name}.html"] for name in wanted},
    }


KINDS = ("diff", "fleet diff", "index", "ends", "releases", "history", "clusters/prod-eu/index")
POOL = "clusters/prod-eu/pools/h100-rhel"


@pytest.mark.rows(2, "a page each in a browser, and axe over each")
@pytest.mark.parametrize(("kind", "look"), [(kind, look) for kind in (*KINDS, POOL) for look in LOOKS])
def test_nothing_is_cut_or_broken_and_axe_finds_nothing(opened, shown, kind, look):
    from axe_playwright_python.sync_playwright import Axe

    width, theme = look
    with opened(shown[kind], width=width, theme=theme) as found:
        page = found.page
        found.requests.clear()
        assert not is_wider(page)
        assert broken_words(page) == []
        assert cut_texts(page) == []
        response = Axe().run(page).response
        assert [(item["id"], item["nodes"][0]["html"]) for item in response["violations"]] == []
        assert found.complaints == []


def test_two_screens_hold_what_was_written_who_may_do_more_and_how_it_rolls_out(opened, shown):
    with opened(shown["diff"], width=1280) as found:
        bottoms = found.page.evaluate(
            "['change', 'matrix', 'roll-out'].map((id) => document.getElementById(id).getBoundingClientRect().bottom)"
        )

    assert max(bottoms) <= 1800
    assert sorted(bottoms) == bottoms


def test_a_change_of_a_thousand_pools_is_a_short_page(opened):
    change = replace(fleet_change(100, 10), new_findings=())
    with opened(diff_report(change, context(large_fleet())), width=1280) as found:
        page = found.page
        assert page.locator("#matrix tbody tr").count() == 1
        assert page.locator("#roll-out .lane").count() == 1
        assert page.evaluate("document.getElementById('fleet').getBoundingClientRect().top + scrollY") < 2700


def test_a_name_of_the_matrix_finds_everything_about_it(opened, shown):
    with opened(shown["diff"], width=1280) as found:
        page = found.page
        page.locator("#matrix tbody a").first.click()
        page.locator("#found", has_text="found").wait_for()

        assert page.locator("#search").input_value() == page.locator("#matrix tbody a").first.inner_text()


def test_an_object_is_shown_before_and_after_without_its_secrets(opened):
    change = some_of_everything()
    with opened(diff_report(change, context(sample_fleet())), width=1280) as found:
        hunk = found.page.locator(".hunk").first

        assert hunk.count() == 1
        assert hunk.text_content().startswith("@ ")


@pytest.mark.parametrize("text", ["</pre><script>document.title='taken'</script>", "\u202e[31m`", "x" * 5_000])
def test_pictures_take_any_text_for_text(opened, text):
    with opened(diff_report(some_of_everything(text), context()), width=390) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")

        assert found.page.title() == "What this change does - poolsmith"
        assert not is_wider(found.page)
        assert found.complaints == []
