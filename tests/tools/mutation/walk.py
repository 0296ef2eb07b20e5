"""The nodes of a module, each with what the faults and the probes have to know of where it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Seen:
    """A node of a module, and its surroundings."""

    node: ast.AST
    parents: tuple[ast.AST, ...]
    """From the module to the node's own parent."""
    in_call: bool
    """It is evaluated when a function is called, not when the module is imported."""
    owners: tuple[str, ...]
    """The names that the statement of the module binds in which it stands."""
    name: str
    """The function or class in which it stands, by its dotted name."""
    annotation: bool = False
    wrapped: ast.expr | None = None
    """What has to be wrapped in its place: parts of f-strings have no places, and patterns are no expressions."""


class Source:
    """The text of a module, whose nodes are found by offsets of characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where the text of a statement or expression begins and ends."""
        assert isinstance(node, (ast.stmt, ast.expr, ast.keyword))
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def offset(self, line: int, column: int) -> int:
        """`column` counts bytes, as `ast` does."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def line_of(self, offset: int) -> int:
        """The line, from 1."""
        return self.text.count("\n", 0, offset) + 1

    def line(self, number: int) -> str:
        return self._lines[number - 1]


def walked(tree: ast.Module) -> Iterator[Seen]:
    """All nodes, from the first to the last."""
    for statement in tree.body:
        yield from _below(Seen(statement, (tree,), in_call=False, owners=_bound(statement), name=""))


def _below(seen: Seen) -> Iterator[Seen]:
    yield seen
    node, parents = seen.node, (*seen.parents, seen.node)
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            here = replace(seen, node=child, parents=parents)
            if field in ("annotation", "returns"):
                here = replace(here, annotation=True)
            if isinstance(node, FUNCTIONS) and field == "body":
                here = replace(here, in_call=True)
            if field == "body" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                here = replace(here, name=f"{seen.name}.{node.name}".lstrip("."))
            if seen.wrapped is None:
                if isinstance(node, ast.JoinedStr):
                    here = replace(here, wrapped=node)
                elif isinstance(node, ast.Match) and field == "cases":
                    here = replace(here, wrapped=node.subject)
            if isinstance(node, ast.match_case) and field in ("guard", "body"):
                here = replace(here, wrapped=None)
            yield from _below(here)


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (statement.name,)
    inner = {
        id(name)
        for node in ast.walk(statement)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
    }
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return tuple(dict.fromkeys(node.id for node in names if id(node) not in inner))
