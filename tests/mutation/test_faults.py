"""The tool that measures what the tests notice: its faults, where they are put, and the hooks that find what reaches them."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tools.mutation.faults import data_without, defaults_of, faults_of_data, faults_of_python
from tools.mutation.places import choose, read, written
from tools.mutation.probes import instrumented
from tools.mutation.reach import by_place

SHOP = '''\
"""Prices, each with its tax."""

from __future__ import annotations

from functools import cache

RATES = {"book": 7, "food": 5, "tool": 19}
_KNOWN = frozenset(RATES)


@cache
def rate(kind: str) -> int:
    """In percent."""
    return RATES.get(kind, 19)


def price(kind: str, net: int, *, rebate: int = 0) -> int:
    if not net or kind not in _KNOWN:
        return -1
    if net > 100 and rebate:
        net -= rebate
    elif rebate == 1:
        net = sum(
            [net, 2],
            start=0,
        )
    return net + net * rate(kind) // 100
'''
PRICES = "generator/poolsmith/shop/prices.py"
BOXES = "generator/poolsmith/boxes/boxes.py"


def changed(text, kind, **more):
    """The lines that faults of a kind make of a text."""
    text = textwrap.dedent(text)
    defaults = {**defaults_of(ast.parse(text)), **more}
    found = []
    for fault in faults_of_python(text, defaults):
        if fault.kind == kind:
            new = text[: fault.span[0]] + fault.new + text[fault.span[1] :]
            found.append(" ".join(new[new.rfind("\n", 0, fault.span[0]) + 1 :].split("\n")[0].split()))
    return found


@pytest.fixture
def project(write_files):
    boxes = 'SIZES = ("s", "m", "l")\n\n\ndef fits(size: str, count: int) -> bool:\n    return size in SIZES and count < 9\n'
    return write_files({PRICES: SHOP, BOXES: boxes})


@pytest.mark.parametrize(
    ("kind", "text", "faults"),
    [
        ("comparison", "a = b < c", ["a = b <= c"]),
        ("comparison", "a = b == c != d", ["a = b != c != d", "a = b == c == d"]),
        ("comparison", "a = (b) not in c", ["a = (b) in c"]),
        ("comparison", "a = b is None", ["a = b is not None"]),
        ("constant", "a = 1", ["a = 0", "a = 2"]),
        ("constant", "a = 0", ["a = 1"]),
        ("constant", "a = f(True)", ["a = f(False)"]),
        ("constant", "a = b['key'] + r'\\d'", ["a = b['keyX'] + r'\\d'", "a = b['key'] + r'\\dX'"]),
        ("branch", "if a:\n    b()", ["if False:", "if True:"]),
        ("branch", "if a:\n    b()\nelif c:\n    d()", ["if False:", "if True:", "elif False:", "elif True:"]),
        ("branch", "a = b if c else d", ["a = b if False else d", "a = b if True else d"]),
        ("early end", "def f(a):\n    if a:\n        return 1\n    return 2", ["pass"]),
        ("early end", "def f():\n    for a in b:\n        if a:\n            continue\n        c()", ["pass"]),
        ("early end", "def f():\n    for a in b:\n        c()\n        if a:\n            continue", []),
        ("early end", "def f(a):\n    if a:\n        b()\n        return", []),
        ("and/or", "a = b and c and d", ["a = b or c and d", "a = b and c or d"]),
        ("and/or", "a = (b or c) and d", ["a = (b and c) and d", "a = (b or c) or d"]),
        ("row", "A = (1, 2, 3)", ["A = (2, 3)", "A = (1, 3)", "A = (1, 2)"]),
        ("row", "A = ('b', 'c')", ["A = ('c',)", "A = ('b',)"]),
        ("row", "A = frozenset({'b', 'c'})", ["A = frozenset({'c'})", "A = frozenset({'b'})"]),
        ("row", "A = {'b': (1, 2), 'c': 3}", ["A = {'c': 3}", "A = {'b': (1, 2)}"]),
        ("row", "A = ('b', 'c',)", ["A = ('c',)", "A = ('b', )"]),
        ("row", "A, B = 1, 2\ndef f():\n    return [1, 2]", []),
        ("argument", "def f(a, b=1): ...\nf(2, b=3)\nf(a=2)", ["f(2)"]),
        ("argument", "a = b.get('c', d)\nb.get('c')", ["a = b.get('c')"]),
        ("argument", "a = sorted(b, key=c, reverse=d)", ["a = sorted(b, reverse=d)", "a = sorted(b, key=c)"]),
        ("not", "a = not b", ["a = b"]),
    ],
)
def test_each_kind_of_fault(kind, text, faults):
    assert sorted(changed(text, kind)) == sorted(faults)


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring."""',
        "a: Literal['b'] = c",
        "def f(a: 'b') -> 'c': ...",
        "if TYPE_CHECKING:\n    a = 1",
        "__all__ = ['a', 'b']",
        "assert a == 1",
        "@record(frozen=False)\nclass A: ...",
        "_CHUNK_SIZE = 4096",
        "from a import b  # on demand",
        "a = f'{b == 1}'",
        "a = RuleInfo(sources=('b', 'c'), fix='word')",
        "raise ValueError('a sentence for people')",
    ],
)
def test_what_no_test_has_to_notice_has_no_fault(text):
    assert faults_of_python(text, {}) == []


