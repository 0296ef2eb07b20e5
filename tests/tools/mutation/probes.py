"""Hooks in the text of modules: where a fault of each place would be met. No line moves.

A place in a function has its hook right there. What a module's import evaluates (a table, a default of an argument) is
reached by all code in functions that mentions its name, or a name that was made of it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from pathlib import Path

from tools.mutation import hook
from tools.mutation.places import DATA, PACKAGE, Place
from tools.mutation.walk import Seen, Source, walked

_Spans = dict[str, dict[tuple[int, int], list[int]]]
STORE = f"{PACKAGE}/catalog/store.py"


class Modules:
    """The package's modules as they are in a checkout, parsed when they are looked at."""

    def __init__(self, root: Path) -> None:
        paths = sorted((root / PACKAGE).rglob("*.py"))
        self.texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in paths}
        self._sources: dict[str, Source] = {}
        self._seen: dict[str, list[Seen]] = {}

    def source(self, file: str) -> Source:
        if file not in self._sources:
            self._sources[file] = Source(self.texts[file])
        return self._sources[file]

    def seen(self, file: str) -> list[Seen]:
        if file not in self._seen:
            self._seen[file] = [*walked(self.source(file).tree)]
        return self._seen[file]


def instrumented(root: Path, places: list[Place], folder: Path) -> dict[str, str]:
    """By file: the text with the hooks of all places that are there, by their numbers."""
    modules = Modules(root)
    spans: _Spans = {}
    data: dict[str, list[int]] = {}
    for number, place in enumerate(places):
        if place.is_data:
            data.setdefault(place.file.removeprefix(DATA), []).append(number)
        elif (begin := place.begin(modules.texts.get(place.file, ""))) is not None:
            if place.probe is not None:
                span = begin + place.probe[0], begin + place.probe[1]
                spans.setdefault(place.file, {}).setdefault(span, []).append(number)
            else:
                for file, span in mentions(modules, place.file, place.owners):
                    spans.setdefault(file, {}).setdefault(span, []).append(number)
    head = _head(folder)
    texts = {file: _with_head(_wrapped(modules.texts[file], found), head) for file, found in spans.items()}
    if data and STORE in modules.texts:
        text = texts.get(STORE) or _with_head(modules.texts[STORE], head)
        texts[STORE] = text + _DATA_HOOK.format(numbers=data, hook=hook.NAME)
    return texts


_DATA_HOOK = """

_read_own_yaml = read_own_yaml


def read_own_yaml(name: str) -> dict[str, Any]:
    for number in {numbers!r}.get(name, ()):
        {hook}(number)
    return _read_own_yaml(name)
"""


def mentions(modules: Modules, file: str, owners: Iterable[str]) -> set[tuple[str, tuple[int, int]]]:
    """Where code in functions mentions these names of a module, or names that are made of them."""
    found: set[tuple[str, tuple[int, int]]] = set()
    todo = [(file, owner) for owner in owners]
    known = set(todo)
    while todo:
        home, name = todo.pop()
        more: set[tuple[str, str]] = set()
        for other, text in modules.texts.items():
            if name not in text:
                continue
            alias, module = (name, None) if other == home else _imported(modules.source(other), home, name)
            more |= {(other, alias)} if alias else set()
            for seen in modules.seen(other) if module or other == home else ():
                if not _is_mention(seen, alias if other == home else None, module, name) or seen.annotation:
                    continue
                if seen.in_call:
                    found.add((other, modules.source(other).span(seen.wrapped or seen.node)))
                else:
                    more |= {(other, owner) for owner in seen.owners}
        todo.extend(more - known)
        known |= more
    return found


def _imported(source: Source, home: str, name: str) -> tuple[str | None, str | None]:
    """What a module calls the name, and the name's module, where it imports them."""
    dotted = home.removeprefix("generator/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, stem = dotted.rpartition(".")
    alias = module = None
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module in (dotted, package):
            for item in node.names:
                if node.module == dotted and item.name == name:
                    alias = item.asname or name
                elif node.module == package and item.name == stem:
                    module = item.asname or stem
    return alias, module


def _is_mention(seen: Seen, alias: str | None, module: str | None, name: str) -> bool:
    node = seen.node
    if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(node, ast.Name):
        return node.id == alias
    return node.attr == name and isinstance(node.value, ast.Name) and node.value.id == module


def _wrapped(text: str, spans: dict[tuple[int, int], list[int]]) -> str:
    """The text, in which each of these spans calls the hook before it is evaluated."""
    marks: list[tuple[tuple[int, int, int], int, str]] = []
    for (begin, end), numbers in spans.items():
        calls = " or ".join(f"{hook.NAME}({number})" for number in numbers)
        if re.match(r"(?:return|continue)\b", text[begin:end]):
            marks.append(((begin, 1, -len(text) - 1), begin, calls.replace(" or ", "; ") + "; "))
        else:
            marks.append(((begin, 1, -end), begin, f"({calls} or "))
            marks.append(((end, 0, -begin), end, ")"))
    parts, last = [], 0
    for _, offset, mark in sorted(marks):
        parts += [text[last:offset], mark]
        last = offset
    return "".join(parts) + text[last:]


def _head(folder: Path) -> str:
    """The hook's own text on one line."""
    program = inspect.getsource(hook) + f"\ninstall({str(folder)!r})\n"
    return f"exec({program!r}, {{'__name__': {hook.NAME!r}}})"


def _with_head(text: str, head: str) -> str:
    source = Source(text)
    body = source.tree.body
    first = body[1] if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else body[0]
    if isinstance(first, ast.ImportFrom) and first.module == "__future__":
        end = source.span(first)[1]
        return f"{text[:end]}; {head}{text[end:]}"
    begin = source.span(first)[0]
    if isinstance(first, (ast.ClassDef, ast.FunctionDef)) and first.decorator_list:
        begin = source.offset(first.decorator_list[0].lineno, 0)
    simple = not hasattr(first, "body")
    return f"{text[:begin]}{head}{'; ' if simple else chr(10)}{text[begin:]}"
