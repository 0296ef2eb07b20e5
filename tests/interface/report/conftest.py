"""Findings of any kind, and the published schemas that reports are held against."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Location, Position, Severity, Span, diagnose
from support.code_book import CODE_BOOK


@pytest.fixture(scope="session")
def published(repository):
    """The path of a published schema, as `make tools` gets it."""

    def find(name):
        path = repository / ".tools/schemas" / name
        if not path.exists():
            pytest.skip(f"the schema `{name}` is not in .tools/schemas")
        return path

    return find


@pytest.fixture(scope="session")
def finding():
    """A finding of a rule of the code book."""
    book = {rule.severity: rule for rule in sorted(CODE_BOOK, key=lambda rule: rule.code, reverse=True)}

    def make(message="is wrong", path="profiles/edge/l4.yaml", line=11, column=5, *, severity=Severity.ERROR, **more):
        end = Position(line, column + 7)
        place = Location(span=Span(path=path, start=Position(line, column), end=end), pointer="/spec/gpu")
        return diagnose(book[severity], message, place, **more)

    return make
