"""Every regular expression of the code, how it is used, and texts that are made of its own pieces."""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections import deque
from functools import cache
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, NamedTuple

import poolsmith
from poolsmith.core.pattern import LazyPattern

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(poolsmith.__file__).parent
METHODS = frozenset(("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"))
_ANYWHERE = METHODS - {"match", "fullmatch"}


class Expression(NamedTuple):
    """Where it stands, and whether it is looked for anywhere in a text (`search`), or `match` or `fullmatch` only."""

    place: str
    pattern: str
    flags: int
    methods: frozenset[str]

    @property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)


@cache
def expressions() -> tuple[Expression, ...]:
    """Those at the top of modules, and those that functions write out."""
    found: dict[tuple[str, int], Expression] = {}
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text("utf-8")
        if not any(found in text for found in ("import re\n", "from re ", "core.pattern import")):
            continue
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        used = _used(ast.parse(text))
        module = importlib.import_module("poolsmith." + name.replace("/", ".").removesuffix(".__init__"))
        for key, value in vars(module).items():
            for pattern in _patterns(value):
                _add(found, Expression(f"{name}:{key}", pattern.pattern, pattern.flags, used.get(key, METHODS)))
        for method, pattern, flags in _written(ast.parse(text)):
            _add(found, Expression(f"{name}:{pattern}", pattern, flags, frozenset((method,)) & METHODS or METHODS))
    return tuple(found.values())


def _add(found: dict[tuple[str, int], Expression], new: Expression) -> None:
    """One for each pattern, with all that is done with it."""
    known = found.get((new.pattern, new.flags | re.UNICODE))
    methods = new.methods | known.methods if known else new.methods
    found[new.pattern, new.flags | re.UNICODE] = (known or new)._replace(methods=methods)


