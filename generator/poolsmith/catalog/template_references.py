"""Which values a chart's templates read, and where they write them, found line by line.

Not a template engine: it knows `.Values.a.b` (also through `$`, `index`, and the dot of a `with`), the indentation
of YAML keys, and the guards `if` and `with` around a line.
"""

from __future__ import annotations

import re
from dataclasses import field

from poolsmith.record import record

_ACTION = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_VALUE = re.compile(r"\$?\.Values((?:\.[A-Za-z_][\w-]*)+)")
_INDEX = re.compile(r"index\s+\$?\.Values((?:\s+\"[^\"]+\")+)")
_RELATIVE = re.compile(r"(?<![\w$)\".])\.([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)")
_KEY = re.compile(r"^(?P<indent>\s*)(?P<key>[A-Za-z_][\w./-]*):(?P<rest>\s.*|)$")
_KIND = re.compile(r"^kind:\s*(?P<kind>[A-Za-z]+)\s*$")
_COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
_NOT_NULL = re.compile(r"^if\s+ne\s+\S+\s+nil$")
"""Asks only whether there is a value: false and what is empty are written too."""
_BUILT_IN = frozenset(("Values", "Release", "Chart", "Capabilities", "Template", "Files", "Subcharts"))
_LONGEST_LINE = 4_000


@record(kw_only=False)
class Write:
    """A field of an object that a value is written to."""

    kind: str
    field: str
    quoted: bool
    guarded: bool


@record(frozen=False, kw_only=False)
class References:
    """Dotted value paths that are read, and the fields that they are written to."""

    read: set[str] = field(default_factory=set)
    writes: dict[str, list[Write]] = field(default_factory=dict)

    def add(self, other: References) -> None:
        self.read |= other.read
        for path, writes in other.writes.items():
            known = self.writes.setdefault(path, [])
            known.extend(write for write in writes if write not in known)


def references_in(text: str) -> References:
    """Of one template file."""
    return _Scanner().scan(_COMMENT.sub("", text))


class _Scanner:
    """One pass over the lines; `_blocks` are the open actions with the values that each asks for."""

    def __init__(self) -> None:
        self._found = References()
        self._blocks: list[tuple[str, tuple[str, ...]]] = []
        self._keys: list[tuple[int, str]] = []
        self._kind = ""

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
        bare = _ACTION.sub("", line)
        key = _KEY.match(line if not line.lstrip().startswith("{{") else bare)
        if key and not bare.lstrip().startswith("-"):
            indent = len(key["indent"])
            self._keys = [(depth, name) for depth, name in self._keys if depth < indent]
            self._keys.append((indent, key["key"]))
        for action in _ACTION.findall(line):
            self._action(action, line)

    def _action(self, action: str, line: str) -> None:
        word = action.split(maxsplit=1)[0] if action else ""
        paths = self._paths(action)
        self._found.read.update(paths)
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
