"""Which small faults a module of Python, or a data file of the catalog, could have: each is a span and its new text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import yaml

from tools.mutation.walk import FUNCTIONS, Seen, Source, walked

TURNED = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}
_OPERATOR = re.compile(r"not\s+in\b|is\s+not\b|in\b|is\b|[<>=!]=|[<>]")
_QUIET = re.compile(
    r"#.*(?:on demand|fast|quick|slow|start-up|memory|processor|pragma)|\b(?:TYPE_CHECKING|__name__|__all__|__slots__|TypeVar|"
    r"cast|Literal|lru_cache|cache_clear|maxsize|timeout|chunksize|indent|separators|sys\.version_info|sys\.platform)\b"
)
"""Lines whose faults only cost time, or cost nothing."""
_TEMPO = re.compile("CHUNK|CACHE|BATCH|SECONDS|TIMEOUT|INTERVAL|THRESHOLD|WORTH|AT_ONCE|JOBS|REMEMBERED|SHARED_TOKENS")
_KNOWN_DEFAULTS = {
    "sorted": {"key", "reverse"},
    "sort": {"key", "reverse"},
    "max": {"key", "default"},
    "min": {"key", "default"},
    "zip": {"strict"},
    "sum": {"start"},
    "dumps": {"sort_keys", "ensure_ascii"},
    "enumerate": {"start"},
}
_OPTIONAL = {"get": 2, "pop": 2, "getattr": 3, "next": 2, "split": 2, "rsplit": 2, "sum": 2, "enumerate": 2, "sub": 4}
"""Functions that run without their last argument, and how many they have with it."""
_PROSE_KEYS = frozenset(("source", "sources", "note", "notes", "why", "says", "url", "title", "text", "reason"))
_PROSE_ARGUMENTS = _PROSE_KEYS | {"help", "fix", "message", "what", "good", "bad"}
_COLLECTIONS = (ast.Tuple, ast.List, ast.Set, ast.Dict)


@dataclass(frozen=True)
class Fault:
    """A span of a text, what it becomes, and where the fault is reached."""

    kind: str
    span: tuple[int, int]
    new: str
    probe: tuple[int, int] | None
    """An expression, or a `return` and its like, that runs where the fault is met; None where a module's import meets it."""
    owners: tuple[str, ...] = ()
    name: str = ""


def faults_of_python(text: str, defaults: dict[str, set[str]]) -> list[Fault]:
    """In the order of the text. `defaults` has the arguments that each function may be called without."""
    source = Source(text)
    found: list[Fault] = []
    for seen in walked(source.tree):
        if seen.annotation or seen.wrapped is not None or not _counts(source, seen):
            continue
        for kind, span, new, probe in _faults(source, seen, defaults):
            if source.text[slice(*span)] != new:
                spot = source.span(probe) if seen.in_call and probe is not None else None
                found.append(Fault(kind, span, new, spot, seen.owners, seen.name))
    return sorted(found, key=lambda fault: (fault.span, fault.kind, fault.new))


