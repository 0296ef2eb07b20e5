"""How an expression and the variables that it reads become one program.

Variables are bound around the expression, each once, in order: computed when first read, remembered, and their errors
absorbed by `||` and `&&`.
"""

from __future__ import annotations

from dataclasses import field

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.syntax import Call, Ident, Literal, Node, walk
from poolsmith.kubernetes.cel.trees import PREFIX, variable

BINDERS = frozenset({"bind", "optMap", "optFlatMap"})
_FAILED = Literal(None, "null_type", 0)
_WHOLE = Ident(f"{PREFIX}whole", 0)


@record(kw_only=False, slots=False, eq=False)
class LoweredPart:
    """A lowered tree and the parts that it reads as variables; undecidable: why it has no meaning here;
    optional: its value is one; holding: it may be or hold some; written: the tree before it was lowered."""

    node: Node
    variables: dict[str, LoweredPart] = field(default_factory=dict)
    undecidable: str | None = None
    optional: bool = False
    holding: bool = False
    written: Node | None = None

    @staticmethod
    def failing(name: str, error: str) -> LoweredPart:
        """A variable that is an error when it is read."""
        message = Literal(f'composited variable "{name}" fails to compile: compilation failed: {error}', "string", 0)
        return LoweredPart(Call("k_error", (message,), 0))

    def ordered(self) -> dict[str, LoweredPart]:
        """All variables that are read, also through others, each after those that it reads."""
        out: dict[str, LoweredPart] = {}
        waiting = [(name, part, False) for name, part in reversed(self.variables.items())]
        while waiting:
            name, part, ready = waiting.pop()
            if name in out:
                continue
            if ready:
                out[name] = part
                continue
            waiting.append((name, part, True))
            waiting.extend((inner, one, False) for inner, one in reversed(part.variables.items()))
        return out

    def reason(self) -> str | None:
        """Why it cannot be evaluated, itself or a variable."""
        if self.undecidable is not None:
            return self.undecidable
        for name, part in self.ordered().items():
            if part.undecidable is not None:
                return f"variables.{name}: {part.undecidable}"
        return None

    def bound(self) -> Node:
        """One tree with everything bound."""
        node = with_own_slots(self.node)
        for name, part in reversed(self.ordered().items()):
            node = Call("bind", (variable(name), part.node, node), 0, Ident("cel", 0))
        return node


def with_own_slots(node: Node) -> Node:
    """The tree as the value of a binding around it: the engine then reuses no slot of a loop for a binding inside.

    A loop that ends early leaves its variable in its slot, and a binding takes what stands in its slot for its value.
    Only within the value of a binding has each loop and each binding a slot of its own, since that value is computed
    nobody knows when. Source: cel-cpp, eval/compiler/flat_expr_builder.cc, PreVisitComprehension.
    """
    if not any(isinstance(one, Call) and one.function in BINDERS for one in walk(node)):
        return node
    return Call("bind", (_WHOLE, node, _WHOLE), 0, Ident("cel", 0))


def undecidable_part(reason: str, variables: dict[str, LoweredPart]) -> LoweredPart:
    return LoweredPart(_FAILED, variables, reason)
