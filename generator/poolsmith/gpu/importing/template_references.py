"""Which values a chart's templates read, and where they write them, found line by line.

Not a template engine: it knows `.Values.a.b` (also through `$`, `index`, and the dot of a `with`), the indentation
of YAML keys, and the guards `if` and `with` around a line.
"""

from __future__ import annotations

import re
from dataclasses import field

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

_ACTION = pattern(r"\{\{-?\s*+(.*?)-?\}\}", re.DOTALL)
_ACTION_ENDS = "}}"
_VALUE = pattern(r"\$?\.Values((?:\.[A-Za-z_][\w-]*)+)")
_PASSED = pattern(r"(?:include|template)\s+\"([^\"]+)\"\s++(?:\(\s*+)?\$?\.Values(?:\s|\)|$)")
"""A template of the chart that gets the values as its dot."""
_BY_VARIABLE = pattern(r"index\s+\S*\.Values((?:\.[A-Za-z_][\w-]*)+)\s+\$\w")
_ASSIGNED = pattern(r"\$(\w+)\s*:=\s*\(?\S*\.Values((?:\.[A-Za-z_][\w-]*)+)(?:\s*\|\s*default\s+dict\s*\)?)?$")
_OF_VARIABLE = pattern(r"\$(\w+)((?:\.[A-Za-z_][\w-]*)+)")
_OR_EMPTY = pattern(r"\(([^\s(]*\.Values(?:\.[A-Za-z_][\w-]*)+)\s*\|\s*default\s+dict\)")
_DEFINE = pattern(r"define\s+\"([^\"]+)\"")
_INDEX = pattern(r"index\s+\$?\.Values((?:\s+\"[^\"]+\")+)")
_RELATIVE = pattern(r"(?<![\w$)\".])\.([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)")
_KEY = pattern(r"^(?P<indent>\s*)(?P<key>[A-Za-z_][\w./-]*):(?P<rest>\s.*|)$")
_KIND = pattern(r"^kind:\s*(?P<kind>[A-Za-z]+)\s*$")
_COMMENT_BEGINS, _COMMENT_ENDS = re.compile(r"\{\{-?\s*+/\*"), re.compile(r"\*/\s*+-?\}\}")
_NOT_NULL = pattern(r"^if\s+ne\s+\S+\s+nil$")
"""Asks only whether there is a value: false and what is empty are written too."""
_BUILT_IN = frozenset(("Values", "Release", "Chart", "Capabilities", "Template", "Files", "Subcharts"))
_LONGEST_LINE = 4_000
_GUARDS = ("if", "with", "else")


@record(kw_only=False)
class Write:
    """A field of an object that a value is written to."""

    kind: str
    field: str
    quoted: bool
    guarded: bool


@record(frozen=False, kw_only=False)
class References:
    """Dotted value paths that are read, and the fields that they are written to.

    `ranged` are those whose keys and values a loop goes through. `passed` are templates whose dot are the values,
    `relative` what each template reads of its dot. `whole` are those that are more than asked for in a guard: written,
    passed on or kept in a variable, with whatever stands below.
    """

    read: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    writes: dict[str, list[Write]] = field(default_factory=dict)
    ranged: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    relative: dict[str, set[str]] = field(default_factory=dict)

    def add(self, other: References) -> None:
        self.read |= other.read
        self.whole |= other.whole
        self.ranged |= other.ranged
        self.passed |= other.passed
        for name, paths in other.relative.items():
            self.relative.setdefault(name, set()).update(paths)
        for path, writes in other.writes.items():
            known = self.writes.setdefault(path, [])
            known.extend(write for write in writes if write not in known)

    @property
    def all_read(self) -> set[str]:
        """`read`, and what templates read that get the values as their dot."""
        return self.read.union(*(self.relative.get(name, ()) for name in self.passed))


def references_in(text: str) -> References:
    """Of one template file."""
    return _Scanner().scan(_without_comments(text))


def _without_comments(text: str) -> str:
    parts: list[str] = []
    kept = 0
    while (begin := _COMMENT_BEGINS.search(text, kept)) is not None:
        end = _COMMENT_ENDS.search(text, begin.end())
        if end is None:
            break
        parts.append(text[kept : begin.start()])
        kept = end.end()
    return "".join((*parts, text[kept:]))


