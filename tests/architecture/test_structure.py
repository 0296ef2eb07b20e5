"""Floors, module size and names, and generated files in step with what they are generated from."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from poolsmith.core.diagnostics import codes, known_rules
from poolsmith.gpu.values.registry import VALUE_RULES
from poolsmith.guard.ledger.privilege_check import GRANT_RULE_INFOS, PRIVILEGE_RULES
from poolsmith.guard.rules.beside.registry import BESIDE_RULES
from poolsmith.guard.rules.links.registry import LINK_RULES
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.repository_rules import CHART_RULES, TEMPLATE_RULES
from poolsmith.guard.rules.rule_book import find_rule, rule_book
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.texts.registry import TEXT_RULES
from poolsmith.interface.app.schemas import policy_schema_files, schema_files
from poolsmith.interface.report.rule_page import format_rule_book
from support.code_book import CODE_BOOK, entries_of
from tools.rule_table import TABLE, rule_table

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "generator" / "poolsmith"
MODULES = sorted(PACKAGE.rglob("*.py"))
LINES = 500
FAMILIES = {
    "reading": ("PSM0",),
    "shape": (*known_rules.SHAPE, "PSM12", "PSM91"),
    **dict.fromkeys(("compatibility", "gpu_use", "node_software", "support"), known_rules.COMPATIBILITY),
    "schema": ("PSM3",),
    "privilege": ("PSM4", "PSM64"),
    "hygiene": ("PSM5",),
    "policy": ("PSM6", "PSM90"),
    "change": ("PSM6",),
    "outside": ("PSM65", *known_rules.FROM_ELSEWHERE, *known_rules.BESIDE),
    "live": known_rules.LIVE,
    "engines": known_rules.ENGINES,
}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "base", "core", "stuff"}


@pytest.mark.deep("make lint runs the same tool")
def test_the_floors_hold():
    linter = Path(sys.executable).with_name("lint-imports")
    tool = str(linter) if linter.exists() else shutil.which("lint-imports")
    if tool is None:
        pytest.skip("import-linter is not installed")
    run = subprocess.run(
        [tool, "--no-cache"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "generator")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 broken" in run.stdout


def test_no_module_is_longer_than_one_idea():
    long = {path.relative_to(PACKAGE).as_posix(): len(path.read_text("utf-8").splitlines()) for path in MODULES}

    assert {
        name: length for name, length in long.items() if length >= LINES and name != "fleet/profiles/node_pool.py"
    } == {}
    assert long["fleet/profiles/node_pool.py"] < 500


def test_no_module_shadows_the_standard_library_or_has_a_name_that_says_nothing():
    names = {path.stem for path in MODULES if path.stem not in ("__init__", "__main__")}

    assert names & VAGUE == set()
    assert {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES} & set(
        sys.stdlib_module_names
    ) == set()
    assert names & set(sys.stdlib_module_names) == set()


def test_every_module_says_what_it_is_for_and_on_which_floor():
    silent = [
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if path.name != "__init__.py" and path.parent.name != "rules" and '"""' not in path.read_text("utf-8")[:300]
    ]

    assert silent == []


FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.MULTILINE)
INDENTED_IMPORT = re.compile(r"^[ \t]+(?:from|import) ", re.MULTILINE)


def unmarked_imports(path):
    """Blocks of imports inside of functions without a comment on any of their lines."""
    text = path.read_text("utf-8")
    if not INDENTED_IMPORT.search(FOR_TYPES.sub("", text)):
        return
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
                statements = block if isinstance(block, list) else []
                for is_import, group in groupby(statements, lambda item: isinstance(item, ast.Import | ast.ImportFrom)):
                    parts = list(group)
                    if is_import and not any("#" in line for line in lines[parts[0].lineno - 1 : parts[-1].end_lineno]):
                        yield f"{path.relative_to(PACKAGE).as_posix()}:{parts[0].lineno}"


def test_an_import_inside_of_a_function_says_that_it_is_on_demand():
    """Verbs load what they call; below them such an import is there for start-up, and marked."""
    below = [path for path in MODULES if path.parent.name != "cli"]

    assert [place for path in below for place in unmarked_imports(path)] == []


SCHEMAS = {"profiles/_schemas": schema_files(), "policies/_schemas": policy_schema_files()}


@pytest.mark.parametrize(("folder", "name"), [(folder, name) for folder, files in SCHEMAS.items() for name in files])
def test_a_committed_schema_is_the_one_that_the_model_gives(folder, name):
    assert (REPOSITORY / folder / name).read_text("utf-8") == SCHEMAS[folder][name]


@pytest.mark.parametrize("folder", sorted(SCHEMAS))
def test_no_schema_is_left_over(folder):
    assert sorted(path.name for path in (REPOSITORY / folder).iterdir()) == sorted(SCHEMAS[folder])


def test_the_committed_rule_book_is_the_one_of_the_rules():
    assert (REPOSITORY / "docs/rules.md").read_text("utf-8") == format_rule_book(rule_book())


def current(path, made):
    """The text of a file that `make docs` makes; written anew where that runs."""
    module = PACKAGE / path
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        module.write_text(made, "utf-8")
    return module.read_text("utf-8")


def test_the_table_of_rules_is_the_one_of_the_rules():
    assert TABLE.read_text("utf-8") == rule_table(), "run `make docs-of-rules`"


