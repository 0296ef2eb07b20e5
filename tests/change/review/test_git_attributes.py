"""`.gitattributes` as git reads it: held against `git check-attr`."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.change.review.git_attributes import attribute_lines, hiding_lines, is_read_by_git, shows_less

GUARDED = ("output", "profiles", "policies", "docs", ".github")
PIECES = st.sampled_from(
    [
        "a",
        "*",
        "-diff",
        "!text",
        "eol=lf",
        "diff",
        "binary",
        "x.y",
        "-",
        "#",
        "!",
        "=",
        "é",
        "-é",
        "\ufeff",
    ]
)
GAPS = st.sampled_from([" ", "\t", "\r", "\x0b", "\x0c", "\u2028", "\u00a0", "\x85", "\x1c"])
LINES = st.lists(st.tuples(GAPS, PIECES), min_size=1, max_size=6).map(
    lambda parts: "* " + "".join(gap + piece for gap, piece in parts)
)
TEXTS = st.lists(LINES, min_size=1, max_size=4).map("\n".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("attributes")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def by_git(root, text):
    """Attributes of a file by name, as git has them; without those of its own macros."""
    (root / ".gitattributes").write_bytes(text.encode())
    command = ["git", "-c", "core.attributesFile=/dev/null", "check-attr", "-z", "-a", "x.yaml"]
    out = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode().split("\0")
    return {name: value for _, name, value in zip(out[::3], out[1::3], out[2::3], strict=False)}


def by_us(text):
    found = {}
    for words in attribute_lines(text):
        if words[0] != "*" or not is_read_by_git(words):
            continue
        for word in words[1:]:
            name, equals, value = word.lstrip("-!").partition("=")
            state = "unset" if word[0] == "-" else "unspecified" if word[0] == "!" else value if equals else "set"
            found[name] = state
            if name == "binary" and state == "set":
                found |= dict.fromkeys(("diff", "merge", "text"), "unset")
    return {name: state for name, state in found.items() if state != "unspecified"}


@given(text=TEXTS)
def test_lines_are_parted_as_git_parts_them(repository, text):
    assert by_us(text) == by_git(repository, text)


@pytest.mark.parametrize("gap", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_nothing_but_a_line_feed_ends_a_line(gap):
    assert hiding_lines(f"# harmless{gap}\n*.yaml -diff\n", "", GUARDED) == ["*.yaml -diff"]
    assert hiding_lines(f"*.yaml text\n#{gap}\n*.yaml{gap} -diff", "output", GUARDED) != []


def test_a_line_that_git_leaves_out_shows_nothing():
    old = "*.yaml diff linguist-generated=false\n"

    assert shows_less(old, old) == []
    assert shows_less(old, old.replace(" linguist", " \u00e9 linguist")) == ["*.yaml diff linguist-generated=false"]
    assert shows_less(old, f"{'x' * 2048} {old}") != []


def test_what_is_no_text_hides_nothing_from_us():
    assert hiding_lines(b"\xff\xfe\n*.yaml -diff\n".decode("utf-8", "surrogateescape"), "", GUARDED) == ["*.yaml -diff"]
    assert hiding_lines("*.yaml text\0\n", "", GUARDED)


@pytest.mark.parametrize(
    ("folder", "line"), [("docs", "*.png binary"), (".github", "*.gif -text -diff"), ("", "*.png binary")]
)
def test_pictures_are_binary(folder, line):
    assert hiding_lines(f"{line}\n", folder, GUARDED) == []
