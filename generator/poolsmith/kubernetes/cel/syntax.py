"""The tree of a CEL expression: what the parser makes and every later step reads.

Operators are calls with cel-go's names (`_+_`, `!_`, `_?_:_`), macros are calls as written. Offsets count code points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.printed_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator


@record(kw_only=False)
class Literal:
    """kind: bool, int, uint, double, string, bytes, null_type."""

    value: bool | int | float | str | bytes | None
    kind: str
    offset: int


@record(kw_only=False)
class Ident:
    name: str
    offset: int


@record(kw_only=False)
class Select:
    """`operand.field`, or `operand.?field` when optional; quoted when written in backquotes."""

    operand: Node
    field: str
    offset: int
    optional: bool = False
    quoted: bool = False


@record(kw_only=False)
class Call:
    """A function, method (with target), operator or macro."""

    function: str
    args: tuple[Node, ...]
    offset: int
    target: Node | None = None


@record(kw_only=False)
class ListOf:
    """optional: the positions of elements that are written `?x`."""

    elements: tuple[Node, ...]
    offset: int
    optional: frozenset[int] = frozenset()


@record(kw_only=False)
class MapOf:
    """entries: key, value, whether the key is written `?key`."""

    entries: tuple[tuple[Node, Node, bool], ...]
    offset: int


@record(kw_only=False)
class StructOf:
    """`Name{field: value}`."""

    name: str
    entries: tuple[tuple[str, Node, bool], ...]
    offset: int


Node: TypeAlias = Literal | Ident | Select | Call | ListOf | MapOf | StructOf


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, in the order of the source."""
    if isinstance(node, Select):
        return (node.operand,)
    if isinstance(node, Call):
        return node.args if node.target is None else (node.target, *node.args)
    if isinstance(node, ListOf):
        return node.elements
    if isinstance(node, MapOf):
        return tuple(part for key, value, _ in node.entries for part in (key, value))
    if isinstance(node, StructOf):
        return tuple(value for _, value, _ in node.entries)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(children(one))


@record(kw_only=False)
class CompileIssue:
    """One thing that is wrong with an expression; line and column count from 1."""

    message: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class CelCompileError(Exception):
    """The API server would not accept the expression."""

    def __init__(self, *messages: CompileIssue) -> None:
        super().__init__("; ".join(str(one) for one in messages))
        self.messages = messages


def issue_at(source: str, offset: int, message: str) -> CompileIssue:
    """The issue with line and column of an offset."""
    before = source[:offset]
    return CompileIssue(printable(message), before.count("\n") + 1, offset - before.rfind("\n"))
