"""The HTML report as people use it: with eyes, a keyboard, a screen reader, without a network, and with hostile text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.diagnostic import point_in
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.interface.report.fleet_facts import FleetFacts
from poolsmith.interface.report.html import diff_report
from support.change_reports import some_of_everything
from support.circles import parameters
from support.code_book import CODE_BOOK
from support.html_reports import context, large_fleet, report_of, sample_fleet, with_text

WIDE, NARROW = 1600, 390
LOOKS = ((WIDE, "light"), (NARROW, "dark"), (WIDE, "dark"), (NARROW, "light"))
"""Widths and themes for axe, which takes its time; an ordinary run has one of each page."""
HOSTILE = (
    '"><script>document.title="taken"</script>',
    "<img src=x onerror=\"document.title='taken'\">",
    "javascript:document.title='taken'",
    "' onclick='document.title=1' style='position:fixed;inset:0'",
    "</style><style>*{display:none}</style>",
    "<!--<base href=https://example.com/>-->",
    "`</code><iframe srcdoc=x>`",
    "\u202egpj.exe \x1b[31m",
)


def outcome(*messages):
    rules = [rule for rule in CODE_BOOK if rule.severity is not Severity.NOTE]
    found = tuple(
        diagnose(rules[index], message, point_in("profiles/edge/l4.yaml", index + 1, 1), help=message)
        for index, message in enumerate(messages)
    )
    return Outcome(diagnostics=found, checked={"clusters": 8}, facts=messages[:1])


@pytest.fixture(scope="module")
def sample_report():
    return report_of(sample_fleet(), outcome("`a` is wrong", "b is not right"))


@pytest.mark.parametrize("look", parameters(LOOKS[1:2], (LOOKS[0], *LOOKS[2:])))
def test_axe_finds_nothing_serious(opened, sample_report, look):
    from axe_playwright_python.sync_playwright import Axe

    width, theme = look
    with opened(sample_report, theme=theme, width=width) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach((item, at) => { item.open = at % 9 === 0; })")
        response = Axe().run(found.page).response

    serious = [item for item in response["violations"] if item["impact"] in ("serious", "critical")]
    assert [(item["id"], item["nodes"][0]["html"]) for item in serious] == []
    assert len(response["passes"]) > 20


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_page_itself_never_scrolls_sideways(opened, sample_report, width):
    with opened(sample_report, width=width) as found:
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.complaints == []


@pytest.mark.rows(3, "a page each")
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_stranger_does_anything(opened, text):
    report = report_of(with_text(sample_fleet(), text), outcome(text, text))
    with opened(report) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
        found.page.wait_for_timeout(50)
        state = found.page.evaluate(
            """() => ({
                title: document.title,
                tags: [...new Set([...document.querySelectorAll('*')].map((item) => item.tagName))],
                attributes: [...document.querySelectorAll('*')].flatMap((item) => item.getAttributeNames())
                    .filter((name) => name.startsWith('on') || name === 'style' || name === 'src'),
                links: [...document.querySelectorAll('a')].map((item) => item.getAttribute('href'))
                    .filter((target) => !target.startsWith('#')),
                style: document.querySelectorAll('style').length,
                script: document.querySelectorAll('script').length,
            })"""
        )

    assert state["title"] == "Check of the GPU fleet - poolsmith"
    assert not {"IMG", "IFRAME", "BASE", "OBJECT", "SVG", "FORM"} & set(state["tags"])
    assert (state["attributes"], state["links"], state["style"], state["script"]) == ([], [], 1, 1)
    assert found.complaints == []


def test_a_script_that_got_in_would_not_run(opened, sample_report):
    """The policy of the page, not only the escaping."""
    broken = sample_report.replace("</main>", "<script>document.title = 'taken'</script><img src=x onerror='x'></main>")
    with opened(broken) as found:
        assert found.page.title() == "Check of the GPU fleet - poolsmith"
        assert any("Content Security Policy" in item for item in found.complaints)
        found.requests.clear()


def test_a_cell_of_the_matrix_leads_to_privileges_and_the_line_behind_them(opened, sample_report):
    with opened(sample_report) as found:
        page = found.page
        page.locator("#privileges_prod-eu > summary").click()
        row = page.locator("#privileges_prod-eu tr", has_text="nvidia-mig-manager").first
        row.locator("td a").first.click()
        opened_by_it = page.locator("#w_prod-eu_gpu-operator_DaemonSet-nvidia-mig-manager")

        assert opened_by_it.get_attribute("open") is not None
        assert opened_by_it.get_by_text("profiles/_bases/a100.yaml:11").first.is_visible()
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_shared_link_opens_what_it_names(opened, sample_report):
    with opened(sample_report, fragment="w_edge_gpu-operator_DaemonSet-nvidia-dcgm-exporter") as found:
        assert found.page.locator("#w_edge_gpu-operator_DaemonSet-nvidia-dcgm-exporter table").is_visible()


def test_search_shows_what_has_the_words_and_can_be_shared(opened, sample_report):
    with opened(sample_report) as found:
        page = found.page
        page.keyboard.press("/")
        page.keyboard.type("h100 rhel")
        page.locator("#found", has_text="found").wait_for()
        shown = page.locator("#fleet tr.hit:visible")

        assert shown.count() == 1
        assert "h100-rhel" in shown.first.inner_text()
        assert page.url.endswith("#?q=h100%20rhel")
        page.keyboard.press("Escape")
        assert page.locator("#fleet tr.hit:not([hidden])").count() == sample_fleet().pools
        assert page.locator("#fleet tr.hit:visible").count() == 0

    with opened(sample_report, fragment="?q=nosuchword") as found:
        assert found.page.locator("#nothing").is_visible()


def test_what_is_shown_can_be_filtered_and_sent(opened, sample_report):
    with opened(sample_report) as found:
        page = found.page
        page.locator("#only").select_option("findings-error")
        assert page.locator("#found").inner_text().endswith(" found")
        assert page.locator(".hit:visible").count() > 0
        assert page.locator(".hit:visible:not([data-kind='findings-error'])").count() == 0
        page.locator("#only").select_option("privileges-node-root")
        assert page.locator("#privileges_edge .workload:visible").count() > 0
        assert page.url.endswith("#?only=privileges-node-root")
        page.locator("#only").select_option("")
        assert page.locator("#fleet tr.hit:not([hidden])").count() == sample_fleet().pools
        assert page.locator("#privileges_edge .workload:visible").count() == 0

    with opened(sample_report, fragment="?q=l4&only=fleet-node-root") as found:
        assert found.page.locator("#only").input_value() == "fleet-node-root"
        assert found.page.locator("#search").input_value() == "l4"
        assert 0 < found.page.locator(".hit:visible").count() < sample_fleet().pools


@pytest.mark.rows(2, "a page each")
@pytest.mark.parametrize("fragment", ["%", "?q=%E0%A4", "?only=nosuch", "?", "?q=", "constructor", "<img src=x>"])
def test_no_fragment_breaks_the_page(opened, sample_report, fragment):
    with opened(sample_report, fragment=fragment) as found:
        assert found.complaints == []
        found.page.locator("#theme").click()
        assert found.page.locator("#theme").get_attribute("aria-pressed") == "true"


def test_what_is_opened_has_its_address(opened, sample_report):
    with opened(sample_report) as found:
        page = found.page
        summary = page.locator("#findings .card > summary").first
        summary.click()
        summary.click()
        assert "#psm" in page.url
        page.locator("#map .tile a").first.click()
        assert "#pool_" in page.url
        assert page.locator("#fleet tr.hit:visible").count() > 0


def test_on_paper_the_page_is_light_and_open(opened, sample_report):
    with opened(sample_report, theme="dark") as found:
        found.page.emulate_media(media="print", color_scheme="dark")
        ground = found.page.evaluate("getComputedStyle(document.querySelector('.cluster')).backgroundColor")

        assert ground == "rgb(255, 255, 255)"
        assert not found.page.locator("#tools").is_visible()


def test_without_a_script_all_is_there(opened, sample_report):
    with opened(sample_report, javascript=False) as found:
        assert found.page.locator("#fleet tr.hit").count() == sample_fleet().pools
        assert not found.page.locator("#search").is_visible()


def test_the_theme_can_be_switched(opened, sample_report):
    with opened(sample_report, theme="light") as found:
        colour = "getComputedStyle(document.body).backgroundColor"
        before = found.page.evaluate(colour)
        found.page.locator("#theme").click()

        assert found.page.evaluate(colour) != before
        assert found.page.locator("#theme").get_attribute("aria-pressed") == "true"


def test_all_can_be_reached_by_keyboard(opened, sample_report):
    with opened(sample_report) as found:
        page = found.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "report"
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName"))

        assert {"A", "SUMMARY"} <= reached


@pytest.mark.deep("a page of a thousand pools")
def test_a_thousand_pools_are_drawn_when_they_are_looked_at(opened):
    """What is off the screen is not laid out, and what clusters have in common is written once."""
    fleet = large_fleet()
    report = report_of(fleet)
    with opened(report) as found:
        page = found.page
        far = page.locator("#privileges_cluster-60")

        assert fleet.pools == 1000
        assert len(report) < 16 << 20
        assert page.locator("#fleet tr.hit").count() == 1000
        assert far.evaluate("(item) => getComputedStyle(item).contentVisibility") == "auto"
        assert far.get_by_text("the same workload of cluster-0").count() > 5


@pytest.mark.deep("a page of a thousand pools")
def test_a_thousand_pools_scroll_and_are_searched_without_waiting(opened):
    """The middle of all frames, so that a busy machine is no failure: 60 in a second where nothing else runs."""
    with opened(report_of(large_fleet())) as found:
        frames = found.page.evaluate(
            """async () => {
                const frames = [];
                for (let step = 0, before = performance.now(); step < 120; step++) {
                    scrollBy(0, 300);
                    await new Promise(requestAnimationFrame);
                    const now = performance.now();
                    frames.push(now - before);
                    before = now;
                }
                return frames.sort((one, other) => one - other);
            }"""
        )
        searched = found.page.evaluate(
            """async () => {
                const search = document.getElementById("search"), only = document.getElementById("only");
                search.value = "dcgm pool-7";
                const before = performance.now();
                only.dispatchEvent(new Event("change"));
                return performance.now() - before;
            }"""
        )
        assert found.page.locator("#found").inner_text().endswith(" found")

    assert frames[60] < 60
    assert searched < 3000


def test_links_lead_to_the_lines_of_the_repository():
    from poolsmith.interface.report.html import check_report

    told = check_report(outcome("x"), context(sample_fleet(), source="https://git.example.com/gpu/blob/abc"))

    assert 'href="https://git.example.com/gpu/blob/abc/profiles/edge/l4.yaml#L1"' in told


@pytest.fixture(scope="module")
def sample_change():
    from tools.make_picture import report

    return report()


@pytest.mark.deep("axe-core over the largest page; that of the report stays")
@pytest.mark.parametrize("look", parameters(LOOKS[:1], LOOKS[1:]))
def test_axe_finds_nothing_serious_in_a_diff(opened, sample_change, look):
    from axe_playwright_python.sync_playwright import Axe

    width, theme = look
    with opened(sample_change, theme=theme, width=width) as found:
        found.page.evaluate("document.querySelectorAll('#change details').forEach((item) => { item.open = true; })")
        response = Axe().run(found.page).response
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width

    serious = [item for item in response["violations"] if item["impact"] in ("serious", "critical")]
    assert [(item["id"], item["nodes"][0]["html"]) for item in serious] == []
    assert found.complaints == []


@pytest.mark.real("many pages in a browser")
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text(st.characters(codec="utf-8") | st.sampled_from("<>&\"'`/=-!"), max_size=40), min_size=24, max_size=24
    )
)
def test_random_text_is_shown_letter_by_letter(opened, texts):
    """What the browser shows is what was said, but for characters that steer, and for backticks."""
    told = [f"x{text.replace('`', '')}x" for text in texts]
    with opened(report_of(FleetFacts(), outcome(*told))) as found:
        shown = found.page.evaluate(
            "[...document.querySelectorAll('#findings li.hit > p:nth-child(2)')].map((item) => item.textContent)"
        )

    assert sorted(shown) == sorted(map(printable, told))
    assert found.complaints == []


@pytest.mark.rows(2, "a page each")
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_change_does_anything(opened, text):
    plain, hostile = (diff_report(some_of_everything(name), context()) for name in ("x", text))
    state = """() => ({
        title: document.title,
        tags: [...new Set([...document.querySelectorAll('*:not(wbr)')].map((item) => item.tagName))].sort(),
        attributes: [...new Set([...document.querySelectorAll('*')].flatMap((item) => item.getAttributeNames()))].sort(),
        targets: [...document.querySelectorAll('a')].filter((item) => item.getAttribute('href')[0] !== '#').length,
    })"""
    with opened(plain) as found:
        expected = found.page.evaluate(state)
    with opened(hostile) as found:
        shown = found.page.evaluate(state)

    assert found.complaints == []
    assert shown == expected
