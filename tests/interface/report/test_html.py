"""HTML by construction: what cannot be written, whatever the text is. What browsers make of it is in tests/browser."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.interface.report.fleet_facts import FleetFacts
from poolsmith.interface.report.html.page import Html, anchor, joined, tag, text, words
from support.html_reports import report_of, sample_fleet, with_text

TEXT = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["</script>", "`", "``", "-->", "]]>", '"', "'"]
)


class Seen(HTMLParser):
    """Elements, attributes and texts, as a browser would read them."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes.extend(attributes)

    def handle_data(self, data):
        self.texts.append(data)


@given(TEXT)
def test_text_is_text_and_nothing_else(value):
    seen = Seen(tag("p", value, title=value))

    assert seen.tags == ["p"]
    assert [name for name, _ in seen.attributes] == ["title"]
    assert "".join(seen.texts).isprintable()


@given(TEXT)
def test_words_in_backticks_are_code(value):
    assert set(Seen(tag("p", words(value))).tags) <= {"p", "code"}


def test_what_is_html_already_stays():
    inner = tag("b", "a & b")

    assert tag("p", inner, " < c") == "<p><b>a &amp; b</b> &lt; c</p>"
    assert isinstance(joined([inner, "<"]), Html)
    assert text("a\x1b[31m\u202e") == "a\\x1b[31m\\u202e"


@pytest.mark.parametrize(
    "attributes", [{"onclick": "x"}, {"style": "x"}, {"src": "x"}, {"srcdoc": "x"}, {"action": "x"}]
)
def test_no_attribute_holds_code_or_style(attributes):
    with pytest.raises(ValueError, match="not known to be harmless"):
        tag("p", "x", **attributes)


@pytest.mark.parametrize("target", ["javascript:x", "data:text/html,x", "//example.com", "http://example.com", ""])
def test_links_lead_into_the_page_or_to_an_encrypted_address(target):
    with pytest.raises(ValueError, match="a link leads"):
        tag("a", "x", href=target)


@given(TEXT, TEXT)
def test_an_anchor_is_one_word(one, other):
    assert re.fullmatch(r"[\w.-]*", anchor("w", one, other), re.ASCII)


@given(TEXT.filter(str.strip))
def test_hostile_profiles_add_no_element(value):
    cluster = sample_fleet().clusters[0]
    plain = Seen(report_of(with_text(FleetFacts((cluster,)), "name")))
    hostile = Seen(report_of(with_text(FleetFacts((cluster,)), value)))

    extra = {"code"}  # what stands in backticks
    assert [name for name in hostile.tags if name not in extra] == [name for name in plain.tags if name not in extra]
    assert {name for name, _ in hostile.attributes} == {name for name, _ in plain.attributes}


def test_style_and_script_are_named_by_their_digests():
    report = report_of(sample_fleet())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', report)
    assert policy is not None
    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", report, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none'; base-uri 'none'; form-action 'none'")
    assert "unsafe" not in policy[1]


def test_the_same_report_has_the_same_bytes():
    assert report_of(sample_fleet()) == report_of(sample_fleet())


def test_ids_stand_once():
    ids = [value for name, value in Seen(report_of(sample_fleet())).attributes if name == "id"]

    assert len(ids) == len(set(ids))


def test_links_into_the_page_have_their_target():
    seen = Seen(report_of(sample_fleet()))
    ids = {value for name, value in seen.attributes if name == "id"}

    assert {value[1:] for name, value in seen.attributes if name == "href" and value.startswith("#")} <= ids


def test_a_check_of_somebodys_files_has_no_fleet(run_cli, write_files):
    root = write_files({"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})
    result = run_cli(["check", "--format", "html", "--root", root, str(root / "a.yaml")])

    assert result.out.startswith("<!doctype html>")
    assert 'id="fleet"' not in result.out


def test_clusters_with_errors_are_said_to_be_unknown():
    from poolsmith.interface.report.fleet_facts import ClusterFacts

    report = report_of(FleetFacts((ClusterFacts(name="broken", unknown=("its profiles have errors",)),)), Outcome())

    assert "nothing can be shown of broken" in report
