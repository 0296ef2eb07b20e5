"""From a changed file to the tests that are near it, each with its distance and the reason.

| changed | near it |
| --- | --- |
| a test file | itself |
| a helper of tests | the test files that import it, also through others |
| a module of poolsmith | the test file of its name; those that import it, or run it as a verb; those of its package that import what imports it |
| a rule | its rows in the tables of rules and of examples, and the test files that name it |
| an example of a rule | that rule |
| data of the catalog | test files that name it, and those of the modules that read it |
| anything else | test files that name its path, or the nearest folder that some name |

Whatever has changed, a handful of tests of the whole program is added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch

from tools.near_index import GENERATOR, Index, is_test, module_of

EXAMPLES = "tests/guard/rules/examples"
TABLE = "tests/guard/rules/test_rules.py"
DATA = f"{GENERATOR}/data/"
COMPILED = "tests/gpu/catalog/test_compiled.py"
ROOT_CONFTEST = "tests/conftest.py"
WHOLE = {
    "tests/architecture/test_structure.py": (),
    "tests/golden/test_golden.py": ("driver-objects-flux",),  # and the sample fleet
    "tests/docs/test_links.py": (),
}
"""Tests of the whole program that are done in seconds, and which of their rows are."""
GOLDEN = "tests/golden/test_golden.py"
WRITTEN = ("fleet/profiles", "fleet/plan", "fleet/operands", "guard/ledger", "project/output")
"""Packages whose work stands in golden trees, whether or not a test imports it."""
_READERS = ("/catalog/", "/facts/", "/schema/", "/server/")
"""Packages that read data."""
DEEPEST = 2
"""How many modules may stand between a changed one and one that a test of its package imports."""
FARTHEST = 9
_RULE = re.compile(r"RuleInfo\.of\(\"(?P<code>PSM\d{3})\"\)")
_CODES = re.compile(r"^from poolsmith\.core\.diagnostics\.codes(?:\.(\w+))? import (\([^)]*\)|.*)", re.MULTILINE)
_RECORDED = re.compile(r"tests/recorded/data/(?P<name>\w+)\.")


@dataclass(frozen=True)
class Near:
    """One test file that is near a change; all of it, or the tests of it that name one of the words."""

    test: str
    distance: int
    why: str
    words: frozenset[str] = frozenset()


def near(changed: str, index: Index) -> list[Near]:
    """All that is near one changed file, the handful of the whole program apart."""
    found: dict[str, Near] = {}
    for item in _found(changed, index):
        if item.test != changed or item.distance == 0:
            found[item.test] = joined(found.get(item.test), item)
    return list(found.values())


def has_near(changed: str, index: Index) -> bool:
    """Whether anything is; sooner than all of it."""
    return any(item.test != changed or item.distance == 0 for item in _found(changed, index))


def joined(one: Near | None, other: Near) -> Near:
    """The same file twice: the nearer reason; all of it, if one that is nearer or next to the change asks for all of it."""
    if one is None:
        return other
    first, second = sorted((one, other), key=lambda item: item.distance)
    if first.words and not second.words and second.distance > 1:
        return first
    words = one.words | other.words if one.words and other.words else frozenset[str]()
    return Near(first.test, first.distance, first.why, words)


def whole_program() -> list[Near]:
    return [Near(test, 1, "the whole program", frozenset(words)) for test, words in WHOLE.items()]


def _found(changed: str, index: Index) -> Iterator[Near]:
    if is_test(changed):
        if changed in index.tests:
            yield Near(changed, 0, "changed")
    elif changed == ROOT_CONFTEST:
        return
    elif changed.startswith(f"{EXAMPLES}/"):
        yield from _rule_of_example(changed, index)
    elif changed.startswith("tests/") and changed.endswith(".py"):
        yield from _of_helper(changed, index)
    elif changed.startswith(DATA):
        yield from _of_data(changed, index)
    elif changed.startswith(f"{GENERATOR}/") and changed.endswith(".py"):
        yield from _of_module(changed, index)
    else:
        yield from _of_file(changed, index)


def _importing(path: str, index: Index) -> Iterator[tuple[str, int]]:
    """Test files that import a file, directly (1), or through helpers of the tests (one more for each)."""
    seen, edge, distance = {path}, [path], 1
    while edge:
        following = []
        for item in edge:
            if item.endswith("/conftest.py"):
                importers: Iterable[str] = index.below(item.rpartition("/")[0])
            else:
                importers = index.importers.get(item, ())
            for importer in sorted(importers):
                if importer in seen or importer == ROOT_CONFTEST:
                    continue
                seen.add(importer)
                if is_test(importer):
                    yield importer, distance
                else:
                    following.append(importer)
        edge, distance = following, distance + 1


def _of_helper(changed: str, index: Index) -> Iterator[Near]:
    stem = changed.rpartition("/")[2]
    for test, distance in _importing(changed, index):
        yield Near(test, distance, f"imports {stem}" if distance == 1 else f"uses {stem}")
    yield from _twin_of_script(changed, index)
    folder = changed.rpartition("/")[0]
    for test in index.that_mention([changed, f"{folder.rpartition('/')[2]}/{stem}"]):
        if is_test(test):
            yield Near(test, 1, f"names {stem}")


def _of_module(changed: str, index: Index) -> Iterator[Near]:
    text = index.modules.get(changed, "")
    rules = [(match["code"], index.rule_names[match["code"]]) for match in _RULE.finditer(text)]
    if rules:
        yield from _of_rules(rules, index)
    else:
        for item in _of_rules(_reported(text, index), index):
            yield Near(item.test, item.distance + 1, item.why, item.words)
    package, _, stem = changed.removeprefix(f"{GENERATOR}/").removesuffix(".py").rpartition("/")
    direct = [
        *_twins(package, stem, index),
        *(Near(test, distance, f"imports {stem}") for test, distance in _importing(changed, index)),
        *(Near(test, 2, f"runs `{shown}`") for test, shown in _running(changed, index)),
    ]
    yield from direct
    if _subject(package) in WRITTEN:
        yield Near(GOLDEN, 3, "golden trees")
    own = f"tests/{_subject(package)}/"
    reached: dict[bool, list[Near]] = {True: [], False: []}
    for far, distance in _through_modules(changed, index):
        if distance > DEEPEST and (rules or direct or any(reached.values())):
            break
        for test, hops in (*_importing(far, index), *((test, 2) for test, _ in _running(far, index))):
            reached[test.startswith(own)].append(Near(test, distance + hops, f"imports what imports {stem}"))
    yield from reached[True]
    if not (rules or direct or reached[True]):
        yield from reached[False] or _of_package(changed, package, index)
    if changed == f"{GENERATOR}/__main__.py":
        yield from (Near(test, 2, "starts poolsmith") for test in _tests(index.that_mention(["start_cli"])))


def _of_package(changed: str, package: str, index: Index) -> Iterator[Near]:
    """Where nothing says more: the tests of its package, and of modules that stand beside it."""
    yield from _beside(f"tests/{package}", FARTHEST, index)
    if changed.endswith("/__init__.py"):
        parts = (path for path in index.modules if path.startswith(f"{GENERATOR}/{package}/") and path != changed)
        for test in dict.fromkeys(test for path in parts for test, _ in _importing(path, index)):
            yield Near(test, FARTHEST, f"imports of {package}")


def _running(path: str, index: Index) -> Iterator[tuple[str, str]]:
    """Test files that run the verb of a module of the command line."""
    folder, _, name = path.rpartition("/")
    if folder != f"{GENERATOR}/interface/cli" or name == "__init__.py":
        return
    stem = name.removesuffix(".py")
    verbs = re.search(rf"\"([\w-]+)\": \(\s*\"{stem}\"", index.modules.get(f"{folder}/verbs.py", ""))
    verb = verbs[1] if verbs else stem.replace("_", "-")
    yield from ((test, verb) for test in index.first_words.get(verb, ()))


def _beside(folder: str, distance: int, index: Index) -> Iterator[Near]:
    """The test files of a folder, or of the nearest one above it that has some."""
    while folder != "tests":
        if found := list(index.below(folder)):
            yield from (Near(test, distance, f"is in {folder}") for test in found)
            return
        folder = folder.rpartition("/")[0] or "tests"


def _reported(text: str, index: Index) -> list[tuple[str, str]]:
    """The rules of the code book that a module imports, to report them."""
    found = []
    taken = [
        (module, re.findall(r"\b[A-Z][A-Z_]+\b", names) if own else re.findall(rf"\b{module}\.([A-Z][A-Z_]+)\b", text))
        for own, names in _CODES.findall(text)
        for module in ([own] if own else re.findall(r"\b[a-z]\w+\b", names))
    ]
    for module, names in taken:
        book = index.modules.get(f"{GENERATOR}/core/diagnostics/codes/{module}.py", "")
        for name in sorted(set(names)):
            rule = re.search(rf"^{name}\b.*?= {_RULE.pattern}", book, re.MULTILINE)
            found += [(rule["code"], index.rule_names[rule["code"]])] if rule else []
    return found


def _twins(package: str, stem: str, index: Index) -> Iterator[Near]:
    """Test files of a module's name, in the folder of its package or of one above."""
    top = _subject(package)
    names = {f"test_{stem}.py", f"test_{package.rpartition('/')[2]}.py" if stem == "__init__" else ""}
    for test in index.below(f"tests/{top}") if top else index.test_files:
        if test.rpartition("/")[2] in names:
            yield Near(test, 0, f"is named as {stem}")