def needs_table():
    rules = {rule.__name__.rpartition(".")[2]: (rule.NEEDS, getattr(rule, "PARTLY_NEEDS", ())) for rule in SETUP_RULES}
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(needs)}" for name, needs in rules.items()) + "\n}\n"


def test_the_table_of_needs_is_the_one_of_the_rules():
    assert current("data/setup_needs.json", needs_table()) == needs_table(), "run `make docs`"


def test_codes_and_names_are_used_once():
    book = rule_book()

    assert len({rule.code for rule in book}) == len({rule.name for rule in book}) == len(book)
    assert all(re.fullmatch(r"PSM\d{3}", rule.code) for rule in book)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name) for rule in book)


@pytest.mark.parametrize("module", sorted(FAMILIES))
def test_a_module_of_codes_has_those_of_its_families(module):
    found = [rule.code for rule in entries_of(getattr(codes, module))]

    assert [code for code in found if not code.startswith(FAMILIES[module])] == []


def test_rules_that_judge_manifests_are_of_the_families_of_the_output():
    assert [rule.RULE.code for rule in RULES if not rule.RULE.code.startswith(("PSM4", "PSM5"))] == []


def test_rules_that_judge_values_are_of_the_families_of_what_they_protect():
    allowed = (*known_rules.COMPATIBILITY, "PSM3", "PSM4", "PSM5")

    assert [rule.RULE.code for rule in VALUE_RULES if not rule.RULE.code.startswith(allowed)] == []
    assert {find_rule(rule.RULE.code).applies_to for rule in VALUE_RULES} == {"values"}


def test_each_rule_has_a_module_or_a_name_in_one_of_codes():
    judges = (
        RULES,
        LINK_RULES,
        CHART_RULES,
        TEMPLATE_RULES,
        TEXT_RULES,
        BESIDE_RULES,
        VALUE_RULES,
        PRIVILEGE_RULES,
        SETUP_RULES,
    )
    named = {*CODE_BOOK, *GRANT_RULE_INFOS, *(rule.RULE for rules in judges for rule in rules)}

    assert sorted(rule.code for rule in named) == [rule.code for rule in rule_book()]


def test_the_book_is_the_sum_of_its_modules():
    of_modules = [rule.code for name in FAMILIES for rule in entries_of(getattr(codes, name))]

    assert sorted(rule.code for rule in CODE_BOOK) == sorted(of_modules)


@pytest.mark.parametrize("rule", (*RULES, *VALUE_RULES), ids=lambda rule: rule.RULE.name)
def test_a_rule_has_a_file_of_its_name_one_that_passes_and_one_that_fails(rule):
    folder = REPOSITORY / "tests/guard/rules/examples" / rule.RULE.name

    assert Path(rule.__file__).stem == rule.RULE.name.replace("-", "_")
    assert list((folder / "pass").rglob("*.yaml"))
    assert list((folder / "fail").rglob("*.yaml"))
    assert [
        path
        for path in (folder / "fail").rglob("*")
        if path.suffix == ".txt" or (path.is_file() and "\n# expected: " in path.read_text("utf-8"))
    ]


@pytest.mark.parametrize("rule", rule_book(), ids=lambda rule: rule.code)
def test_a_rule_says_what_and_why_in_a_sentence(rule):
    assert rule.what.endswith(".")
    assert rule.why.endswith(".")


HOSTS = frozenset(
    (
        "ghcr.io",
        "argo-cd.readthedocs.io",
        "registry.example.com",
        "fluxcd.io",
        "kyverno.io",
        "www.checkov.io",
        "www.conftest.dev",
        "docs.nvidia.com",
        "git.example.com",
        "github.com",
        "helm.ngc.nvidia.com",
        "kubernetes-sigs.github.io",
        "docs.oasis-open.org",
        "json-schema.org",
        "developer.nvidia.com",
        "host",
        "kubernetes.default",
        "kubernetes.default.svc",
        "127.0.0.1",
        "kubernetes.io",
        "nvidia.github.io",
        "wiki.nixos.org",
        "registry.k8s.io",
        "prometheus.io",
        "www.apache.org",
    )
)
"""Of upstream projects, standards and examples. A package index is none of them: the project installs from any."""
HOST = re.compile(r"(?:https?|oci)://([A-Za-z0-9.-]+)")
MACHINE = re.compile(rf"(?<![\w.-]){re.escape(str(REPOSITORY))}\b")
TEXT = (".py", ".md", ".yaml", ".yml", ".json", ".toml", ".j2", ".lock", "")


FOLDERS = ("generator", "docs", "profiles", "output", "policies")


def lines_of(folder):
    for path in sorted((REPOSITORY / folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix in TEXT:
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                yield f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()[:100]}", line


@pytest.mark.rows(2, "a row takes 0.3 s; each value of each column is seen first")
@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_names_the_folder_that_it_was_made_in(folder):
    assert [shown for shown, line in lines_of(folder) if MACHINE.search(line)] == []


@pytest.mark.rows(2, "a row takes 0.32 s; each value of each column is seen first")
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_host_that_is_named_is_one_that_a_user_would_expect(folder):
    assert [shown for shown, line in lines_of(folder) if not HOSTS.issuperset(HOST.findall(line))] == []
