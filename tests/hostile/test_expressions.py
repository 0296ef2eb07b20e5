"""Each regular expression of the code takes time that grows as its text does, for texts made of its own pieces."""

from __future__ import annotations

import re

import pytest

from hostile.expressions import Expression, attacks, expressions, growth
from support import circles

BEFORES, BODIES = (12, 26) if circles.DEEP else (4, 8)
SHORT = {
    "fleet/operands/nvidia_driver/driver_containers:_REFERENCE": "references of at most 600 characters",
    r"fleet/plan/delivery/chart_delivery:\\.|\[\^?\]?[^]]*\]": "patterns of at most 500 characters",
    "gpu/importing/template_references:_ACTION": "lines that end with the end of an action, so that one begins once",
}
"""Expressions that see short texts only, with what cuts them."""
ONLY_AT_THE_BEGINNING = frozenset(
    (
        "core/sources/hcl_text:SPACE",
        "core/sources/hcl_text:SPACE_AND_LINES",
    )
)
"""Those that go through other names before `match` is called."""


def tried(expression: Expression) -> Expression:
    if expression.place in ONLY_AT_THE_BEGINNING:
        return expression._replace(methods=frozenset(("match",)))
    return expression


@pytest.mark.deep("ten seconds: every expression of the package, on texts that grow")
def test_each_takes_time_as_its_text_does() -> None:
    slow = {
        expression.place: found
        for expression in map(tried, expressions())
        if (found := growth(expression, BEFORES, BODIES))
    }
    assert set(slow) <= set(SHORT), slow


@pytest.mark.parametrize(
    ("pattern", "methods"),
    [
        (r"\{\{.*?\}\}", "search"),
        (r"(a+)+b", "match"),
        (r"(?:[+.-][a-z][a-z.]*)*", "fullmatch"),
        (r"^\s*(?:- )?kind:", "search"),
        (r"[0-9]*(?:\.[0-9]*)?[0-9]*", "fullmatch"),
        (r",(?![^(]*\))", "split"),
        (r"[A-Za-z]+=\S+", "finditer"),
    ],
)
def test_one_that_does_not_is_found(pattern: str, methods: str) -> None:
    flags = re.MULTILINE if pattern.startswith("^") else 0
    assert growth(Expression("here", pattern, re.compile(pattern, flags).flags, frozenset((methods,))), BEFORES, BODIES)


def test_there_are_many() -> None:
    found = expressions()
    assert len(found) > 250
    assert sum(next(attacks(item, 2, 2), None) is not None for item in found) > len(found) - 4
