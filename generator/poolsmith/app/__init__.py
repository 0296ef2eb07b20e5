"""App: the use cases as functions, the public Python API. They return values; `cli` prints and exits."""

from poolsmith.app.check import check_paths, check_project
from poolsmith.app.explain import explain
from poolsmith.app.generate import generate
from poolsmith.app.initialize import initialize
from poolsmith.app.rule_book import rule_book
from poolsmith.app.schemas import schema_text
from poolsmith.app.settle import Mode

__all__ = [
    "Mode",
    "check_paths",
    "check_project",
    "explain",
    "generate",
    "initialize",
    "rule_book",
    "schema_text",
]
