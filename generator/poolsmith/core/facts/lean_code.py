"""A module's code without what a run has no use for: what only type checkers read, and a second class for each record.

It does what the module's own code does. Hints of fields stay, as texts, for who asks `get_type_hints`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

_CHECKED = "TYPE_CHECKING"
_VARIABLES = ("TypeVar", "ParamSpec")
_ABOVE_TYPES = ("Protocol", "Generic")
_DECORATORS = ("dataclass_transform", "overload")
_PLAIN = ("Any", "Concatenate", "Final", "NamedTuple", "cast")
_FOR_CHECKERS = frozenset((_CHECKED, *_PLAIN, *_VARIABLES, *_ABOVE_TYPES, *_DECORATORS))
"""Of `typing`: what lean code does without."""
_ANY_PARAMETER = "__class_getitem__ = classmethod(lambda cls, _: cls)"
"""For classes that others name with parameters."""


def lean_code(source: str, path: str) -> CodeType:
    """The code of a module's text, with its own line numbers."""
    tree = ast.parse(source)
    if any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body):
        lean = _Lean()
        lean.visit(tree)
        _leave_out(tree, lean.named)
    return compile(tree, path, "exec", dont_inherit=True)


class _Lean(ast.NodeTransformer):
    """For modules whose hints are texts. `named` is what their code names, but for hints."""

    def __init__(self) -> None:
        self.named: set[str] = set()

    def visit_If(self, node: ast.If) -> Any:
        if _name(node.test) != _CHECKED:
            return self.generic_visit(node)
        node.test, node.body = ast.Constant(None), []
        self.generic_visit(node)
        return node.orelse or ast.copy_location(ast.Pass(), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if "overload" in map(_name, node.decorator_list):
            return None
        node.decorator_list = [one for one in node.decorator_list if _name(one) not in _DECORATORS]
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.target = self.visit(node.target)
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = "object" if node.id == "Any" else node.id
        self.named.add(node.id)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if _name(node.func) == "cast":
            return self.visit(node.args[1])
        return (
            ast.copy_location(ast.Constant(None), node) if _name(node.func) in _VARIABLES else self.generic_visit(node)
        )

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        above = list(map(_name, node.bases))
        if any(name in _ABOVE_TYPES for name in above):
            plain = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
            node.bases = [base for base in plain if _name(base) not in _ABOVE_TYPES]
            node.body.append(_statement(_ANY_PARAMETER))
        if "NamedTuple" in above:
            _become_tuple(node)
        elif (how := _how(node)) is not None:
            node.decorator_list = []
            node.body.append(_statement(f"record.body(locals(){how})"))
        self.generic_visit(node)
        return node


def _name(node: ast.expr) -> str:
    """Of what is named, called or not, with parameters or without; empty for anything else."""
    node = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    return node.id if isinstance(node, ast.Name) else ""


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _become_tuple(node: ast.ClassDef) -> None:
    """The class of a tuple with names, as `typing` makes it."""
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    names = [item.target.id for item in fields if isinstance(item.target, ast.Name)]
    made = ast.parse(f"__import__('collections').namedtuple({node.name!r}, {names!r}, defaults=())", mode="eval").body
    assert isinstance(made, ast.Call)
    defaults = made.keywords[0].value
    assert isinstance(defaults, ast.Tuple)
    defaults.elts = [item.value for item in fields if item.value is not None]
    node.bases = [made]
    node.body = [*(item for item in node.body if item not in fields), _statement("__slots__ = ()")]


def _how(node: ast.ClassDef) -> str | None:
    """What `record` is told of a class that has nothing above it and no other decorator; None where it is no such."""
    if node.bases or node.keywords or len(node.decorator_list) != 1:
        return None
    decorator = node.decorator_list[0]
    words = decorator.keywords if isinstance(decorator, ast.Call) else []
    return "".join(f", {ast.unparse(word)}" for word in words) if _name(decorator) == "record" else None


def _leave_out(tree: ast.Module, used: set[str]) -> None:
    """What is imported from `typing`, and isn't named any more."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "typing":
            node.names = [name for name in node.names if name.name in used or name.name not in _FOR_CHECKERS]
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom) or node.names]
