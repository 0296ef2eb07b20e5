"""What the files of the repository say of each other: imports, names and texts; for `near_map.py`.

The graph of poolsmith's own modules is grimp's. What tests import is read here, and kept by content, so that a second run
reads only what changed.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import grimp

PACKAGE = "poolsmith"
GENERATOR = "generator/poolsmith"
TESTS = "tests"
OWN = "tests/architecture/test_near.py"
"""It names a bit of everything."""
CACHE = ".pytest_cache/d/near"
_NAME = re.compile(r"(?:poolsmith|support)(?:\.\w+)+")
_FIRST_WORD = re.compile(r"[\[(]\s*\"([a-z][\w-]*)\"")
_DATA = re.compile(r"[\w*./-]+\.(?:yaml|json|z|xml|txt)")


def names_in(text: str) -> list[str]:
    """What a test file imports, as it writes it: modules, and what it takes from them; also names in strings."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                found.update(alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found.update(f"{module}.{alias.name}" for alias in names)
            case ast.Constant(value=str(value)) if _NAME.fullmatch(value):
                found.add(value)
    return sorted(found)


def patterns_in(text: str) -> list[str]:
    """File names that a module reads, with a star for what it puts in."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Constant(value=str(value)):
                shown = value
            case ast.JoinedStr(values=values):
                shown = "".join(part.value if isinstance(part, ast.Constant) else "*" for part in values)  # type: ignore[misc]
            case ast.Call(func=ast.Attribute(attr="names"), args=[ast.Constant(value=str(value))]):
                shown = f"{value}/*.json"
            case _:
                continue
        if _DATA.fullmatch(shown):
            found.add(shown)
    return sorted(found)


class Index:
    """A repository, read on demand."""

    def __init__(self, root: Path, graph: grimp.ImportGraph | None = None) -> None:
        self.root = root
        self._graph = graph
        self._kept = root / CACHE / "read.json"

    @cached_property
    def tests(self) -> dict[str, str]:
        """The Python files of the tests, by path."""
        return self._texts(TESTS)

    @cached_property
    def modules(self) -> dict[str, str]:
        """Poolsmith's own files, by path."""
        return self._texts(GENERATOR)

    @cached_property
    def rule_names(self) -> dict[str, str]:
        """The name of each rule, by its code."""
        rows = json.loads((self.root / GENERATOR / "data/rules.json").read_text("utf-8"))
        return {row["code"]: row["name"] for row in rows}

    def _texts(self, folder: str) -> dict[str, str]:
        paths = (self.root / folder).rglob("*.py")
        return {path.relative_to(self.root).as_posix(): path.read_text("utf-8") for path in sorted(paths)}

    @cached_property
    def graph(self) -> grimp.ImportGraph:
        return self._graph or grimp.build_graph(PACKAGE, cache_dir=str(self.root / CACHE / "grimp"))

    @cached_property
    def _read(self) -> dict[str, list[str]]:
        """What each test file imports, and which files each module reads, by path."""
        try:
            kept: dict[str, list[str]] = json.loads(self._kept.read_text("utf-8"))
        except (OSError, ValueError):
            kept = {}
        new: dict[str, list[str]] = {}
        found = {}
        for texts, read in ((self.tests, names_in), (self.modules, patterns_in)):
            for path, text in texts.items():
                key = f"{read.__name__} {sha256(text.encode()).hexdigest()}"
                new[key] = found[path] = kept[key] if key in kept else read_or_nothing(read, text)
        if new != kept:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            self._kept.write_text(json.dumps(new), "utf-8")
        return found

    @cached_property
    def _homes(self) -> dict[str, str]:
        """Names that a package hands on, and the modules that they come from."""
        homes = {}
        for path, text in self.modules.items():
            if not path.endswith("/__init__.py") or "import" not in text:
                continue
            package = module_of(path)
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE):
                    homes.update(
                        {
                            f"{package}.{alias.asname or alias.name}": f"{node.module}.{alias.name}"
                            for alias in node.names
                        }
                    )
        return homes

    def _home(self, name: str) -> str | None:
        """The path of the module that has a name."""
        for _ in range(4):
            name = self._homes.get(name, name)
        while name:
            for path in paths_of(name):
                if path in self.modules or path in self.tests:
                    return path
            name = name.rpartition(".")[0]
        return None

    @cached_property
    def importers(self) -> dict[str, frozenset[str]]:
        """Which files of the tests import a file: poolsmith's, or one of the tests' own."""
        found = defaultdict(set)
        for path in self.tests:
            for name in self._read[path]:
                if (home := self._home(name)) and home != path:
                    found[home].add(path)
        return {path: frozenset(names) for path, names in found.items()}

    @cached_property
    def breadth(self) -> dict[str, int]:
        """How many files each file of the tests imports: who imports few is about them."""
        counts: dict[str, int] = defaultdict(int)
        for names in self.importers.values():
            for name in names:
                counts[name] += 1
        return counts

    def modules_that_import(self, path: str) -> list[str]:
        """Poolsmith's own, directly. Packages that only hand a name on are passed over: who uses it imports it itself."""
        name = module_of(path)
        if name not in self.graph.modules:
            return []
        found = self.graph.find_modules_that_directly_import(name)
        return sorted(path for item in found for path in paths_of(item) if path in self.modules)

    def readers(self, name: str) -> list[str]:
        """Modules that read a file, by the end of its path."""
        patterns = {path: self._read[path] for path in self.modules}
        return sorted(path for path, found in patterns.items() if any(matches(pattern, name) for pattern in found))

    def functions_that_name(self, path: str, name: str) -> list[str]:
        """Functions of a module in which a file's name, or a pattern that fits it, stands."""
        functions = [node for node in ast.walk(ast.parse(self.modules[path])) if isinstance(node, ast.FunctionDef)]
        return [
            node.name for node in functions if any(matches(pattern, name) for pattern in patterns_in(ast.unparse(node)))
        ]

    def that_mention(self, words: Iterable[str]) -> list[str]:
        """Files of the tests that name one of these, as a whole word or path."""
        some = "|".join(re.escape(word) for word in sorted(words))
        if not some:
            return []
        pattern = re.compile(rf"(?<![\w-])(?:{some})(?![\w-])")
        return [path for path, text in self.tests.items() if path != OWN and pattern.search(text)]

    def below(self, folder: str) -> Iterator[str]:
        """Test files in a folder."""
        return (path for path in self.test_files if path.startswith(f"{folder}/"))

    @cached_property
    def test_files(self) -> list[str]:
        return [path for path in self.tests if is_test(path)]

    @cached_property
    def first_words(self) -> dict[str, list[str]]:
        """Test files by the words that begin a list or a call in them: verbs that they run are among these."""
        found = defaultdict(list)
        for path in self.test_files:
            for word in sorted(set(_FIRST_WORD.findall(self.tests[path]))):
                found[word].append(path)
        return found


def read_or_nothing(read: object, text: str) -> list[str]:
    try:
        return read(text)  # type: ignore[operator, no-any-return]
    except SyntaxError:
        return []


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern is a name's; a star stands for anything, but a name of stars alone for nothing."""
    if not re.search(r"\w\w", pattern.rpartition(".")[0]):
        return False
    return bool(re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), name))


def is_test(path: str) -> bool:
    return path.startswith(f"{TESTS}/") and path.rpartition("/")[2].startswith("test_") and path.endswith(".py")


def module_of(path: str) -> str:
    """The dotted name of a file of poolsmith, or of the tests."""
    base = path.removeprefix("generator/").removeprefix("tests/").removesuffix(".py").removesuffix("/__init__")
    return base.replace("/", ".")


def paths_of(name: str) -> tuple[str, str]:
    """Where a module of that name may stand."""
    folder = "generator" if name.split(".", maxsplit=1)[0] == PACKAGE else TESTS
    base = f"{folder}/{name.replace('.', '/')}"
    return f"{base}.py", f"{base}/__init__.py"
