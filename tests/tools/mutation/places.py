"""Places for faults: chosen by a seed over all packages, and found again in another commit by their text."""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import random
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.mutation.faults import (
    Fault,
    data_without,
    defaults_of,
    faults_of_data,
    faults_of_python,
    is_sound,
)

PACKAGE = "generator/poolsmith"
DATA = f"{PACKAGE}/catalog/data/"
_AROUND = 3


@dataclass(frozen=True)
class Place:
    """One fault. Offsets count characters from the beginning of its own lines."""

    id: str
    package: str
    file: str
    line: int
    kind: str
    name: str
    """The function or class; or the row of a data file."""
    owners: tuple[str, ...]
    above: tuple[str, ...]
    lines: tuple[str, ...]
    below: tuple[str, ...]
    span: tuple[int, int]
    new: str
    probe: tuple[int, int] | None

    @property
    def is_data(self) -> bool:
        return self.file.startswith(DATA)

    @property
    def changed(self) -> str:
        """Its lines with the fault."""
        text = "".join(self.lines)
        return text[: self.span[0]] + self.new + text[self.span[1] :]

    def begin(self, text: str) -> int | None:
        """Where its lines begin in a version of the file: where most of what is around them is the same."""
        lines = text.splitlines(keepends=True)
        best: tuple[int, int, int] | None = None
        for first in range(len(lines) - len(self.lines) + 1):
            if tuple(lines[first : first + len(self.lines)]) != self.lines:
                continue
            last = first + len(self.lines)
            above = tuple(lines[max(0, first - len(self.above)) : first])
            same = sum(map(str.__eq__, reversed(above), reversed(self.above)))
            same += sum(map(str.__eq__, lines[last : last + len(self.below)], self.below))
            best = max(best or (-1, 0, 0), (same, -abs(first + 1 - self.line), first))
        return None if best is None else len("".join(lines[: best[2]]))

    def applied(self, text: str) -> str | None:
        """The text with the fault; None where the place is not there."""
        begin = self.begin(text)
        if begin is None:
            return None
        return text[:begin] + self.changed + text[begin + len("".join(self.lines)) :]

    def diff(self) -> str:
        """The fault as a unified diff of one hunk."""
        old = [*self.above, *self.lines, *self.below]
        new = [*self.above, *self.changed.splitlines(keepends=True), *self.below]
        first = self.line - len(self.above)
        hunk = [
            line if line.endswith("\n") else f"{line}\n" for line in [*difflib.unified_diff(old, new, n=_AROUND)][3:]
        ]
        head = f"--- a/{self.file}\n+++ b/{self.file}\n@@ -{first},{len(old)} +{first},{len(new)} @@ {self.name}\n"
        return head + "".join(hunk)


def choose(
    root: Path, seed: str, count: int, packages: frozenset[str] = frozenset(), kinds: frozenset[str] = frozenset()
) -> list[Place]:
    """`count` places, by package in proportion to lines, at least one in each; kinds of faults take turns."""
    files = _files(root, packages)
    lines = {file: (root / file).read_text("utf-8").count("\n") for files_of in files.values() for file in files_of}
    shares = _shares({name: sum(lines[file] for file in files_of) for name, files_of in files.items()}, count)
    defaults: dict[str, set[str]] = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        for name, optional in defaults_of(ast.parse(path.read_bytes())).items():
            defaults.setdefault(name, set()).update(optional)
    used: Counter[str] = Counter()
    found: list[Place] = []
    for package, share in sorted(shares.items(), key=lambda item: (item[1], item[0])):
        luck = random.Random(f"{seed} {package}")
        left = list(files[package])
        possible: dict[str, list[Fault]] = {}
        wanted = len(found) + share
        while len(found) < wanted and left:
            (file,) = luck.choices(left, [lines[file] for file in left])
            text = (root / file).read_bytes().decode()
            if file not in possible:
                every = faults_of_data(text) if file.endswith(".yaml") else faults_of_python(text, defaults)
                possible[file] = [fault for fault in every if not kinds or fault.kind in kinds]
            fault = _one_of(possible[file], luck, used, file, text)
            if fault is None:
                left.remove(file)
                continue
            place = _place(fault, package, file, text)
            possible[file] = [
                other for other in possible[file] if _place(other, package, file, text).line != place.line
            ]
            used[place.kind] += 1
            found.append(place)
    return sorted(found, key=lambda place: (place.package, place.file, place.line))


def _one_of(faults: list[Fault], luck: random.Random, used: Counter[str], file: str, text: str) -> Fault | None:
    """A fault of the kind that was used least of those that the file can have; those that make no program are taken out."""
    while faults:
        least = min(used[fault.kind] for fault in faults)
        fault = luck.choice([fault for fault in faults if used[fault.kind] == least])
        faults.remove(fault)
        if file.endswith(".yaml"):
            sound = data_without(text, fault) is not None
        else:
            sound = is_sound(text, text[: fault.span[0]] + fault.new + text[fault.span[1] :])
        if sound:
            return fault
    return None


def _place(fault: Fault, package: str, file: str, text: str) -> Place:
    begin = min(fault.span[0], (fault.probe or fault.span)[0])
    end = max(fault.span[1], (fault.probe or fault.span)[1])
    begin = text.rfind("\n", 0, begin) + 1
    if not text[:end].endswith("\n"):
        end = text.find("\n", end) + 1 or len(text)
    first = text.count("\n", 0, begin)
    every = text.splitlines(keepends=True)
    lines = tuple(text[begin:end].splitlines(keepends=True))
    last = first + len(lines)
    span = fault.span[0] - begin, fault.span[1] - begin
    key = json.dumps((file, fault.name, lines, span, fault.new, fault.kind))
    return Place(
        id=hashlib.sha256(key.encode()).hexdigest()[:8],
        package=package,
        file=file,
        line=first + 1,
        kind=fault.kind,
        name=fault.name,
        owners=fault.owners,
        above=tuple(every[max(0, first - _AROUND) : first]),
        lines=lines,
        below=tuple(every[last : last + _AROUND]),
        span=span,
        new=fault.new,
        probe=fault.probe and (fault.probe[0] - begin, fault.probe[1] - begin),
    )


def _files(root: Path, packages: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted((*(root / PACKAGE).rglob("*.py"), *(root / DATA).rglob("*.yaml"))):
        file = path.relative_to(root).as_posix()
        package = path.relative_to(root / PACKAGE).parts[0].removesuffix(".py")
        if not package.startswith("__") and (not packages or package in packages) and path.stat().st_size > 100:
            found.setdefault(package, []).append(file)
    return found


def _shares(lines: dict[str, int], count: int) -> dict[str, int]:
    """One each, and the rest by the largest remainders."""
    rest, total = max(0, count - len(lines)), sum(lines.values())
    exact = {name: rest * size / total for name, size in lines.items()}
    shares = {name: 1 + int(part) for name, part in exact.items()}
    for name in sorted(exact, key=lambda name: (int(exact[name]) - exact[name], name)):
        if sum(shares.values()) < count:
            shares[name] += 1
    return shares


def written(places: list[Place]) -> str:
    """As JSON."""
    return json.dumps([asdict(place) for place in places], indent=1) + "\n"


def read(text: str) -> list[Place]:
    """As they were written."""

    def tuples(value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    return [Place(**{name: tuples(value) for name, value in item.items()}) for item in json.loads(text)]
