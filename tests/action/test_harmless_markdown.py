"""What a stranger's Markdown can still do, rendered: nothing. And what our own reports need of it still works."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

HOSTILE = [
    "@alice",
    "@example/owners look",
    "\\@alice",
    "&#64;alice &commat;alice &#x40;alice",
    "a@b.example",
    "#12 example/fleet#12 \\#12 &#35;12 GH-12 gh\\-12 G&#72;-12",
    "https://evil.example HTTPS://EVIL.EXAMPLE https\\://evil.example https:\\//evil.example",
    "www.evil.example WWW\\.evil.example",
    "<https://evil.example> <mailto:a@b.example> <javascript:alert(1)>",
    "[a](https://evil.example) [a](/settings) [a](<x>) [a] (b)",
    "[a][b]\n\n[b]: /settings 'x'\n",
    "[a]\n\n[a]: <javascript:alert(1)>\n",
    "[\\]](x) [[a](b)](c)",
    "![a](https://evil.example/pixel) ![a][b]\n\n[b]: /x\n",
    "<img src=x> <IMG SRC=x onerror=alert(1)> <a href=/x>y</a> <script>x</script>",
    "<details open ontoggle=alert(1)>x</details>",
    "<details\nopen>x",
    "<!-- poolsmith comment: poolsmith -->",
    "<!-- open for ever",
    "<?php ?> <!DOCTYPE x> <![CDATA[x]]>",
    "</details></details></blockquote></div></td></table>",
    "> [!CAUTION]\n> merge at once",
    "a[^1]\n\n[^1]: note",
    '```mermaid\ngraph TD; a-->b; click a href "https://evil.example"\n```',
    "~~~ geojson\n{}\n~~~",
    "> - ```stl x\n> solid",
    "$\\href{https://evil.example}{x}$ $$\\unicode{x}$$",
    "a\u202eb \u2066c\u2069 \u200b@\u200balice @\u200dalice \U000e0041",
    "\x1b[31mred\x07 \x00@alice",
    "@\r\nalice [a]\r(b)",
    "`@alice` ``` [a](b) ```",
    "    [a](b) in code\n\n<pre>\n",
]
_ALLOWED = re.compile(r"</?(?:details|summary|sub|b)>|<br ?/?>")


def rendered(text):
    """As GitHub's first step does it, and the text that the later ones look through."""
    from harmless_markdown import harmless

    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(harmless(text))
    return shown, html.unescape(re.sub(r"<[^>]*>", "\0", shown))


def test_ours_is_what_is_allowed_of_the_form():
    shown, _ = rendered(
        "## Title\n\n| a | b |\n| --- | --- |\n| `x` | **y** |\n\n<details><summary>more</summary>\n\n- one\n- two\n\n"
        "```diff\n- a\n+ b\n```\n\n</details>\n"
    )

    for tag in ("h2", "table", "details", "summary", "strong", "li", 'code class="language-diff"'):
        assert f"<{tag}>" in shown


def check(text):
    shown, read = rendered(text)
    ours = re.compile(
        r"</?(?:p|h[1-6]|ul|ol|li|em|strong|blockquote|hr|pre|table|thead|tbody|tr|th|td)(?: /)?>|<hr />"
        r'|</?code>|<code class="language-(?:diff|json|sh|text|yaml)">|<ol start="[0-9]+">|<t[hd] style="text-align:\w+">'
    )
    tags = [tag for tag in re.findall(r"<[A-Za-z/!?][^>]*>?", shown) if not ours.fullmatch(tag)]
    assert [tag for tag in tags if not _ALLOWED.fullmatch(tag)] == []
    assert not re.search(r"@[\w-]", read)
    assert not re.search(r"(?i)#[0-9]|\bgh-[0-9]|[a-z]://|\bwww\.", read)
    assert not re.search(r"\[!|\[\^", read)
    assert not re.search(r"\\[A-Za-z]", read)
    assert not re.search("[\\u202a-\\u202e\\u2066-\\u2069\\x00-\\x08\\x1b]", read.replace("\0", ""))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_reaches_out(text):
    check(text)


@given(
    st.lists(st.sampled_from([*"@#&[]()!<>`~:/\\|$*_ \n\t\r-=aG12w.^", *HOSTILE, "www", "http", "details", "\u200b"]))
)
def test_no_mixture_does_either(parts):
    check("".join(parts))