def _through_modules(changed: str, index: Index) -> Iterator[tuple[str, int]]:
    """Modules that import a module, from the nearest; a package that only hands names on is no user of them."""
    seen, edge, distance = {changed}, [changed], 1
    while edge and distance <= FARTHEST:
        following = [
            item
            for path in edge
            if path == changed or not path.endswith("/__init__.py")
            for item in index.modules_that_import(path)
            if item not in seen
        ]
        following = list(dict.fromkeys(following))
        seen.update(following)
        yield from ((path, distance) for path in following)
        edge, distance = following, distance + 1


def _of_rules(rules: list[tuple[str, str]], index: Index) -> Iterator[Near]:
    if not rules:
        return
    names = frozenset(name for _, name in rules)
    words = names | {code for code, _ in rules}
    shown = "rule " + ", ".join(sorted(names)) if len(rules) <= 2 else f"{len(rules)} rules"
    yield Near(TABLE, 0, f"{shown}: its examples" if len(rules) == 1 else f"examples of {shown}", words)
    for test in _tests(index.that_mention(words)):
        if test != TABLE:
            yield Near(test, 1, f"names {shown}", words)
    for helper in index.that_mention(words):
        if not is_test(helper) and not helper.startswith("tests/bench/"):
            for test, distance in _importing(helper, index):
                yield Near(test, 2 + distance, f"its table names {shown}")


