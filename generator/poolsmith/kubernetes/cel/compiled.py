"""An expression that the API server would accept, ready to be evaluated, and its tree as text for any engine."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, assert_never

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.bindings import might_pass_limit
from poolsmith.kubernetes.cel.engine import Program, engine, engine_problem
from poolsmith.kubernetes.cel.errors import CelError, NoFieldsError, NoRangeError, NotEvaluated
from poolsmith.kubernetes.cel.go_text import printable
from poolsmith.kubernetes.cel.program import LoweredPart, split, with_own_slots
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select, StructOf, walk

if TYPE_CHECKING:
    from poolsmith.kubernetes.cel.bindings import Bindings
    from poolsmith.kubernetes.cel.cel_types import Type


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
    for index, (name, value, optional) in enumerate(node.entries):
        out.append(", " if index else "")
        out.append("?" if optional else "")
        out.append(f"{name}: ")
        _write(value, out)
    out.append("}")


ONE_VARIABLE = 2
LONGEST_MESSAGE = 5 << 10
_GO_TYPES = {
    "null_type": "types.Null",
    "string": "types.String",
    "int": "types.Int",
    "double": "types.Double",
    "bool": "types.Bool",
}
_KINDS = ("map", "list", *_GO_TYPES)


@record(kw_only=False, slots=False, eq=False)
class Compiled:
    """names: what it reads, also through variables; needs: the lowest Kubernetes minor that has all that it uses."""

    source: str
    type: Type
    names: frozenset[str]
    needs: str
    part: LoweredPart = field(repr=False)

    @property
    def result_type(self) -> str:
        """CEL's spelling: bool, list(string) ..."""
        return str(self.type)

    @property
    def undecidable(self) -> str | None:
        """Why nobody can evaluate it here; None: it can be tried. Of the engine it is asked each time: an expression
        outlives what asks it.
        """
        return self._reason or engine_problem() or self._ready.problem

    @cached_property
    def _reason(self) -> str | None:
        return self.part.reason()

    @cached_property
    def _ready(self) -> _Ready:
        return _ready(self.part)

    def evaluate(self, bindings: Bindings) -> Any:
        """A plain value; raises CelError, or NotEvaluated."""
        if self.undecidable is not None:
            raise NotEvaluated(self.undecidable)
        if bindings.is_large and might_pass_limit(self.part, bindings.size):
            raise NotEvaluated("on an object of this size it might pass the API server's cost limit")
        try:
            return self._ready.evaluate(bindings)
        except CelError as error:
            raise CelError(printable(told(self.part, error, bindings)[:LONGEST_MESSAGE])) from None


@record(kw_only=False, slots=False, eq=False)
class _Ready:
    """A program and, for a deep expression, the programs of its parts."""

    program: Program | None
    later: dict[str, Program] = field(default_factory=dict)
    problem: str | None = None

    @classmethod
    def of(cls, part: LoweredPart) -> _Ready:
        try:
            return cls(engine().plan(unparse(part.bound())))
        except (NotEvaluated, RecursionError):
            pass
        try:
            node, later = split(part)
            programs = {number: engine().plan(unparse(with_own_slots(one))) for number, one in later.items()}
            return cls(engine().plan(unparse(with_own_slots(node))), programs)
        except NotEvaluated as error:
            return cls(None, problem=str(error))
        except RecursionError:
            return cls(None, problem="the expression is nested too deeply for the engine")

    def evaluate(self, bindings: Bindings) -> Any:
        """Raises CelError, or NotEvaluated."""
        if self.program is None:
            raise NotEvaluated(self.problem or "there is no program")
        activation = bindings.activation()
        if not self.later:
            return self.program.evaluate(activation)
        known: dict[str, Any] = {}
        stuck: list[NotEvaluated] = []

        def ask(number: str) -> Any:
            if number not in known:
                known[number] = self._tried(number, activation, ask, stuck)
            if isinstance(known[number], CelError):
                raise known[number]
            return known[number]

        try:
            result = engine().asking(ask, self.program, activation)
        except CelError:
            if stuck:
                raise stuck[0] from None
            raise
        if stuck:
            raise stuck[0]
        return result

    def _tried(self, number: str, activation: Any, ask: Any, stuck: list[NotEvaluated]) -> Any:
        try:
            return engine().asking(ask, self.later[number], activation)
        except CelError as error:
            return error
        except NotEvaluated as error:
            stuck.append(error)
            return CelError(str(error))


@lru_cache(maxsize=1024)
def _ready(part: LoweredPart) -> _Ready:
    return _Ready.of(part)


@lru_cache(maxsize=1024)
def _kind_test(node: Node, part: LoweredPart) -> LoweredPart:
    test: Node = Literal("", "string", 0)
    for name in _KINDS:
        same = Call("_==_", (Call("type", (node,), 0), Ident(name, 0)), 0)
        test = Call("_?_:_", (same, Literal(name, "string", 0), test), 0)
    return LoweredPart(test, part.variables)


def told(part: LoweredPart, error: CelError, bindings: Bindings) -> str:
    """The message as the API server words it: with the variable that failed, and the field that nothing has."""
    message = str(error)
    for name, one in part.variables.items():
        try:
            _ready(one).evaluate(bindings)
        except CelError as inner:
            if str(inner) == message and not message.startswith("composited variable"):
                return f'composited variable "{name}" fails to evaluate: {told(one, inner, bindings)}'
        except NotEvaluated:
            continue
    if isinstance(error, NoFieldsError):
        return _missing_field(part, bindings) or message
    return _bad_range(part, bindings) or message if isinstance(error, NoRangeError) else message


def _missing_field(part: LoweredPart, bindings: Bindings) -> str | None:
    for node in reversed(list(walk(part.node))):
        if isinstance(node, Select) and not node.optional:
            kind = _kind_of(node.operand, part, bindings)
            if kind == "list":
                return "unsupported index type 'string' in list"
            if kind not in (None, "map"):
                return f"no such key: {node.field}"
        elif (
            isinstance(node, Call)
            and node.function == "_[_]"
            and isinstance(node.args[1], Literal)
            and isinstance(node.args[1].value, str | int)
            and _kind_of(node.args[0], part, bindings) not in (None, "map", "list")
        ):
            return f"no such key: {node.args[1].value}"
    return None


def _bad_range(part: LoweredPart, bindings: Bindings) -> str | None:
    for node in reversed(list(walk(part.node))):
        if isinstance(node, Call) and node.target is not None and node.args and isinstance(node.args[0], Ident):
            kind = _GO_TYPES.get(_kind_of(node.target, part, bindings) or "")
            if kind is not None and len(node.args) > ONE_VARIABLE and isinstance(node.args[1], Ident):
                return f"unsupported comprehension range type: {kind}"
            if kind is not None:
                return f"got '{kind}', expected iterable type"
    return None


def _kind_of(node: Node, part: LoweredPart, bindings: Bindings) -> str | None:
    """The type of a part of an expression as text; None where it has none, or depends on a loop."""
    try:
        return str(_ready(_kind_test(node, part)).evaluate(bindings))
    except (CelError, NotEvaluated):
        return None
