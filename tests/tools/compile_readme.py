"""The template of a cluster's README as Python, so that a run needs no template engine: `make docs` writes it.

Takes what our template uses, and refuses the rest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, meta, nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OUTPUT = Path(__file__).resolve().parents[2] / "generator" / "poolsmith" / "project" / "output"
TEMPLATE = OUTPUT / "templates" / "cluster-readme.md.j2"
COMPILED = OUTPUT / "readme_text.py"

_HEAD = '''"""The text of a cluster's README, made from `templates/cluster-readme.md.j2` by `make docs`: change that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def readme_text(
    *,
    escape: Callable[[Any], str],
'''


def compiled_readme() -> str:
    environment = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    tree = environment.parse(TEMPLATE.read_text("utf-8"))
    parameters = "".join(f"    {name}: Any,\n" for name in sorted(meta.find_undeclared_variables(tree)))
    return f"{_HEAD}{parameters}) -> Iterator[str]:\n" + "".join(f"    {line}\n" for line in _statements(tree.body))


def _statements(body: Iterable[nodes.Node]) -> Iterator[str]:
    for node in body:
        match node:
            case nodes.Output():
                for part in node.nodes:
                    if isinstance(part, nodes.TemplateData):
                        yield from (f"yield {_quoted(line)}" for line in part.data.splitlines(keepends=True))
                    else:
                        yield f"yield escape({_expression(part)})"
            case nodes.If(elif_=[]):
                yield f"if {_expression(node.test)}:"
                yield from _indented(node.body)
                if node.else_:
                    yield "else:"
                    yield from _indented(node.else_)
            case nodes.For(else_=[], recursive=False):
                yield f"for {_expression(node.target)} in {_expression(node.iter)}:"
                yield from _indented(node.body if node.test is None else [nodes.If(node.test, node.body, [], [])])
            case nodes.Assign():
                yield f"{_expression(node.target)} = {_expression(node.node)}"
            case _:
                raise TypeError(f"line {node.lineno}: the template uses {node}")


def _indented(body: Iterable[nodes.Node]) -> Iterator[str]:
    return (f"    {line}" for line in _statements(body))


def _expression(node: nodes.Node) -> str:
    match node:
        case nodes.Name():
            return node.name
        case nodes.Const(value=str(text)):
            return _quoted(text)
        case nodes.Getattr():
            return f"{_expression(node.node)}.{node.attr}"
        case nodes.Call(kwargs=[], dyn_args=None, dyn_kwargs=None):
            return f"{_expression(node.node)}({', '.join(_expression(item) for item in node.args)})"
        case nodes.Concat():
            return " + ".join(
                _expression(item) if isinstance(item, nodes.Const) else f"str({_expression(item)})"
                for item in node.nodes
            )
        case nodes.Or():
            return f"{_expression(node.left)} or {_expression(node.right)}"
        case nodes.Not():
            return f"not {_expression(node.node)}"
        case nodes.CondExpr(expr2=nodes.Expr() as other):
            return f"{_expression(node.expr1)} if {_expression(node.test)} else {_expression(other)}"
        case nodes.Filter(name="join", args=[nodes.Const(value=str(between))]) if node.node is not None:
            return f"{_quoted(between)}.join(str(item) for item in {_expression(node.node)})"
        case nodes.Filter(name="list", node=nodes.Filter(name="selectattr", args=[nodes.Const(value=path)]) as chosen):
            assert chosen.node is not None
            return f"[item for item in {_expression(chosen.node)} if item.{path}]"
        case _:
            raise TypeError(f"line {node.lineno}: the template uses {node}")


def _quoted(text: str) -> str:
    """As the formatter quotes."""
    return repr(text) if '"' in text and "'" not in text else json.dumps(text, ensure_ascii=False)