def _rule_of_example(changed: str, index: Index) -> Iterator[Near]:
    name = changed.removeprefix(f"{EXAMPLES}/").partition("/")[0]
    yield Near(TABLE, 0, f"example of {name}", frozenset((name,)))
    for test in _tests(index.that_mention([f"{EXAMPLES.removeprefix('tests/')}/{name}", f"examples/{name}"])):
        yield Near(test, 1, f"names the example of {name}")


def _of_data(changed: str, index: Index) -> Iterator[Near]:
    name = changed.removeprefix(DATA)
    if name.endswith(".yaml"):
        yield Near(COMPILED, 0, "its twin in JSON", frozenset((name,)))
    stem = name.rpartition("/")[2]
    names = [name] if re.match(r"v\d", stem) else [name, stem]
    for test in _tests(index.that_mention(names)):
        yield Near(test, 1, f"names {stem}")
    readers = index.readers(name) or index.readers(stem)
    if not readers and "/" in name:
        folder = name.partition("/")[0]
        word = re.compile(rf"[\"'/]{re.escape(folder)}[\"'/]")
        readers = [
            path for path, text in index.modules.items() if any(part in path for part in _READERS) and word.search(text)
        ]
    for reader in readers:
        shown = reader.rpartition("/")[2]
        functions = index.functions_that_name(reader, name)
        asking = set(index.that_mention(functions))
        for item in near(reader, index):
            asks = item.test in asking
            yield Near(item.test, (1 if asks else 2) + item.distance, f"tests {shown}, which reads it", item.words)


def _of_file(changed: str, index: Index) -> Iterator[Near]:
    """By its path, then by its folders, from the nearest: whoever names it."""
    if (recorded := _RECORDED.match(changed)) is not None:
        pattern = re.compile(rf"recording\(\s*\"{recorded['name']}\"")
        for path in [path for path, text in index.tests.items() if pattern.search(text)]:
            yield from _itself_or_users(path, f"reads recorded {recorded['name']}", index)
        return
    if changed.startswith("tests/golden/"):
        case = changed.split("/")[2]
        yield Near(GOLDEN, 0, f"golden tree of {case}", frozenset((case,)))
        return
    yield from _twin_of_script(changed, index)
    parts = changed.split("/")
    if parts[0] in ("profiles", "policies", "output"):
        yield Near(GOLDEN, 1, "the sample fleet", frozenset(WHOLE[GOLDEN]))
    elif parts[0] == "action":
        yield from _beside("tests/action", 2, index)
    for length in range(len(parts), 0, -1):
        path = "/".join(parts[:length])
        if length == 1 and len(parts) > 1 and (path == "tests" or "." not in path):
            break
        words = {path, "/".join(parts[max(0, length - 2) : length])}
        if length == len(parts) and "." in parts[-1].lstrip("."):
            words.add(parts[-1])
        found = index.that_mention(words)
        for item in found:
            yield from _itself_or_users(item, f"names {path}", index, 1 + len(parts) - length)
        own = list(index.below(path)) if path.startswith("tests/") else []
        for test in own:
            yield Near(test, 1 + len(parts) - length, f"is beside {parts[-1]}")
        if own or any(_itself_or_users(item, "", index) for item in found):
            break
    if changed.startswith("docs/") and changed.endswith(".md"):
        yield Near("tests/docs/test_links.py", 0, f"links of {parts[-1]}")


def _twin_of_script(changed: str, index: Index) -> Iterator[Near]:
    name = re.sub(r"\W+", "_", changed.rpartition("/")[2].removesuffix(".py"))
    for test in index.test_files:
        if fnmatch(test.rpartition("/")[2], f"test_{name}.py"):
            yield Near(test, 0, f"is named as {changed.rpartition('/')[2]}")


def _itself_or_users(path: str, why: str, index: Index, distance: int = 1) -> list[Near]:
    if is_test(path):
        return [Near(path, distance, why)]
    if path == ROOT_CONFTEST:
        return []
    return [Near(test, distance + hops, f"{why}, through {module_of(path)}") for test, hops in _importing(path, index)]


def _tests(paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if is_test(path))


def _subject(package: str) -> str:
    """Wing and package, of a package at any depth: fleet/plan of fleet/plan/sandbox."""
    return "/".join(package.split("/")[:2])