def test_a_row_of_data_is_lost_and_nothing_else():
    text = textwrap.dedent("""\
        rows:
          - name: a
            pair: {one: 1, two: 2}
          - name: b
            words: [c, d]
            source: a book, a page
    """)
    lost = {fault.name: data_without(text, fault) for fault in faults_of_data(text)}

    assert lost["rows[0]"] == "rows:\n  - name: b\n    words: [c, d]\n    source: a book, a page\n"
    assert lost["rows[0].pair.one"] == text.replace("one: 1, ", "")
    assert lost["rows[1].words[1]"] == text.replace(", d", "")
    assert lost["rows[1].words"] == text.replace("    words: [c, d]\n", "")
    assert lost["rows[1].name"] is None  # its line begins the row
    assert "rows[1].source" not in lost


def test_a_seed_chooses_the_same_places_in_each_package(project):
    first, again, other = (choose(project, seed, 8) for seed in ("1", "1", "2"))

    assert first == again == read(written(first))
    assert [place.id for place in first] != [place.id for place in other]
    assert {place.package for place in first} == {"boxes", "shop"}
    assert [place.package for place in choose(project, "1", 2)] == ["boxes", "shop"]
    assert len({place.kind for place in first}) > 4
    for place in first:
        text = (project / place.file).read_text()
        assert place.applied(text) != text
        assert "\n-" in place.diff()


def test_a_place_is_found_by_its_text_in_another_commit(project):
    (place,) = [place for place in choose(project, "1", 40, kinds=frozenset(["not"])) if "net or" in place.lines[0]]
    twice = "def other(net, kind):\n    if not net or kind not in _KNOWN:\n        return 0\n\n\n" + SHOP

    assert place.applied(twice) == twice.replace("-> int:\n    if not net or", "-> int:\n    if net or")
    assert place.applied(SHOP.replace("not net or", "net == 0 or")) is None


def test_hooks_move_no_line_and_change_nothing(project, tmp_path):
    kinds = ("row", "branch", "early end", "not", "argument", "and/or", "comparison", "constant")
    places = [place for kind in kinds for place in choose(project, "1", 9, kinds=frozenset([kind]))]
    reached = []
    for file, text in instrumented(project, places, tmp_path).items():
        plain = (project / file).read_text()
        assert text.count("\n") == plain.count("\n")
        before, after = {}, {"exec": lambda *_: None, "_mutation_reach": reached.append}
        exec(plain, before)
        exec(text, after)
        for arguments in [("book", 0), ("book", 200), ("tool", 5), ("car", 5)] if file == PRICES else []:
            assert before["price"](*arguments, rebate=1) == after["price"](*arguments, rebate=1)

    assert {places[number].file for number in reached} == {PRICES}
    assert {places[number].kind for number in reached} == set(kinds)


def test_a_table_is_reached_where_what_is_made_of_it_is_read(project, tmp_path):
    (place, *_) = choose(project, "1", 1, frozenset(["shop"]), frozenset(["row"]))
    (text,) = instrumented(project, [place], tmp_path).values()

    assert "return (_mutation_reach(0) or RATES).get(kind, 19)" in text
    assert "kind not in (_mutation_reach(0) or _KNOWN):" in text


def test_what_is_kept_for_many_tests_is_reached_by_each_that_uses_it():
    log = "a.py::one\t1\na.py::one\tcache:1\ncache:1\t2\ncache:1\tcache:2\ncache:2\t3\nb.py::two\tcache:2\ncollect:b.py\t4\n"

    assert by_place(["a.py::one", "b.py::two", "b.py::three"], log) == {
        1: {"a.py::one"},
        2: {"a.py::one"},
        3: {"a.py::one", "b.py::two"},
        4: {"b.py::two", "b.py::three"},
    }
