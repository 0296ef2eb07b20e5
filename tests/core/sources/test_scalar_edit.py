"""One value changes; every other byte stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.sources.scalar_edit import (
    EditError,
    with_first_key,
    with_first_mapping,
    with_item,
    with_key_after,
    with_value,
    without_key,
)
from poolsmith.core.sources.yaml_reader import read_documents

RELEASE = "/spec/stack/release"
FROM = "/spec/stack/upgradingFrom"
BLOCK = """# top
spec:   # of the cluster
  stack:
    kind: operator
    # renovate: something
    release: v26.3.3   # pinned
    values: {}
  other: 1
"""


@pytest.mark.parametrize(
    ("written", "edited"),
    [
        ("v26.3.3", "v26.7.0"),
        ("v26.3.3   # pinned", "v26.7.0   # pinned"),
        ('"v26.3.3"', '"v26.7.0"'),
        ("'v26.3.3' # x", "'v26.7.0' # x"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "    kind: operator\n"])
def test_a_value_changes_and_nothing_else(written, edited, ending, last):
    text = f"# ü\nspec:\n  stack:\n    release: {written}\n{last}".replace("\n", ending)

    assert with_value(text, RELEASE, "v26.7.0") == text.replace(written, edited)


def test_the_last_line_needs_no_end():
    text = "spec:\n  stack:\n    release: v26.3.3"

    assert with_value(text, RELEASE, "v26.7.0") == "spec:\n  stack:\n    release: v26.7.0"
    assert with_key_after(text, RELEASE, "upgradingFrom", "v26.3.3") == f"{text}\n    upgradingFrom: v26.3.3"


def test_flow_mappings_are_edited_in_place():
    text = "spec: {stack: {kind: operator, release: v26.3.3 }, a: [1, 2]} # x\n"

    longer = with_key_after(text, RELEASE, "upgradingFrom", "v25.10.1")
    assert longer == "spec: {stack: {kind: operator, release: v26.3.3, upgradingFrom: v25.10.1 }, a: [1, 2]} # x\n"
    assert without_key(longer, FROM) == text
    assert without_key(text, "/spec/stack/kind") == "spec: {stack: {release: v26.3.3 }, a: [1, 2]} # x\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_key_comes_behind_its_neighbour_and_goes_again(ending):
    text = BLOCK.replace("\n", ending)

    longer = with_key_after(text, RELEASE, "upgradingFrom", "v25.10.1")
    assert longer == BLOCK.replace("# pinned\n", "# pinned\n    upgradingFrom: v25.10.1\n").replace("\n", ending)
    assert without_key(longer, FROM) == text


@pytest.mark.parametrize(
    "text",
    [
        "a: &r v26.3.3\nspec:\n  stack:\n    release: *r\n",
        "spec:\n  stack:\n    release: &r v26.3.3\n  other: *r\n",
        "x: &s {release: v26.3.3}\nspec:\n  stack: *s\n",
        "x: &s {release: v26.3.3}\nspec:\n  stack:\n    <<: *s\n",
        "spec:\n  stack:\n    release: >-\n      v26.3.3\n",
        "spec:\n  stack:\n    release: !!str v26.3.3\n",
        "spec:\n  stack: [release]\n",
        "spec:\n  stack: {}\n",
        "spec: [\n",
        "a: 1\n---\nspec: {stack: {release: v26.3.3}}\n",
        "",
    ],
)
def test_what_more_depends_on_is_refused(text):
    with pytest.raises(EditError):
        with_value(text, RELEASE, "v26.7.0")


def test_a_value_that_yaml_takes_for_a_number_is_quoted():
    assert with_value("spec: {driver: {version: 580.126.20}}", "/spec/driver/version", "595") == (
        'spec: {driver: {version: "595"}}'
    )
    assert with_value("v: 580.126.20 # a\n", "/v", "595.91.07") == "v: 595.91.07 # a\n"
    assert with_value('v: "580"\n', "/v", "595") == 'v: "595"\n'


@given(
    keys=st.lists(st.text("abcü ", min_size=1, max_size=4).map(str.strip).filter(bool), unique=True, max_size=4),
    comment=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=12),
    at=st.integers(0, 4),
)
def test_all_lines_but_one_stay(keys, comment, at):
    lines = [f"  {key}: [1, {{a: b}}] # {comment}" for key in keys]
    lines.insert(min(at, len(lines)), f"  release: v26.3.3 # {comment}")
    text = "\n".join(["stack:", *lines, ""])
    try:
        read_documents(text)
    except Exception:  # noqa: BLE001 - a comment may be a marker of a merge
        return

    edited = with_value(text, "/stack/release", "v26.7.0")
    assert edited == text.replace("release: v26.3.3 #", "release: v26.7.0 #")
    longer = with_key_after(edited, "/stack/release", "upgradingFrom", "v26.3.3")
    assert without_key(longer, "/stack/upgradingFrom") == edited


ITEM = {"fact": "gone/Release/a/b", "by": "team x", "date": "2026-11-20"}
SHOWN = '{fact: "gone/Release/a/b", by: "team x", date: "2026-11-20"}'


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("spec:\n  # c\n  a: 1\n", "spec:\n  # c\n  x: v1\n  a: 1\n"),
        ("spec: {a: 1}  # c\n", "spec: {x: v1, a: 1}  # c\n"),
        ("spec:\n    a:\n      b: 1", "spec:\n    x: v1\n    a:\n      b: 1"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_key_is_put_first(text, edited, ending):
    assert with_first_key(text.replace("\n", ending), "/spec", "x", "v1") == edited.replace("\n", ending)


def test_a_mapping_is_put_first_on_one_line():
    assert with_first_mapping("spec:\n  a: 1\n", "/spec", "d", {"name": "x"}) == "spec:\n  d: {name: x}\n  a: 1\n"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("spec:\n  a: 1\n", f"spec:\n  list: [{SHOWN}]\n  a: 1\n"),
        ("spec: {list: [{fact: y}]} # k\n", f"spec: {{list: [{{fact: y}}, {SHOWN}]}} # k\n"),
        (
            "spec:\n  list:\n  - fact: y\n    by: z   # m\n  b: 2\n",
            f"spec:\n  list:\n  - fact: y\n    by: z   # m\n  - {SHOWN}\n  b: 2\n",
        ),
        ("spec:\n  list:\n    - fact: y", f"spec:\n  list:\n    - fact: y\n    - {SHOWN}"),
        ("spec:\n  list:\n    - {fact: y}  # m\n# end\n", f"spec:\n  list:\n    - {{fact: y}}  # m\n    - {SHOWN}\n# end\n"),
    ],
)  # fmt: skip
def test_an_item_is_put_last(text, edited):
    assert with_item(text, "/spec/list", ITEM) == edited


@pytest.mark.parametrize(
    "text",
    [
        "spec: []\n",
        "spec:\n  list: []\n",
        "spec:\n  list: x\n",
        "spec:\n  list: &a [{fact: y}]\n  b: *a\n",
        "a: 1\n---\nspec: {}\n",
        "spec: {}\n",
        "{",
    ],
)
def test_what_can_t_take_an_item_says_so(text):
    with pytest.raises(EditError):
        with_item(text, "/spec/list", ITEM)


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("spec:\n  d:\n    name: x\n  a: 1\n", "spec:\n  a: 1\n"),
        ("spec:\n  a: 1\n  d:\n    - name: x\n      b: [1, 2]\n# end\n", "spec:\n  a: 1\n# end\n"),
        ("spec:\n  a: 1\n  d:\n    name: x", "spec:\n  a: 1\n"),
    ],
)
def test_a_block_goes_as_a_whole(text, edited):
    assert without_key(text, "/spec/d") == edited
