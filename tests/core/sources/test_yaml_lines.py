"""What is read line by line is what the parser reads: every file of the repository, and lines as nobody writes them."""

import random
from pathlib import Path

import pytest

from poolsmith.core.sources import yaml_lines
from poolsmith.core.sources.yaml_layouts import Layouts
from poolsmith.core.sources.yaml_lines import documents_in
from poolsmith.core.sources.yaml_nodes import _Builder, compose
from poolsmith.core.sources.yaml_reader import YamlProblem

ROOT = Path(__file__).parents[3]
MOST = 100_000
SIGNS = (
    *" \n:-#'\"[]{},&*!|>%@`?\\\t~=.<0aA_",
    *("  ", "\n  ", "\n- ", ": ", " #", "- ", "---\n", "...\n", "|\n", ">-\n", "|2\n", "\n\n", "key: ", "&a ", "*a"),
    *("''", "\\\n", "{a: b}", "[a, b]", "null", "on", "0x1f", "1e3", "<<: ", "? ", "!!str ", "\u00e9", "\u2028"),
    *("\xa0", "\r\n", "\x85", "=======\n", "<<<<<<< a\n", "\ufeff"),
)


def by_parser(text):
    """The documents, with the type of each scalar and the order of keys; the problem where it tells one."""
    try:
        return [_typed(_Builder(None).build(node, 0)) for node in compose(text)]
    except YamlProblem as problem:
        return problem


def _typed(value):
    if isinstance(value, dict):
        return [(key, _typed(item)) for key, item in value.items()]
    return [_typed(item) for item in value] if isinstance(value, list) else (type(value), value)


def by_lines(text):
    found = documents_in(text, MOST)
    return None if found is None else _typed(found)


def files():
    folders = ("tests/golden", "tests/field", "tests/miniatures", "tests/guard", "generator/poolsmith/data", "examples")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.y*ml") if path.is_file())


def test_files_are_read_as_the_parser_reads_them():
    texts = [path.read_bytes().decode(errors="surrogateescape") for path in files()]
    read = [text for text in texts if by_lines(text) is not None]

    assert len(read) > 0.95 * len(texts)
    assert [text for text in read if by_lines(text) != by_parser(text)] == []


@pytest.mark.parametrize("seed", range(4))
def test_broken_lines_are_left_to_the_parser(seed):
    chance = random.Random(seed)
    texts = [path.read_text(errors="replace").split("\n") for path in chance.sample(files(), 60)]
    read = 0
    for lines in texts:
        start = chance.randrange(len(lines))
        whole = "\n".join(lines[start : start + chance.randrange(1, 20)])
        for _ in range(25):
            text = whole
            for _ in range(chance.randrange(4)):
                at = chance.randrange(len(text) + 1)
                text = text[:at] + chance.choice(SIGNS) + text[at + chance.choice((0, 0, 1, 2)) :]
            if (found := by_lines(text)) is not None:
                read += 1
                assert found == by_parser(text), text

    assert read > 100


@pytest.fixture
def from_layouts(monkeypatch):
    """The documents that layouts gave, each as it was read."""
    given = []
    yaml_lines._layouts.cache_clear()
    of_layout = Layouts.documents
    monkeypatch.setattr(Layouts, "documents", lambda *args: given.append(found := of_layout(*args)) or found)
    yield given
    yaml_lines._layouts.cache_clear()


def neighbours(lines, chance):
    """With other ends of some lines, then broken in places: each is a neighbour of what is kept."""
    for _ in range(25):
        changed = list(lines)
        for _ in range(chance.randrange(1, 3)):
            at = chance.randrange(3, len(lines))
            cuts = [
                len(changed[at]),
                *(changed[at].find(sign) + len(sign) for sign in (": ", "- ") if sign in lines[at]),
            ]
            changed[at] = changed[at][: cuts[-1] if chance.random() < 0.8 else cuts[0]] + chance.choice(
                chance.choice((ENDS, ENDS[:9]))
            )
        yield "\n".join(changed)


ENDS = (
    *(
        "x",
        "7",
        "null",
        '"x y"',
        "'x'",
        "[a, 1]",
        "{a: b}",
        "a # b",
        "a: b",
        "a:",
        "*a",
        "&a b",
        "| ",
        ">",
        '"',
        "x: {",
        "]",
    ),
    *(
        "- a",
        "-",
        "? a",
        "x ",
        "'a': b",
        '"a": b',
        "a, b",
        "a}",
        "2001-01-01",
        "0o7",
        "~",
        "#",
        "a #",
        "\ta",
        "!x y",
        "@",
        "`",
    ),
)


@pytest.mark.parametrize("seed", range(4))
def test_texts_of_one_layout_are_read_as_the_parser_reads_them(seed, from_layouts):
    chance = random.Random(seed)
    texts = [path.read_text(errors="replace").split("\n") for path in chance.sample(files(), 400)]
    for lines in texts:
        part = lines[: chance.randrange(18, 60)]
        if len(part) < 18 or by_lines("\n".join(part)) is None:
            continue
        by_lines("\n".join(part))
        for text in neighbours(part, chance):
            if (found := by_lines(text)) is not None:
                assert found == by_parser(text), text

    assert sum(found is not None for found in from_layouts) > 100


