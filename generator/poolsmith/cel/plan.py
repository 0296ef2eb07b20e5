"""How an expression and the variables that it reads become one program.

Variables are bound around the expression, each once, in order: computed when first read, remembered, and their errors
absorbed by `||` and `&&`.
"""

from __future__ import annotations

from dataclasses import field

from poolsmith.cel.syntax import Call, Ident, Literal, Node
from poolsmith.cel.trees import variable
from poolsmith.record import record

_FAILED = Literal(None, "null_type", 0)


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
        node = self.node
        for name, part in reversed(self.ordered().items()):
            node = Call("bind", (variable(name), part.node, node), 0, Ident("cel", 0))
        return node


def undecidable_part(reason: str, variables: dict[str, LoweredPart]) -> LoweredPart:
    return LoweredPart(_FAILED, variables, reason)