def _patterns(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern | LazyPattern) and isinstance(value.pattern, str):
        yield value
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _patterns(item, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for item in value.values():
            yield from _patterns(item, depth + 1)


def _used(tree: ast.AST) -> dict[str, frozenset[str]]:
    """By the name of an expression: its methods that a module calls or names. Another use may be any."""
    found: dict[str, set[str]] = {}
    named = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            methods = {node.attr} if node.attr in METHODS else set()
            found.setdefault(node.value.id, set()).update(methods)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in named:
            found.setdefault(node.id, set()).update(METHODS)
    return {name: frozenset(methods) for name, methods in found.items() if methods}


def _written(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Function, pattern and flags of calls of `re` in which the pattern is written out."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        first = node.args[0]
        is_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        if is_re and node.func.attr in METHODS and isinstance(first, ast.Constant) and isinstance(first.value, str):
            flags = re.MULTILINE if "MULTILINE" in ast.dump(node) else 0
            yield node.func.attr, first.value, flags


def attacks(expression: Expression, befores: int, bodies: int) -> Iterator[tuple[str, str, str]]:
    """What stands first, what is repeated, and what stands last: all of the expression's own pieces."""
    parsed = parser.parse(expression.pattern, expression.flags & ~re.UNICODE)
    repeated, begun = _repeated(parsed), _begun(parsed)
    first = list(dict.fromkeys(("", *begun)))
    pieces = list(dict.fromkeys(part for part in (*_mixed(repeated, begun), *_steps(begun)) if part))
    for before in first[:befores]:
        for body in pieces[:bodies]:
            yield before, body, "\x00"
            yield before, body, ""


def _mixed(one: list[str], other: list[str]) -> Iterator[str]:
    for pair in zip_longest(one, other, fillvalue=""):
        yield from pair


def _steps(begun: list[str]) -> list[str]:
    """What each beginning has more than the one before."""
    return [after[len(before) :] for before, after in pairwise(begun) if after.startswith(before)]


def _repeated(tokens: Any) -> list[str]:
    """Samples of what stands below `*`, `+`, `?` and `{...}`, and pairs of neighbours."""
    found = []
    for kind, value in tokens:
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            found += list(islice(_samples(value[2]), 4))
        for part in _below(kind, value):
            found += _repeated(part)
    return found


def _below(kind: Any, value: Any) -> list[Any]:
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.BRANCH:
        return list(value[1])
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is kinds.ATOMIC_GROUP else []


def _begun(tokens: Any) -> list[str]:
    """Shortest texts that match the first element, the first two, ... : of each alternative."""
    if len(tokens) == 1:
        kind, value = tokens[0]
        if kind is kinds.BRANCH:
            return [text for part in value[1] for text in _begun(part)]
        if kind is kinds.SUBPATTERN:
            return _begun(value[3])
    found, text = [], ""
    for token in tokens:
        inner = _begun(token[1][3]) if token[0] is kinds.SUBPATTERN else []
        found += [text + part for part in inner]
        text += next(_samples([token]), "")
        found.append(text)
    return found


def _samples(tokens: Any) -> Iterator[str]:
    """A few texts that match a sequence: first the shortest; what looks around counts as nothing."""
    choices = [list(islice(_of_token(kind, value), 3)) or [""] for kind, value in tokens]
    yield "".join(part[0] for part in choices)
    for index, part in enumerate(choices):
        for other in part[1:]:
            yield "".join(other if place == index else each[0] for place, each in enumerate(choices))


def _of_token(kind: Any, value: Any) -> Iterator[str]:
    if kind is kinds.LITERAL:
        yield chr(value)
    elif kind is kinds.NOT_LITERAL:
        yield "b" if value == ord("a") else "a"
    elif kind is kinds.ANY:
        yield from ("a", " ")
    elif kind is kinds.IN:
        yield from _of_set(value)
    elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        low, high, body = value
        sample = next(_samples(body), "")
        yield sample * max(low, 0)
        if low == 0 and high:
            yield sample
    elif kind is kinds.SUBPATTERN:
        yield from _samples(value[3])
    elif kind is kinds.BRANCH:
        for part in value[1]:
            yield from islice(_samples(part), 1)
    elif kind is kinds.ATOMIC_GROUP:
        yield from _samples(value)
    else:
        yield ""


_OF_CATEGORY = {
    kinds.CATEGORY_DIGIT: "1",
    kinds.CATEGORY_SPACE: " \n",
    kinds.CATEGORY_WORD: "a_",
    kinds.CATEGORY_NOT_DIGIT: "a",
    kinds.CATEGORY_NOT_SPACE: "a",
    kinds.CATEGORY_NOT_WORD: "-",
}


def _of_set(items: Any) -> Iterator[str]:
    if items and items[0][0] is kinds.NEGATE:
        yield from (sign for sign in "a -1.\n" if not any(_has(item, sign) for item in items[1:]))
        return
    for kind, value in items:
        if kind is kinds.LITERAL:
            yield chr(value)
        elif kind is kinds.RANGE:
            yield chr(value[0])
        elif kind is kinds.CATEGORY:
            yield from _OF_CATEGORY[value]


def _has(item: Any, sign: str) -> bool:
    kind, value = item
    if kind is kinds.LITERAL:
        return value == ord(sign)
    if kind is kinds.RANGE:
        return value[0] <= ord(sign) <= value[1]
    return sign in _OF_CATEGORY.get(value, "") or (value is kinds.CATEGORY_WORD and (sign.isalnum() or sign == "_"))


def looks(expression: Expression) -> tuple[str, ...]:
    """What to try it by: the cheapest of each kind of use that the code has."""
    found = [name for name in ("match", "fullmatch") if name in expression.methods]
    return (*found, "finditer") if expression.methods & _ANYWHERE else tuple(found)


SIZES = (250, 500, 1000, 2000, 4000, 8000)
SLOW = 0.012
"""Seconds of the processor for 8,000 characters; an expression that is linear takes less than one thousandth."""


def growth(expression: Expression, befores: int, bodies: int) -> tuple[str, str, str, str] | None:
    """How it is used and with which text, where time grows faster than the text; None of one that is linear."""
    pattern = expression.compiled
    for how in looks(expression):
        for before, body, end in attacks(expression, befores, bodies):
            if _grows(pattern, how, before, body, end):
                return how, before, body, end
    return None


def _grows(pattern: re.Pattern[str], how: str, before: str, body: str, end: str) -> bool:
    """Whether time outgrows the text. A size that is slow once and not again says nothing, and the next one is tried."""
    for count in (6, 9, 12, 14, 16, 18, 20, 22, 24, 28, 32, 64):
        if all(_seconds(pattern, how, before + body * count + end) > SLOW for _ in range(2)):
            return True
    for size in SIZES:
        if _seconds(pattern, how, before + body * (size // len(body)) + end) > SLOW:
            part = before + body * (size // 4 // len(body)) + end
            slow = min(_seconds(pattern, how, before + body * (size // len(body)) + end) for _ in range(3))
            if slow > SLOW and slow > 7 * min(_seconds(pattern, how, part) for _ in range(3)):
                return True
    return False


def _seconds(pattern: re.Pattern[str], how: str, text: str) -> float:
    started = time.process_time()
    if how == "finditer":
        deque(pattern.finditer(text), maxlen=0)
    else:
        getattr(pattern, how)(text)
    return time.process_time() - started
