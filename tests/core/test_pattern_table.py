"""Expressions that were compiled where poolsmith was installed are those that a run would compile, or aren't used."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from hostile.expressions import expressions
from poolsmith.core import pattern as patterns
from poolsmith.core.facts import twins
from poolsmith.core.pattern import LazyPattern, bytes_pattern, fits, pattern

ENVIRONMENT = {"PYTHONPATH": str(twins.store.DATA.parents[1])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Made in a process of its own: here other expressions are alive too."""
    made = tmp_path_factory.mktemp("data")
    program = "import pathlib, sys; from poolsmith.core.facts import twins; twins.write_expressions(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", program, made], env=ENVIRONMENT, check=True)
    return made


@pytest.fixture
def table(folder, monkeypatch):
    """The table of this interpreter, in place of what stands in the checkout."""
    known = patterns.marshal.loads((folder / patterns.TABLE).read_bytes())
    monkeypatch.setattr(patterns, "_table", lambda: known)
    return known


def test_each_expression_of_the_table_is_what_the_compiler_makes(table):
    assert len(table) > 300
    for text, flags in table:
        made, expected = patterns._compiled(text, flags), re.compile(text, flags)
        assert made == expected, "equal are expressions of the same text, flags and code"
        assert (made.groups, made.groupindex) == (expected.groups, expected.groupindex)


def test_the_expressions_of_modules_are_in_it(table, monkeypatch):
    known = {text for text, _flags in table}
    missing = {one.place for one in expressions() if one.pattern not in known}

    assert len(missing) < len(known) / 3, "functions make some of their own"
    monkeypatch.setattr(patterns, "re", None)
    assert pattern(r"^(?:<{7}|={7}|>{7}|\|{7})(?:[ \t].*)?\r?$", re.MULTILINE).search("a\n<<<<<<< b").start() == 2


def test_what_is_not_in_it_is_compiled(table):
    assert pattern(r"not in (?P<the>any) table", re.IGNORECASE).fullmatch("NOT in any table")["the"] == "any"
    assert bytes_pattern(rb"neither [i]s this").search(b"neither is this")
    with pytest.raises(re.error):
        pattern("(").search("text")


@pytest.mark.parametrize("damage", [b"", b"{", b"\xe9", None])
def test_a_damaged_table_is_not_used(monkeypatch, tmp_path, damage):
    place = tmp_path / "data" / patterns.TABLE
    place.parent.mkdir(parents=True)
    place.mkdir() if damage is None else place.write_bytes(damage)
    monkeypatch.setattr(patterns, "__file__", str(tmp_path / "core/pattern.py"))

    assert patterns._table.__wrapped__() == {}


def test_the_table_of_another_interpreter_or_engine_has_another_name():
    assert sys.implementation.cache_tag in patterns.TABLE
    assert patterns.TABLE.endswith(f"-{patterns._ENGINE.MAGIC}")


def test_the_same_expressions_make_the_same_bytes():
    given = [("a+", 0), (b"b", re.IGNORECASE), ("[^\\ud7ff]", 0)]

    assert patterns.table_of(given) == patterns.table_of([*reversed(given), ("a+", 0)])
    assert re._compiler._sre is patterns._ENGINE


def test_the_module_loads_little():
    program = (
        "import sys, re; before = set(sys.modules); import poolsmith.core.pattern; print(*set(sys.modules) - before)"
    )
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout.split()

    assert {name for name in loaded if not name.startswith("poolsmith")} <= {"__future__", "marshal"}


def test_a_copy_is_the_same():
    from copy import copy

    one = LazyPattern("a|b", re.IGNORECASE)
    assert copy(one).given == one.given == ("a|b", 2)


@pytest.mark.parametrize("form", ["", "*", "a*", "*a", "a*a", "*ab*", "a*b*a", "**", "ab", "b*aa*", "*a*a"])
def test_a_form_of_names_fits_what_the_shell_would_take(form):
    from fnmatch import fnmatchcase
    from itertools import product

    names = ["".join(letters) for length in range(6) for letters in product("ab", repeat=length)]
    assert [fits(name, form) for name in names] == [fnmatchcase(name, form) for name in names]


def test_the_expressions_of_fields_are_in_it(table):
    from poolsmith.core.shape.field import DNS_LABEL, QUALIFIED_NAME, TOKEN

    assert {(text, 0) for text in (DNS_LABEL, QUALIFIED_NAME, TOKEN)} <= table.keys()