def defaults_of(tree: ast.Module) -> dict[str, set[str]]:
    """By the name of a function or class: arguments with defaults."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            plain = [*node.args.posonlyargs, *node.args.args]
            optional = {argument.arg for argument in plain[len(plain) - len(node.args.defaults) :]}
            named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            found.setdefault(node.name, set()).update(optional, (one.arg for one, value in named if value is not None))
        elif isinstance(node, ast.ClassDef):
            fields = (item for item in node.body if isinstance(item, ast.AnnAssign) and item.value is not None)
            names = {item.target.id for item in fields if isinstance(item.target, ast.Name)}
            found.setdefault(node.name, set()).update(names)
    return found


def _counts(source: Source, seen: Seen) -> bool:
    if not isinstance(seen.node, (ast.expr, ast.stmt)):
        return False
    if any(isinstance(parent, (ast.Assert, ast.Import, ast.ImportFrom)) for parent in seen.parents):
        return False
    if any(isinstance(parent, ast.keyword) and parent.arg in _PROSE_ARGUMENTS for parent in seen.parents):
        return False
    for outer, inner in zip(seen.parents, (*seen.parents[1:], seen.node), strict=True):
        if inner in getattr(outer, "decorator_list", ()):
            return False
    if any(isinstance(parent, ast.If) and "TYPE_CHECKING" in ast.dump(parent.test) for parent in seen.parents):
        return False
    return not (_QUIET.search(source.line(seen.node.lineno)) or any(map(_TEMPO.search, seen.owners)))


_Found = Iterator[tuple[str, tuple[int, int], str, ast.AST | None]]


def _faults(source: Source, seen: Seen, defaults: dict[str, set[str]]) -> _Found:
    node, parent = seen.node, seen.parents[-1]
    if isinstance(node, ast.Compare):
        yield from _turned(source, node)
    elif isinstance(node, ast.Constant):
        yield from _shifted(source, node, parent)
    elif isinstance(node, ast.BoolOp):
        yield from _swapped(source, node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        begin = source.span(node)[0]
        length = re.match(r"not\b\s*", source.text[begin:])
        if length:
            yield "not", (begin, begin + length.end()), "", node.operand
    elif isinstance(node, (ast.If, ast.IfExp)):
        for value in ("True", "False"):
            yield "branch", source.span(node.test), value, node.test
    elif isinstance(node, (ast.Return, ast.Continue)) and _is_early(node, seen.parents):
        yield "early end", source.span(node), "pass", node
    elif isinstance(node, ast.Call):
        yield from _dropped_arguments(source, node, defaults)
    if isinstance(node, _COLLECTIONS) and not seen.in_call and _is_table(node, parent):
        yield from _lost_rows(source, node)


def _turned(source: Source, node: ast.Compare) -> _Found:
    sides = [node.left, *node.comparators]
    for left, right in pairwise(sides):
        begin = source.span(left)[1]
        found = _OPERATOR.search(source.text, begin, source.span(right)[0])
        if found:
            yield "comparison", found.span(), TURNED[" ".join(found[0].split())], left


def _shifted(source: Source, node: ast.Constant, parent: ast.AST) -> _Found:
    span = source.span(node)
    text = source.text[slice(*span)]
    if isinstance(parent, ast.Expr) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)):
        return
    if isinstance(node.value, bool):
        yield "constant", span, str(not node.value), node
    elif isinstance(node.value, int) and text.isdecimal():
        for value in (node.value + 1, node.value - 1):
            if value >= 0:
                yield "constant", span, str(value), node
    elif isinstance(node.value, str) and "\n" not in text and not _is_prose(node.value):
        quote = text[-3:] if text.endswith(('"""', "'''")) else text[-1:]
        yield "constant", span, f"{text.removesuffix(quote)}X{quote}", node


def _is_prose(text: str) -> bool:
    """A sentence for people, whose words tests need not hold; or the name of an encoding."""
    return text.count(" ") > 1 or text == "utf-8"


def _swapped(source: Source, node: ast.BoolOp) -> _Found:
    word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in pairwise(node.values):
        begin = source.span(left)[1]
        found = re.compile(rf"\b{word}\b").search(source.text, begin, source.span(right)[0])
        if found:
            yield "and/or", found.span(), other, left


def _is_early(node: ast.Return | ast.Continue, parents: tuple[ast.AST, ...]) -> bool:
    """Something would run in its place: it stands in a branch, and more follows, or a value would be missing."""
    chain = (*parents, node)
    branched = False
    for outer, inner in zip(reversed(chain[:-1]), reversed(chain), strict=False):
        if isinstance(outer, FUNCTIONS) or (isinstance(outer, (ast.For, ast.While)) and isinstance(node, ast.Continue)):
            body = [] if isinstance(outer, ast.Lambda) else outer.body
            more = bool(body) and inner is not body[-1]
            return branched and (more or (isinstance(node, ast.Return) and not _is_nothing(node.value)))
        branched = branched or isinstance(outer, (ast.If, ast.For, ast.While, ast.match_case))
        if any(
            inner in block[:-1]
            for field in ("body", "orelse")
            if isinstance(block := getattr(outer, field, None), list)
        ):
            return branched
    return False


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _dropped_arguments(source: Source, node: ast.Call, defaults: dict[str, set[str]]) -> _Found:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    parts: list[ast.expr | ast.keyword] = sorted([*node.args, *node.keywords], key=source.span)
    may_lack = (defaults.get(name, set()) | _KNOWN_DEFAULTS.get(name, set())) - _PROSE_ARGUMENTS
    for place, part in enumerate(parts):
        last = _OPTIONAL.get(name) == len(node.args) and not node.keywords and place == len(parts) - 1
        if (isinstance(part, ast.keyword) and part.arg in may_lack) or (last and not isinstance(part, ast.Starred)):
            yield "argument", _cut(source, parts, place), "", node.func


def _cut(source: Source, parts: list[ast.expr | ast.keyword], place: int) -> tuple[int, int]:
    """The span of one of several parts with a comma."""
    if place + 1 < len(parts):
        return source.span(parts[place])[0], source.span(parts[place + 1])[0]
    begin = source.span(parts[place - 1])[1] if place else source.span(parts[place])[0]
    return begin, source.span(parts[place])[1]


def _is_table(node: ast.AST, parent: ast.AST) -> bool:
    """Its elements are rows, not the columns of one."""
    if isinstance(parent, ast.Call):
        return getattr(parent.func, "id", "") in ("frozenset", "MappingProxyType", "dict", "set", "tuple")
    if isinstance(parent, ast.Assign):
        return not any(isinstance(target, ast.Tuple) for target in parent.targets)
    return isinstance(parent, (ast.AnnAssign, ast.keyword)) or (
        isinstance(parent, ast.Dict) and isinstance(node, ast.Dict)
    )


