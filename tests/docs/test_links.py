"""Nothing in the docs points nowhere: links, repository paths, verbs, flags and codes."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from poolsmith.core.diagnostics.known_rules import RETIRED
from poolsmith.guard.rules.rule_book import rule_book
from poolsmith.interface.cli.verbs import VERBS, cli

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|mailto:)(?P<target>[^)\s]+)\)")
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_TOP = ("docs/", "generator/", "profiles/", "output/", "policies/", "tests/", ".github/", ".ci/")
_PLACEHOLDER = re.compile(r"[<>*{}$…]|\.\.\.|\s")
_FILES_AT_THE_TOP = re.compile(r"\.?[A-Za-z][A-Za-z-]*\.(?:md|toml|lock)|\.pre-commit-[a-z]+\.yaml|Makefile")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_NAMES_OF_PROJECTS = {"lab"}
"""The tutorial's cluster: its files are made while it runs."""
_OUR_COMMAND = re.compile(r"(?<![\w/.-])poolsmith (?P<rest>[^`\n|;&)]*)")


def pages():
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def anchors(page):
    """The ids that GitHub gives to headings."""
    titles = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def made_by(page):
    """Files that readers make as the page says."""
    return set(re.findall(r"^```\w+ file=(\S+)", page.read_text("utf-8"), re.MULTILINE))


def flags_of(verb):
    command = importlib.import_module(f"poolsmith.interface.cli.{VERBS[verb][0]}").command
    parts = (command, *getattr(command, "commands", {}).values())
    parameters = [parameter for part in parts for parameter in part.params]
    names = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
    return {name for name in names if name.startswith("--")} | {"--help"}


@pages()
def test_links_lead_somewhere(page):
    for match in _LINK.finditer(_FENCE.sub("", page.read_text("utf-8"))):
        path, _, anchor = match["target"].partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {match['target']}"
        assert target.is_relative_to(ROOT), f"{page.name}: {match['target']} leaves the repository"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {match['target']} has no such heading"


@pages()
def test_paths_in_backticks_exist(page):
    for text in _CODE.findall(_FENCE.sub("", page.read_text("utf-8"))):
        if _PLACEHOLDER.search(text) or _NAMES_OF_PROJECTS & set(text.split("/")):
            continue
        if text.startswith(_TOP) or _FILES_AT_THE_TOP.fullmatch(text):
            path = re.split("#|::", text)[0]
            beside = (page.parent / path).exists() or text in ("uv.lock", "README.md")
            assert beside or (ROOT / path).exists() or path in made_by(page), f"{page.name}: `{text}`"


@pages()
def test_verbs_and_their_flags_exist(page):
    """A command line starts at a `$ ` or stands in backticks; prose says `poolsmith` with other words after it."""
    text = page.read_text("utf-8")
    lines = [
        *_CODE.findall(_FENCE.sub("", text)),
        *re.findall(r"^(?:\$ |\s*(?:- )?run: )(.*)$", text, re.MULTILINE),
    ]
    for line in lines:
        for match in _OUR_COMMAND.finditer(line):
            words = match["rest"].split()
            if not words or re.fullmatch(r"\d+(\.\d+)+|@", words[0]):
                continue
            if words[0].startswith("-"):
                assert words[0] in {"--version", "--help"}, f"{page.name}: {line}"
                continue
            assert words[0] in VERBS, f"{page.name}: {line}"
            used = {flag for word in words[1:] for flag in _FLAG.findall(word)}
            assert used <= flags_of(words[0]), f"{page.name}: {line}"


@pages()
def test_flags_in_backticks_exist(page):
    known = {flag for verb in VERBS for flag in flags_of(verb)} | {"--version"}
    for text in _CODE.findall(_FENCE.sub("", page.read_text("utf-8"))):
        if text.startswith("--"):
            assert set(_FLAG.findall(text)) <= known, f"{page.name}: `{text}`"


@pages()
def test_codes_exist(page):
    known = {rule.code for rule in rule_book()} | {code for code, _, _ in RETIRED}
    known |= set(re.findall(r"^(PSM\d{3}):$", page.read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bPSM\d{3}\b", page.read_text("utf-8"))) <= known


def test_every_page_is_reached_from_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    reached = {target for page in PAGES for target in _LINK.findall(page.read_text("utf-8"))}
    names = {Path(target.partition("#")[0]).name for target in reached} | set(re.findall(r"docs/(\w+\.md)", readme))
    assert {page.name for page in PAGES if page.parent.name == "docs"} <= names


def test_the_verbs_are_those_of_the_command_line():
    assert set(cli.list_commands(None)) == set(VERBS)
