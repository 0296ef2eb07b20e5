"""docs/editor.md: its commands and its session are run, and the editors' settings call what there is."""

from __future__ import annotations

import json
import sys
import tomllib

import pytest

from docs import editor_words
from interface.app.editor.client import Editor
from support.walks import ROOT, blocks_of, sample_shell, walk

PAGE = ROOT / "docs/editor.md"
BLOCKS = {block.info.split()[0]: block.body for block in blocks_of(PAGE.read_text("utf-8"))}


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return sample_shell(tmp_path_factory.mktemp("page").resolve())


def test_the_commands_of_the_page_print_what_it_says(shell):
    assert walk(PAGE, shell) > 2, "the page has lost its commands"


def test_the_session_of_the_page_is_answered_as_it_says(shell):
    with Editor(shell.folder) as editor:
        editor.open_folder()
        lines = BLOCKS["lsp"].splitlines()
        for asked, told in zip(lines[::2], lines[1::2], strict=True):
            method, params = asked.removeprefix("> ").split(" ", 1)
            given = json.loads(params)
            path = given["textDocument"]["uri"]
            editor.open_file(path)
            given["textDocument"]["uri"] = (shell.folder / path).as_uri()
            answer = json.dumps(editor.ask(method, **given), ensure_ascii=False)

            assert told.removeprefix("< ") in answer


def test_the_settings_start_the_verb():
    assert tomllib.loads(BLOCKS["toml"])["language-server"]["poolsmith"] == {"command": "poolsmith", "args": ["lsp"]}
    assert 'cmd = { "poolsmith", "lsp" }' in BLOCKS["lua"]


def test_the_page_says_what_completes(assert_table, tmp_path):
    root = tmp_path.resolve()
    editor_words.write_schemas(root)
    ours = editor_words.answered(root, (sys.executable, "-m", "poolsmith", "lsp"))
    lines = ["| of | known | yaml-language-server | `poolsmith lsp` |", "|---|---|---|---|"]
    lines += [
        f"| {one.what} | {len(one.known)} | {editor_words.THEIRS[one.what]} | {ours[one.what]} |"
        for one in editor_words.questions()
    ]

    assert_table(PAGE, "completes", lines)


@pytest.mark.tool(editor_words.TOOL)
def test_the_real_yaml_language_server_offers_as_many(tmp_path):
    root = tmp_path.resolve()
    editor_words.write_schemas(root)

    assert editor_words.answered(root, (editor_words.TOOL, "--stdio")) == editor_words.THEIRS