def _actions(line: str) -> tuple[str, list[str]]:
    """A line without its actions, and the actions. Behind the last end of one there is none."""
    last = line.rfind(_ACTION_ENDS) + len(_ACTION_ENDS)
    if last < len(_ACTION_ENDS):
        return line, []
    head = line[:last]
    return _ACTION.sub("", head) + line[last:], [action.rstrip() for action in _ACTION.findall(head)]


class _Scanner:
    """One pass over the lines; `_blocks` are the open actions with the values that each asks for."""

    def __init__(self) -> None:
        self._found = References()
        self._blocks: list[tuple[str, tuple[str, ...]]] = []
        self._keys: list[tuple[int, str]] = []
        self._kind = ""
        self._template = ""
        self._variables: dict[str, str] = {}

    def scan(self, text: str) -> References:
        for line in text.splitlines():
            if len(line) > _LONGEST_LINE:
                continue
            if line.startswith("---"):
                self._keys, self._kind = [], ""
            if match := _KIND.match(line):
                self._kind = match["kind"]
            self._line(line)
        return self._found

    def _line(self, line: str) -> None:
        bare, actions = _actions(line)
        key = _KEY.match(line if not line.lstrip().startswith("{{") else bare)
        if key and not bare.lstrip().startswith("-"):
            indent = len(key["indent"])
            self._keys = [(depth, name) for depth, name in self._keys if depth < indent]
            self._keys.append((indent, key["key"]))
        for action in actions:
            self._action(action, line)

    def _action(self, action: str, line: str) -> None:
        word = action.split(maxsplit=1)[0] if action else ""
        action = _OR_EMPTY.sub(r"\1", action)
        paths = self._paths(action)
        self._found.read.update(paths)
        if word not in _GUARDS:
            self._found.whole.update(paths)
        self._dotted(action)
        self._found.ranged.update(match[1].removeprefix(".") for match in _BY_VARIABLE.finditer(action))
        if assigned := _ASSIGNED.match(action):
            self._variables[assigned[1]] = assigned[2].removeprefix(".")
        for name, inner in _OF_VARIABLE.findall(action):
            if name in self._variables:
                self._found.read.add(self._variables[name] + inner)
        if word == "range" and "," in action and ":=" in action:
            self._found.ranged.update(paths)
        if word in ("if", "with", "range", "define", "block"):
            self._blocks.append((word, () if _NOT_NULL.search(action) else tuple(paths)))
        elif word == "else" and self._blocks:
            opened, _ = self._blocks.pop()
            self._blocks.append((opened if "with" not in action else "with", tuple(paths)))
        elif word == "end":
            if self._blocks:
                self._blocks.pop()
        elif self._kind and self._keys:
            at = ".".join(name for _, name in self._keys)
            quoted = "quote" in action or "toYaml" in action or '"{{' in line
            guards = {path for _, guard in self._blocks for path in guard}
            for path in paths:
                write = Write(self._kind, at, quoted, path in guards)
                known = self._found.writes.setdefault(path, [])
                if write not in known:
                    known.append(write)

    def _dotted(self, action: str) -> None:
        """What a template reads of its dot, and which templates get the values for it."""
        self._found.passed.update(_PASSED.findall(action))
        if opened := _DEFINE.match(action):
            self._template = opened[1]
        elif self._template and not any(word in ("with", "range") for word, _ in self._blocks):
            names = {match[1] for match in _RELATIVE.finditer(_VALUE.sub(" ", action))}
            known = self._found.relative.setdefault(self._template, set())
            known.update(name for name in names if name.split(".")[0] not in _BUILT_IN)

    def _paths(self, action: str) -> list[str]:
        found = [match[1].removeprefix(".") for match in _VALUE.finditer(action)]
        found += [".".join(re.findall(r"\"([^\"]+)\"", match[1])) for match in _INDEX.finditer(action)]
        scope = next((paths for word, paths in reversed(self._blocks) if word in ("with", "range")), ())
        innermost = next((word for word, _ in reversed(self._blocks) if word in ("with", "range")), "")
        if scope and innermost == "with":
            relative = (match[1] for match in _RELATIVE.finditer(_VALUE.sub(" ", action)))
            found += [f"{scope[0]}.{name}" for name in relative if name.split(".")[0] not in _BUILT_IN]
            if re.search(r"(?:^|[\s(|])\.(?:$|[\s)|])", action):
                found.append(scope[0])
        return found
