"""Which circles take the tests of a file, read from its text: decorators, `pytestmark`, and tables of parameters.

Collecting would say the same, and take a minute. What is read: the markers `deep`, `real`, `every_run` and `rows`, where
they stand, by a name of the module, or by one that it imports from the tests; fixtures that lead to the API server;
`share` and `parameters` of `circles.py`; counts that depend on `DEEP`; and examples of hypothesis whose number the circle
decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support.circles import API_SERVER, CIRCLES

TESTS = Path(__file__).resolve().parents[1]
MARKERS = frozenset(("deep", "real", "rows", "every_run"))
TABLES = frozenset(("share", "parameters"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Marker:
    """One of the markers where it is written; without a reason if that is no text."""

    name: str
    reason: str | None
    line: int


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def marker_of(node: ast.AST) -> str | None:
    """`pytest.mark.deep` is `deep`."""
    match node:
        case ast.Attribute(value=ast.Attribute(attr="mark"), attr=name) if name in MARKERS:
            return name
    return None


def markers(path: Path) -> Iterator[Marker]:
    """All markers of circles in a file, wherever they stand."""
    tree = parsed(path)
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if name := marker_of(node):
            call = called.get(id(node))
            last = call.args[-1] if call and call.args else None
            reason = last.value if isinstance(last, ast.Constant) and isinstance(last.value, str) else None
            yield Marker(name, reason, node.lineno)


@cache
def names_of(path: Path) -> dict[str, tuple[Path, ast.AST]]:
    """What the names of a module stand for: its own, and those that it imports from other modules of the tests."""
    found: dict[str, tuple[Path, ast.AST]] = {}
    for node in parsed(path).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = (path, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.AST() as value):
                found[name] = (path, value)
            case ast.FunctionDef(name=name):
                found[name] = (path, node)
            case ast.ImportFrom(module=str(module), names=names):
                home = TESTS / f"{module.replace('.', '/')}.py"
                if home.is_file() and home != Path(__file__).with_name("circles.py"):
                    found.update({alias.asname or alias.name: (home, ast.Name(alias.name)) for alias in names})
    return found


def reached(path: Path, node: ast.AST, seen: frozenset[str] = frozenset()) -> Iterator[ast.AST]:
    """All nodes of an expression, and of what its names stand for."""
    for part in ast.walk(node):
        yield part
        if isinstance(part, ast.Name) and (known := names_of(path).get(part.id)):
            key = f"{known[0]} {part.id}"
            if key not in seen:
                yield from reached(*known, seen | {key})


def marked(path: Path, node: ast.AST) -> set[str]:
    """The markers in an expression; `share` and `parameters` are rows."""
    found = {name for part in reached(path, node) if (name := marker_of(part))}
    calls = {
        part.func.id for part in reached(path, node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
    }
    return found | ({"rows"} if calls & TABLES else set())


@cache
def fixtures_of(path: Path) -> dict[str, frozenset[str]]:
    """What each fixture that a file can use asks for: its own, and those of the `conftest.py` of the folders above."""
    homes = [folder / "conftest.py" for folder in reversed(path.parents) if TESTS in (folder, *folder.parents)]
    return {
        function.name: frozenset(argument.arg for argument in (*function.args.args, *function.args.kwonlyargs))
        for home in (*homes, path)
        if home.is_file()
        for function in parsed(home).body
        if isinstance(function, Function) and "fixture" in ast.dump(ast.List(function.decorator_list))
    }


def asks_for(path: Path, function: Function, wanted: str) -> bool:
    """Whether a test asks for a fixture, or for one that does."""
    known = fixtures_of(path)
    todo, seen = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)], {""}
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += known.get(name, ())
    return wanted in seen


def is_table(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize"


def counts_more(path: Path, function: Function) -> bool:
    """Whether `deep` tries more: by `DEEP`, or by hypothesis, whose number of examples is the circle's unless it is given."""
    decorators = [part for item in function.decorator_list for part in ast.walk(item)]
    given = any(isinstance(part, ast.Name) and part.id == "given" for part in decorators)
    counted = any(isinstance(part, ast.keyword) and part.arg == "max_examples" for part in decorators)
    return (given and not counted) or any(
        isinstance(part, ast.Name) and part.id == "DEEP" for part in reached(path, function)
    )


def circles_of(path: Path) -> dict[str, set[str]]:
    """The circles of each test of a file; one in more than one has a sample in the smallest."""
    everywhere = [
        node.value
        for node in parsed(path).body
        if isinstance(node, ast.Assign)
        and any(isinstance(to, ast.Name) and to.id == "pytestmark" for to in node.targets)
    ]
    found = {}
    for function in parsed(path).body:
        if isinstance(function, Function) and function.name.startswith("test_"):
            plain = [*everywhere, *(item for item in function.decorator_list if not is_table(item))]
            whole = set().union(*(marked(path, item) for item in plain))
            rows = set().union(*(marked(path, item) for item in function.decorator_list if is_table(item)))
            asks = "every_run" not in whole and asks_for(path, function, API_SERVER)
            circles = {"deep" if "deep" in whole else "real" if asks or "real" in whole else "test"}
            if "rows" in whole | rows or "deep" in rows or counts_more(path, function):
                circles.add("deep")
            if "real" in rows and "deep" not in whole:
                circles.add("real")
            found[function.name] = circles
    return found


def in_words(circles: set[str]) -> str:
    """For a table: the circles in their order, the first one as a sample if others take more."""
    first, *others = sorted(circles, key=CIRCLES.index)
    return ", ".join([f"{first} (a sample)" if others else first, *others])
