"""Markdown by a stranger, made harmless: it can be read, and does nothing.

Our own reports keep their form: headings, lists, tables, code, folded details. What reaches out of a comment becomes
text: mentions, references, links, images, HTML, entities, formulas, drawings. That takes nothing but a character that
is not shown at the right places, so that it is the same in code, where nothing could be escaped.
"""

from __future__ import annotations

import re

_BREAK = "\N{ZERO WIDTH NON-JOINER}"
_NOT_SHOWN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f"
    "\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e0fff\\ud800-\\udfff]"
)
_PARTED = (
    re.compile(
        r"<(?!/?(?:details|summary|sub|b)>|br ?/?>|!-- poolsmith:(?:check|diff) -->)"
    ),  # a tag, a comment, an address in brackets
    re.compile(r"&(?=[#A-Za-z])"),  # an entity: GitHub looks for mentions in what it stands for
    re.compile(r"\](?=[(\[:])"),  # a link, an image, what a reference refers to
    re.compile(r"\[(?=[!^])"),  # an alert, a footnote
    re.compile(r"!(?=\[)"),
    re.compile(r"\\(?=[A-Za-z])"),  # a command in a formula
    re.compile(r"@"),  # a person, a team, a commit, an address
    re.compile(r"#(?=\\?[0-9])"),  # an issue
    re.compile(r"(?i)\bg(?=h\\?-\\?[0-9])"),  # an issue, too
    re.compile(r":(?=[/\\])"),  # an address
    re.compile(r"(?i)\bw(?=ww\\?\.)"),
)
_LANGUAGE = re.compile(
    r"^([ \t>*+\-0-9.)]*(?:`{3,}|~{3,}))[ \t]*(?!(?:diff|json|sh|text|yaml)[ \t]*$)[^`\n]+$", re.MULTILINE
)


def harmless(text: str) -> str:
    """What is left is shown as it stands."""
    text = _NOT_SHOWN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _LANGUAGE.sub(r"\1", text)
    for pattern in _PARTED:
        text = pattern.sub(rf"\g<0>{_BREAK}", text)
    return text
