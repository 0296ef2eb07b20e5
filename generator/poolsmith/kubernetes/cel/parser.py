"""CEL text to its tree, within bounds of size and depth.

Logical chains become balanced trees, as in cel-go; everything else keeps the shape of the grammar.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NoReturn

from poolsmith.kubernetes.cel.syntax import (
    KEYWORDS,
    RESERVED,
    Call,
    CelCompileError,
    CompileIssue,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Node,
    Select,
    StructOf,
    Token,
    issue_at,
    tokens,
)

MAX_CODE_POINTS = 100_000
MAX_DEPTH = 120
MAX_OPERATORS = 240
_OPERATORS = {
    "||": ("_||_", 1),
    "&&": ("_&&_", 2),
    "==": ("_==_", 3),
    "!=": ("_!=_", 3),
    "<": ("_<_", 3),
    "<=": ("_<=_", 3),
    ">": ("_>_", 3),
    ">=": ("_>=_", 3),
    "in": ("@in", 3),
    "+": ("_+_", 4),
    "-": ("_-_", 4),
    "*": ("_*_", 5),
    "/": ("_/_", 5),
    "%": ("_%_", 5),
}
_LOGICAL = 2
_CONSTANTS = {"true": True, "false": False, "null": None}


@lru_cache(maxsize=256)
def parse(source: str) -> Node:
    """The tree of an expression, one for all that ask for it; raises CelCompileError."""
    if len(source) > MAX_CODE_POINTS:
        size = f"expression code point size exceeds limit: size: {len(source)}, limit {MAX_CODE_POINTS}"
        raise CelCompileError(CompileIssue(size))
    try:
        return _Parser(source).whole()
    except RecursionError:
        raise CelCompileError(CompileIssue("expression is nested too deeply")) from None


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokens(source)
        self.at = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def fail(self, token: Token, message: str) -> NoReturn:
        raise CelCompileError(issue_at(self.source, token.offset, message))

    def unexpected(self, token: Token) -> NoReturn:
        self.fail(token, f"Syntax error: mismatched input '{token.text[:40]}'")

    def take(self, sign: str) -> bool:
        token = self.next
        if token.kind == "sign" and token.text == sign:
            self.at += 1
            return True
        return False

    def want(self, sign: str) -> None:
        if not self.take(sign):
            self.unexpected(self.next)

    def whole(self) -> Node:
        node = self.expression()
        if self.next.kind != "end":
            self.unexpected(self.next)
        return node

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(self.next, f"expression recursion limit exceeded: {MAX_DEPTH}")
        node = self.operations()
        if self.take("?"):
            offset = self.tokens[self.at - 1].offset
            yes = self.operations()
            self.want(":")
            no = self.expression()
            node = Call("_?_:_", (node, yes, no), offset)
        self.depth -= 1
        return node

    def operations(self) -> Node:
        """Operands and binary operators up to a sign that is neither, by precedence, from the left."""
        operands: list[_Chain] = [_Chain(self.unary())]
        waiting: list[tuple[str, int, int]] = []
        count = 0
        while (found := self.operator()) is not None:
            function, binding, offset = found
            count += binding > _LOGICAL
            if count > MAX_OPERATORS:
                self.fail(self.next, f"expression recursion limit exceeded: {MAX_OPERATORS}")
            while waiting and waiting[-1][1] >= binding:
                _join(operands, waiting.pop())
            count = 0 if binding <= _LOGICAL else count
            waiting.append((function, binding, offset))
            operands.append(_Chain(self.unary()))
        while waiting:
            _join(operands, waiting.pop())
        return operands[0].node()

    def operator(self) -> tuple[str, int, int] | None:
        token = self.next
        if token.kind != "sign" and not (token.kind == "name" and token.text == "in"):
            return None
        found = _OPERATORS.get(token.text)
        if found is None:
            return None
        self.at += 1
        return (*found, token.offset)

    def unary(self) -> Node:
        token = self.next
        if token.kind == "sign" and token.text in "!-":
            after = self.tokens[self.at + 1]
            if token.text == "-" and after.kind in ("int", "float"):
                self.at += 2
                return self.member(self.number(after, token.offset))
            count = 0
            while self.take(token.text):
                count += 1
            node = self.member(None)
            return Call("!_" if token.text == "!" else "-_", (node,), token.offset) if count % 2 else node
        return self.member(None)

    def number(self, token: Token, offset: int) -> Literal:
        value = token.value
        assert isinstance(value, int | float)
        return Literal(-value, "int" if token.kind == "int" else "double", offset)

    def member(self, first: Node | None) -> Node:
        node = self.primary() if first is None else first
        count = 0
        while self.next.kind == "sign" and self.next.text in ".[":
            count += 1
            if count > MAX_OPERATORS:
                self.fail(self.next, f"expression recursion limit exceeded: {MAX_OPERATORS}")
            token = self.next
            self.at += 1
            optional = self.take("?")
            if token.text == "[":
                index = self.expression()
                self.want("]")
                node = Call("_[?_]" if optional else "_[_]", (node, index), token.offset)
                continue
            node = self.dotted(node, token.offset, optional=optional)
        return node

    def dotted(self, node: Node, offset: int, *, optional: bool) -> Node:
        name = self.next
        if name.kind not in ("name", "quoted") or (name.kind == "name" and name.text in KEYWORDS):
            self.unexpected(name)
        self.at += 1
        opening = self.next
        if not optional and name.kind == "name" and opening.kind == "sign" and opening.text == "(":
            self.at += 1
            return Call(name.text, self.arguments(), opening.offset, node)
        return Select(node, name.text, offset, optional, name.kind == "quoted")

    def arguments(self) -> tuple[Node, ...]:
        out: list[Node] = []
        if self.take(")"):
            return ()
        out.append(self.expression())
        while self.take(","):
            out.append(self.expression())
        self.want(")")
        return tuple(out)

    def primary(self) -> Node:
        token = self.next
        self.at += 1
        if token.kind == "sign" and token.text == "(":
            node = self.expression()
            self.want(")")
            return node
        if token.kind == "sign":
            return self.bracketed(token)
        if token.kind == "name":
            return self.name(token)
        if token.kind in ("int", "uint", "float", "string", "bytes"):
            if token.kind == "int" and token.value == 2**63:
                self.fail(token, "invalid int literal")
            return Literal(token.value, "double" if token.kind == "float" else token.kind, token.offset)
        return self.unexpected(token)

    def bracketed(self, token: Token) -> Node:
        if token.text == "[":
            return self.list_of(token)
        if token.text == "{":
            return self.map_of(token)
        if token.text == "." and self.next.kind == "name":
            name = self.next
            self.at += 1
            return self.name(name, rooted=True)
        return self.unexpected(token)

    def name(self, token: Token, *, rooted: bool = False) -> Node:
        if token.text in _CONSTANTS and not rooted:
            value = _CONSTANTS[token.text]
            return Literal(value, "null_type" if value is None else "bool", token.offset)
        if token.text in KEYWORDS:
            self.unexpected(token)
        if token.text in RESERVED:
            self.fail(token, f"reserved identifier: {token.text}")
        opening = self.next
        if self.take("("):
            return Call(token.text, self.arguments(), opening.offset)
        struct = self.struct_of(token)
        return Ident(token.text, token.offset) if struct is None else struct

    def struct_of(self, token: Token) -> Node | None:
        at, name = self.at, token.text
        while self.tokens[at].text == "." and self.tokens[at].kind == "sign" and self.tokens[at + 1].kind == "name":
            name += "." + self.tokens[at + 1].text
            at += 2
        if not (self.tokens[at].kind == "sign" and self.tokens[at].text == "{"):
            return None
        opening = self.tokens[at]
        self.at = at + 1
        entries: list[tuple[str, Node, bool]] = []
        while not self.take("}"):
            optional = self.take("?")
            field = self.next
            if field.kind not in ("name", "quoted"):
                self.unexpected(field)
            self.at += 1
            self.want(":")
            entries.append((field.text, self.expression(), optional))
            if not self.take(",") and not (self.next.kind == "sign" and self.next.text == "}"):
                self.unexpected(self.next)
        return StructOf(name, tuple(entries), opening.offset)

    def list_of(self, token: Token) -> Node:
        elements: list[Node] = []
        optional: set[int] = set()
        while not self.take("]"):
            if self.take("?"):
                optional.add(len(elements))
            elements.append(self.expression())
            if not self.take(",") and not (self.next.kind == "sign" and self.next.text == "]"):
                self.unexpected(self.next)
        return ListOf(tuple(elements), token.offset, frozenset(optional))

    def map_of(self, token: Token) -> Node:
        entries: list[tuple[Node, Node, bool]] = []
        while not self.take("}"):
            optional = self.take("?")
            key = self.expression()
            self.want(":")
            entries.append((key, self.expression(), optional))
            if not self.take(",") and not (self.next.kind == "sign" and self.next.text == "}"):
                self.unexpected(self.next)
        return MapOf(tuple(entries), token.offset)


class _Chain:
    """One operand, or the terms of `a || b || c` while more may follow."""

    def __init__(self, term: Node) -> None:
        self.function = ""
        self.terms = [term]
        self.offsets: list[int] = []

    def node(self) -> Node:
        return _balanced(self.function, self.terms, self.offsets)


def _join(operands: list[_Chain], operator: tuple[str, int, int]) -> None:
    function, binding, offset = operator
    right, left = operands.pop(), operands[-1]
    if binding > _LOGICAL:
        operands[-1] = _Chain(Call(function, (left.node(), right.node()), offset))
        return
    if left.function != function:
        left = operands[-1] = _Chain(left.node())
        left.function = function
    left.terms.append(right.node())
    left.offsets.append(offset)


def _balanced(function: str, terms: list[Node], offsets: list[int]) -> Node:
    if len(terms) == 1:
        return terms[0]
    middle = (len(terms) - 1) // 2
    left = _balanced(function, terms[: middle + 1], offsets[:middle])
    right = _balanced(function, terms[middle + 1 :], offsets[middle + 1 :])
    return Call(function, (left, right), offsets[middle])
