"""A tree of CEL back to text that any engine reads the same way."""

from __future__ import annotations

from typing import assert_never

from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select, StructOf

_BINARY = {
    "_||_": ("||", 1),
    "_&&_": ("&&", 2),
    "_==_": ("==", 3),
    "_!=_": ("!=", 3),
    "_<_": ("<", 3),
    "_<=_": ("<=", 3),
    "_>_": (">", 3),
    "_>=_": (">=", 3),
    "@in": ("in", 3),
    "_+_": ("+", 4),
    "_-_": ("-", 4),
    "_*_": ("*", 5),
    "_/_": ("/", 5),
    "_%_": ("%", 5),
}
_LOGICAL = 2
_UNARY, _MEMBER = 6, 7
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CONTROL = 0x20


def unparse(node: Node) -> str:
    """Text with no more parentheses than needed: engines count them as depth."""
    out: list[str] = []
    _write(node, out)
    return "".join(out)


def quoted(text: str) -> str:
    """A string as a CEL literal."""
    return '"' + "".join(_ESCAPES.get(one) or _plain(one) for one in text) + '"'


def _plain(one: str) -> str:
    code = ord(one)
    return one if _CONTROL <= code < 0x7F else f"\\U{code:08x}"  # noqa: PLR2004


def _literal(node: Literal) -> str:
    value = node.value
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bytes):
        return 'b"' + "".join(f"\\x{byte:02x}" for byte in value) + '"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if node.kind == "double":
        text = repr(float(value))
        if text in ("inf", "-inf"):
            return "(1.0/0.0)" if value > 0 else "(-1.0/0.0)"
        return text if any(sign in text for sign in ".e") else text + ".0"
    return f"{value}u" if node.kind == "uint" else str(value)


def _write(node: Node, out: list[str]) -> None:
    if isinstance(node, Literal):
        out.append(_literal(node))
    elif isinstance(node, Ident):
        out.append(node.name)
    elif isinstance(node, Select):
        _operand(node.operand, out)
        out.append(".?" if node.optional else ".")
        out.append(f"`{node.field}`" if node.quoted else node.field)
    elif isinstance(node, Call):
        _call(node, out)
    elif isinstance(node, ListOf):
        _many("[", node.elements, "]", out, node.optional)
    elif isinstance(node, MapOf):
        _map(node, out)
    elif isinstance(node, StructOf):
        _struct(node, out)
    else:
        assert_never(node)


def _level(node: Node) -> int:
    if isinstance(node, Call):
        if node.function in _BINARY:
            return _BINARY[node.function][1]
        if node.function in ("!_", "-_"):
            return _UNARY
        if node.function == "_?_:_":
            return 0
    if isinstance(node, Literal) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _UNARY
    return _MEMBER


def _operand(node: Node, out: list[str], level: int = _MEMBER) -> None:
    bare = _level(node) >= level
    if not bare:
        out.append("(")
    _write(node, out)
    if not bare:
        out.append(")")


def _call(node: Call, out: list[str]) -> None:
    name, args = node.function, node.args
    if name in _BINARY:
        sign, level = _BINARY[name]
        _operand(args[0], out, level)
        out.append(f" {sign} ")
        _operand(args[1], out, level if level <= _LOGICAL else level + 1)
    elif name in ("!_", "-_"):
        out.append(name[0])
        _operand(args[0], out)
    elif name == "_?_:_":
        _operand(args[0], out, 1)
        out.append(" ? ")
        _operand(args[1], out, 1)
        out.append(" : ")
        _write(args[2], out)
    elif name in ("_[_]", "_[?_]"):
        _operand(args[0], out)
        _many("[" if name == "_[_]" else "[?", args[1:], "]", out)
    else:
        if node.target is not None:
            _operand(node.target, out)
            out.append(".")
        _many(f"{name}(", args, ")", out)


def _many(
    opening: str, nodes: tuple[Node, ...], closing: str, out: list[str], optional: frozenset[int] = frozenset()
) -> None:
    out.append(opening)
    for index, one in enumerate(nodes):
        if index:
            out.append(", ")
        if index in optional:
            out.append("?")
        _write(one, out)
    out.append(closing)


def _map(node: MapOf, out: list[str]) -> None:
    out.append("{")
    for index, (key, value, optional) in enumerate(node.entries):
        out.append(", " if index else "")
        out.append("?" if optional else "")
        _write(key, out)
        out.append(": ")
        _write(value, out)
    out.append("}")


def _struct(node: StructOf, out: list[str]) -> None:
    out.append(node.name + "{")
    for index, (field, value, optional) in enumerate(node.entries):
        out.append(", " if index else "")
        out.append("?" if optional else "")
        out.append(f"{field}: ")
        _write(value, out)
    out.append("}")
