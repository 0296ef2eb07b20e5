"""The tree of a CEL expression, which the parser makes and every later step reads, and the tokens of CEL text.

Operators are calls with cel-go's names (`_+_`, `!_`, `_?_:_`), macros are calls as written. Offsets count code points.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.kubernetes.cel.go_text import printable

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


KEYWORDS = frozenset({"in", "true", "false", "null"})
RESERVED = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_INT64 = 2**63
_UINT64 = 2**64
_TOKEN = pattern(
    r"""
      (?P<space>(?:[\t\n\f\r\ ]+|//[^\n]*)+)
    | (?P<string>(?:[bB][rR]?|[rR][bB]?)?(?:"{3}|'{3}|"|'))
    | (?P<float>(?:[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    | (?P<int>(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?)
    | (?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
    | (?P<quoted>`[a-zA-Z0-9_.\-/\ ]+`)
    | (?P<sign>==|!=|<=|>=|&&|\|\||[\[\]{}().,<>!?:+*/%-])
    """,
    re.VERBOSE,
)
_ESCAPE = pattern(r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))")
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@record(kw_only=False)
class Token:
    """kind: int, uint, float, string, bytes, name, quoted, sign, end."""

    kind: str
    text: str
    offset: int
    value: int | float | str | bytes | None = None


def tokens(source: str) -> list[Token]:
    """All tokens and an end token; raises CelCompileError."""
    out: list[Token] = []
    at = 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:
            raise CelCompileError(issue_at(source, at, f"Syntax error: token recognition error at: '{source[at]}'"))
        kind, text, start = str(found.lastgroup), found.group(), at
        at = found.end()
        if kind == "string":
            token, at = _string(source, start, text)
            out.append(token)
        elif kind == "int":
            out.append(_integer(source, start, text))
        elif kind == "float":
            out.append(Token("float", text, start, float(text)))
        elif kind == "quoted":
            out.append(Token("quoted", text[1:-1], start))
        elif kind != "space":
            out.append(Token(kind, text, start))
    out.append(Token("end", "<EOF>", len(source)))
    return out


def _integer(source: str, start: int, text: str) -> Token:
    unsigned = text[-1] in "uU"
    digits = text[:-1] if unsigned else text
    value = int(digits, 0) if digits.startswith("0x") else int(digits) if len(digits) < 40 else _UINT64  # noqa: PLR2004
    if unsigned and value >= _UINT64:
        raise CelCompileError(issue_at(source, start, "invalid uint literal"))
    if not unsigned and value > _INT64:
        raise CelCompileError(issue_at(source, start, "invalid int literal"))
    return Token("uint" if unsigned else "int", text, start, value)


def _string(source: str, start: int, opening: str) -> tuple[Token, int]:
    quote = opening.lstrip("bBrR")
    prefix = opening[: len(opening) - len(quote)].lower()
    at = start + len(opening)
    raw = "r" in prefix
    end = at
    while True:
        if end >= len(source) or (len(quote) == 1 and source[end] in "\r\n"):
            shown = source[start:end][:40]
            raise CelCompileError(issue_at(source, start, f"Syntax error: token recognition error at: '{shown}'"))
        if source.startswith(quote, end):
            break
        end += 2 if source[end] == "\\" and not raw else 1
    body = source[at:end]
    if len(quote) == 3:  # noqa: PLR2004
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    value: str | bytes
    if "b" in prefix:
        value = body.encode("utf-8", "replace") if raw else _bytes(source, start, body)
    else:
        value = body if raw else _text(source, start, body)
    return Token("bytes" if "b" in prefix else "string", source[start : end + len(quote)], start, value), end + len(
        quote
    )


def _pieces(source: str, start: int, body: str) -> list[tuple[str, re.Match[str] | None]]:
    out: list[tuple[str, re.Match[str] | None]] = []
    at = 0
    while (slash := body.find("\\", at)) >= 0:
        found = _ESCAPE.match(body, slash)
        if found is None:
            shown = body[slash : slash + 2]
            raise CelCompileError(
                issue_at(source, start, f"Syntax error: invalid escape sequence '{shown}' in a string")
            )
        out += [(body[at:slash], None), ("", found)]
        at = found.end()
    out.append((body[at:], None))
    return out


def _text(source: str, start: int, body: str) -> str:
    parts = []
    for plain, escape in _pieces(source, start, body):
        if escape is None:
            parts.append(plain)
            continue
        one, *codes, octal = escape.groups()
        if one is not None:
            parts.append(_SIMPLE.get(one, one))
            continue
        code = int(octal, 8) if octal else int(next(item for item in codes if item), 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004
            raise CelCompileError(issue_at(source, start, "invalid unicode code point in a string"))
        parts.append(chr(code))
    return "".join(parts)


def _bytes(source: str, start: int, body: str) -> bytes:
    parts = []
    for plain, escape in _pieces(source, start, body):
        if escape is None:
            parts.append(plain.encode("utf-8", "replace"))
            continue
        one, byte, short, long, octal = escape.groups()
        if one is not None:
            parts.append(_SIMPLE.get(one, one).encode())
        elif short or long:
            raise CelCompileError(issue_at(source, start, "unable to unescape a code point in bytes"))
        else:
            parts.append(bytes([int(octal, 8) if octal else int(byte, 16)]))
    return b"".join(parts)
