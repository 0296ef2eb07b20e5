"""Comments in Markdown: a real renderer finds nothing in them but what is ours, and GitHub takes them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from poolsmith.change.diff.change_report import ChangeReport
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.interface.report import check_markdown, diff_markdown
from poolsmith.interface.report.escaped_text import code, prose
from poolsmith.interface.report.formats import Layout, ReportContext
from support.change_reports import BASE, HEAD, finding, fleet_change, some_of_everything
from support.circles import parameters

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
CONTEXT = ReportContext(tool="poolsmith 1", layout=Layout(rest="poolsmith diff -v"))
OURS = re.compile(
    r"\s*(?:<!-- poolsmith:(?:diff|check) -->|<details><summary>(?:<b>[A-Za-z' :]+</b>: )?[0-9,]+(?: more)?</summary>"
    r"|</details>)\s*"
)
TAKEN = re.compile(r"[@#<>|*_~`$\\\[\]&]|www\.|://|\w\.\w|\b[0-9a-f]{7,}\b|(?i:gh-[0-9])")
"""What GitHub makes something of, in text that is no code."""
ATTACKS = (
    "@org/team",
    "fixes #123 org/repo#4 GH-5",
    "0123456789abcdef0123456789abcdef01234567",
    "![x](https://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "[x]: https://evil.example",
    "<img src=x onerror=y>",
    "</details></summary><h1>forged</h1>",
    "<!-- poolsmith:diff -->",
    "--> forged",
    "a | b | c",
    "`",
    "``",
    "a`@b`c",
    "```\nforged\n```",
    "``` `` `",
    "\n# forged",
    "\n\n    forged",
    "1. x",
    "- x",
    "> [!WARNING]",
    "===",
    "---",
    "www.evil.example",
    "user@host.example",
    "mailto:user@host.example",
    "$`x`$",
    "$$x$$",
    "\\@x \\`@x\\`",
    "&commat;org &#64;org",
    "\u202eevil",
    "~~x~~ **x** _x_",
    "[^1]",
    ":smile:",
    "😀 " * 200,
    "@ " * 500,
    "` " * 500,
    "\x00\x1b[2J\ud800",
)
HOSTILE = st.sampled_from(ATTACKS) | st.text(max_size=30) | st.text("@#`<>|[]()!\\*_ \nab.", max_size=40)


def tokens(text):
    for token in RENDERER.parse(text):
        yield token
        yield from token.children or ()


def nothing_but_ours(text):
    """Lists, headings, folds and code, and text of which nobody makes anything."""
    for token in tokens(text):
        if token.type in ("html_block", "html_inline"):
            assert all(OURS.fullmatch(line) for line in token.content.split("\n") if line), token.content
        elif token.type == "text":
            assert not TAKEN.search(token.content), token.content
        else:
            assert re.fullmatch(
                r"(heading|bullet_list|list_item|paragraph)_(open|close)|inline|code_inline|softbreak|fence", token.type
            ), token
    html = "".join(token.content for token in RENDERER.parse(text) if token.type == "html_block")
    assert html.count("<details>") == html.count("</details>")


def sane(text, marker, most):
    assert text.startswith(f"<!-- poolsmith:{marker} -->\n### ")
    assert text.count("<!--") == 1 or "`" in text
    assert len(text.encode()) <= most
    nothing_but_ours(text)


def check(text="x", many=1, **outcome):
    found = tuple(
        replace(finding(text, severity, path=f"profiles/{text}/{number}", help=text), code=f"PSM{rule}")
        for number in range(many)
        for rule in (101, 102)
        for severity in Severity
    )
    return Outcome(diagnostics=found, checked={"clusters": 3}, skipped=(Skipped(text, text),) * 9, **outcome)


@settings(max_examples=40)
@given(HOSTILE)
def test_a_sentence_is_text_and_code_and_nothing_else(text):
    nothing_but_ours(f"- {prose(text, 1000)}")
    nothing_but_ours(f"{prose(text, 1000)} ({code(text, 100)})")


@pytest.mark.rows(8, "each attack at every place where a text can stand")
@pytest.mark.parametrize("text", ATTACKS)
def test_no_attack_gets_out_of_a_comment(text):
    sane(diff_markdown.diff_report(some_of_everything(f"x{text}", many=2), CONTEXT), "diff", diff_markdown.MOST_BYTES)
    sane(check_markdown.check_report(check(text, 2), CONTEXT), "check", check_markdown.MOST_BYTES)


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
@settings(max_examples=12)
@given(HOSTILE)
@example("".join(ATTACKS))
def test_nothing_gets_out_of_a_comment(text):
    sane(diff_markdown.diff_report(some_of_everything(f"{text}x"), CONTEXT), "diff", diff_markdown.MOST_BYTES)
    sane(check_markdown.check_report(check(text), CONTEXT), "check", check_markdown.MOST_BYTES)


@pytest.mark.deep("megabytes of text; what does not fit is counted stays")
@pytest.mark.rows(1, "megabytes of text; more of it in other letters")
@pytest.mark.parametrize(
    "text",
    parameters(
        ["x", "😀 " * 3000],
        ["😀" * 3000, "\U000e0001" * 3000, "@ " * 3000],
        lambda text: f"{text[:2]!r} {len(text)} times",
    ),
)
def test_however_much_there_is_to_say_github_takes_it(text):
    sane(diff_markdown.diff_report(some_of_everything(text, many=60), CONTEXT), "diff", diff_markdown.MOST_BYTES)
    sane(check_markdown.check_report(check(text, 100), CONTEXT), "check", check_markdown.MOST_BYTES)


def test_what_does_not_fit_is_counted_and_the_command_that_shows_it_is_named():
    text = diff_markdown.diff_report(some_of_everything("a" * 500, many=60), CONTEXT)

    assert "Not everything fits into a comment: `poolsmith diff -v` shows all." in text
    assert re.search(r"^- and [0-9,]+ more$|[0-9,]+ more\.$", text, re.MULTILINE)


def test_a_thousand_pools_are_a_comment_that_can_be_read():
    text = diff_markdown.diff_report(fleet_change(), CONTEXT)
    shown = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)

    assert len(shown.splitlines()) < 45
    assert "on all 1,000 pools of 100 clusters" in shown
    assert text.splitlines()[3].startswith("100 new errors; `+1` privilege on 1,000 pools, without a grant")


def test_an_empty_diff_says_so():
    assert diff_markdown.diff_report(ChangeReport(base=BASE, head=HEAD), CONTEXT).splitlines() == [
        "<!-- poolsmith:diff -->",
        "### ⚪ poolsmith diff: nothing changes",
        "",
        "origin/main (`0123456789ab`) to HEAD: no cluster changes.",
    ]


def test_a_clean_check_is_short_and_rules_lead_to_their_pages():
    clean = check_markdown.check_report(Outcome(checked={"clusters": 3}), CONTEXT)
    found = check_markdown.check_report(check(), replace(CONTEXT, docs="https://docs.example/poolsmith"))

    assert clean.splitlines()[1:] == [
        "### ⚪ poolsmith check: no errors, no warnings",
        "",
        "Checked 3 clusters; nothing else to say.",
    ]
    links = [token.attrs["href"] for token in tokens(found) if token.type == "link_open"]
    assert links
    assert all(
        re.fullmatch(r"https://docs\.example/poolsmith/rules\.md#psm[0-9]{3}-[a-z0-9-]+", link) for link in links
    )


def test_secrets_are_masked():
    secret = "nvapi-" + "a1B2" * 10

    assert secret not in diff_markdown.diff_report(some_of_everything(f"x {secret}"), CONTEXT)
    assert secret not in check_markdown.check_report(check(secret), CONTEXT)


def test_words_stay_readable():
    assert prose("`x` of resource.k8s.io, and (a/b): 5 of it.", 100) == "`x` of `resource.k8s.io`, and (a/b): 5 of it."