def _lost_rows(source: Source, node: ast.AST) -> _Found:
    if isinstance(node, ast.Dict):
        rows: list[ast.expr | ast.keyword] = [key for key in node.keys if key is not None]
        ends = [source.span(value)[1] for value in node.values]
        whole = len(rows) == len(node.values)
    else:
        assert isinstance(node, (ast.Tuple, ast.List, ast.Set))
        rows, whole = [*node.elts], True
        ends = [source.span(row)[1] for row in rows]
    if len(rows) < 2 or not whole:
        return
    comma = re.match(r"\s*,", source.text[ends[-1] : source.span(node)[1]])
    closing = "," if isinstance(node, ast.Tuple) and len(rows) == 2 and comma is None else ""
    starts = [source.span(row)[0] for row in rows]
    for place, start in enumerate(starts):
        if place + 1 < len(rows):
            span, new = (start, starts[place + 1]), ""
            if closing:
                span, new = (start, ends[1]), source.text[starts[1] : ends[1]] + closing
        elif comma is not None:
            span, new = (start, ends[place] + comma.end()), ""
        else:
            span, new = (ends[place - 1], ends[place]), closing
        yield "row", span, new, None


def is_sound(old: str, new: str) -> bool:
    """The text with the fault is a module, and another one."""
    try:
        tree = compile(new, "module", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        compile(new, "module", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return ast.dump(tree) != ast.dump(ast.parse(old))


def faults_of_data(text: str) -> list[Fault]:
    """A lost row, for each row of a YAML file that is more than prose."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    document = yaml.compose(text, Loader=yaml.CSafeLoader)
    found: list[Fault] = []

    def cut(name: str, begin: yaml.Mark, following: yaml.Mark | None, before: yaml.Mark | None, end: yaml.Mark) -> None:
        lead = lines[begin.line][: begin.column]
        first = starts[begin.line] + begin.column
        if lead.strip() in ("", "-") and lead.count("-") <= 1 and (following is None or following.line > begin.line):
            last = end.line if end.column == 0 and end.line > begin.line else end.line + 1
            span = starts[begin.line], starts[min(following.line if following else last, len(lines))]
        elif following is not None:
            span = first, starts[following.line] + following.column
        elif before is not None:
            span = starts[before.line] + before.column, starts[end.line] + end.column
        else:
            return
        found.append(Fault("data row", span, "", None, (), name))

    def visit(node: yaml.Node | None, name: str) -> None:
        if isinstance(node, yaml.MappingNode):
            parts = [(key, value, f"{name}.{key.value}".lstrip(".")) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            parts = [(item, item, f"{name}[{place}]") for place, item in enumerate(node.value)]
        else:
            return
        for place, (key, value, shown) in enumerate(parts):
            if shown.rpartition(".")[2] in _PROSE_KEYS:
                continue
            if len(parts) > 1:
                following = parts[place + 1][0].start_mark if place + 1 < len(parts) else None
                before = parts[place - 1][1].end_mark if place else None
                cut(shown, key.start_mark, following, before, value.end_mark)
            visit(value, shown)

    visit(document, "")
    return found


def data_without(text: str, fault: Fault) -> str | None:
    """The text without a row, if that is all that it lacks."""
    new = text[: fault.span[0]] + text[fault.span[1] :]
    try:
        old_data, new_data = (yaml.load(one, Loader=yaml.CSafeLoader) for one in (text, new))
    except yaml.YAMLError:
        return None
    return new if _leaves(old_data) > _leaves(new_data) > 0 and _lacks_one(old_data, new_data) else None


def _leaves(data: object) -> int:
    if isinstance(data, dict):
        return sum(1 + _leaves(value) for value in data.values())
    return sum(1 + _leaves(item) for item in data) if isinstance(data, list) else 0


def _lacks_one(old: object, new: object) -> bool:
    """Exactly one row of one collection is gone."""
    if isinstance(old, dict) and isinstance(new, dict):
        if len(old) == len(new) + 1:
            return all(key in old and old[key] == value for key, value in new.items())
        differing = [key for key in old if key not in new or old[key] != new[key]]
        return old.keys() == new.keys() and len(differing) == 1 and _lacks_one(old[differing[0]], new[differing[0]])
    if isinstance(old, list) and isinstance(new, list):
        if len(old) == len(new) + 1:
            return any(old[:place] + old[place + 1 :] == new for place in range(len(old)))
        different = [place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other]
        return len(old) == len(new) and len(different) == 1 and _lacks_one(old[different[0]], new[different[0]])
    return False