FILLER = "".join(f"z{number}: {number}\n" for number in range(16))
ITEMS = "".join(f"- z{number}\n" for number in range(16))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("a: x\n", "a: y\n"),
        ("a:\n- x\n- y\n", "a:\n- x\n- z: 1\n"),
        ("a: {\n  b: c\n}\n", "a: {\n  b: d, e: f\n}\n"),
        ("a: [\n  b\n]\n", "a: [\n  c, d\n]\n"),
        ("a: |\n  b: c\n", "a: |\n  b: d\n"),
        ("a: >-\n  b\n  c: d\n", "a: >-\n  b\n  c: e\n"),
        ('a: "b\n  c: d"\n', 'a: "b\n  c: e"\n'),
        ("a: b\n  c\n", "a: d\n  c\n"),
        ("a: b\n  c\n", 'a: "d"\n  c\n'),
        ("a: b # c\n", "a: c # c\n"),
        ("a: &x b\nc: *x\n", "a: &x d\nc: *x\n"),
        ("a: b\nc: d\n", "a: b\nc: &x d\n"),
        ("a: b\n# c\n", "a: b\n# d\n"),
        ("a: b\n# c\nd: e\n", "a: b\nc: d\nd: e\n"),
        ("a: b\nc: d\n", "a: b\na: d\n"),
        ("a: b\n---\nc: d\n", "a: b\n---\nc: e\n"),
        ("a: b\n--- \nc: d\n", "a: b\n--- c\nc: d\n"),
        ("- a: b\n  c: d\n- e: f\n", "- a: b\n  c: e\n- e: 1\n"),
        ("a: 1\nb: 010\n", "a: 01\nb: on\n"),
        ("a: \u00e9\nb: c\n", "a: e\nb: \u2028\n"),
        ("a: b\nc: d\n", "a: <<<<<<<\nc: =======\n"),
    ],
)
def test_another_scalar_goes_where_the_first_one_was(text, other):
    """At the end of a layout and in the midst of it."""
    before, after = (ITEMS, ("", "- z")) if text[0] == "-" else (FILLER, ("", "zz: 1\n"))
    for end in after:
        for whole in (text, text, text, other, text):
            assert by_lines(f"{before}{whole}{end}") in (None, by_parser(f"{before}{whole}{end}"))


@pytest.mark.parametrize("scalar", [".inf", "-.Inf", ".nan"])
def test_a_number_that_json_lacks_is_no_scalar_of_a_layout(scalar, from_layouts):
    for value in ("1", "2", "3"):
        by_lines(f"{FILLER}a: {value}\n")

    assert from_layouts[-1] is not None
    assert by_lines(f"{FILLER}a: {scalar}\n") is None


def test_collections_are_nobodys_but_their_readers():
    text = "a:\n  b: [1]\n  c: {d: 1}\n  e: f\n" + "#\n" * 20
    for _ in range(4):
        first = documents_in(text, MOST)
        first[0]["a"]["b"].append(2)
        first[0]["a"]["c"]["d"] = 2

    assert documents_in(text, MOST) == [{"a": {"b": [1], "c": {"d": 1}, "e": "f"}}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a comment\n",
        "---\n",
        "---\n---\na: 1\n",
        "a: 1\n--- # another\nb: 2\n---\n",
        "a:\n- b\n-\n- - c\n  - d\ne: f\n",
        "a:\n  - b: c\n    d:\n    - e\n  -   f: g\n      h: i\n",
        "on: y\n1: 2\n'on': 'y'\n\"a b\": ~\n",
        "a: b c\n  d e\n  f\ng: h\n",
        "a: b # c\nd: e#f\ng: 'h' # i\n",
        "a: 'it''s\n  so\n\n  here'\nb: \"c \\\n  d \\\"e\\\" \\n f\"\n",
        "a: |\n  b\n\n   c\n\nd: >-\n  e\n  f\n\n  g\nh: |-\n  i\n",
        "a: |2\n    b\n   c\nd: 1\n",
        "a: [b, 'c', \"d\", 1, {e: f, g: [h]}, {}]\nb: {}\nc: []\n",
        'a: [b,\n  "c",\n  d,\n]\n',
        "a: &b c\nd: *b\ne: [f]\n",
        "a:\n  b\nc: -d\ne: :f\n",
        "a: http://b:80/c?d={e}&f=*\n",
    ],
)
def test_what_people_write_is_read_here(text):
    assert by_lines(text) == by_parser(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a: b: c\n",
        "- ---\na\n",
        "a\n--- b\n",
        "a: b\n   # c\n   d\n",
        "- a\nb\n",
        "a: [b\n",
        'a: "b\n---\nc"\n',
        "a:\n  - b\n - c\n",
        "a: *b\n",
        "a: &b\n  c: d\ne: *b\n",
        "<<: {a: b}\n",
        "a: {<<: b}\n",
        "[{<<: {a: b}}]\n",
        "a: .nan\n",
        "a: |\n\t b\n",
        "a:\tb\n",
        "<<<<<<< a\nb: c\n=======\nb: d\n>>>>>>> e\n",
        "- " * 200,
        "[" * 200,
    ],
)
def test_what_may_be_a_mistake_is_left_to_the_parser(text):
    assert by_lines(text) is None


@pytest.mark.parametrize(
    "text",
    [
        'a: "' + "b \\\n  " * 40_000,
        "a: b\n" + "  c\n" * 100_000,
        "a: [" + "b,\n  " * 60_000,
        "- " * 300_000,
        "a: '" * 200_000,
    ],
    ids=["cut lines", "plain lines", "brackets", "dashes", "quotes"],
)
def test_long_values_take_no_longer_than_their_length(text):
    documents_in(text, 10_000_000)
