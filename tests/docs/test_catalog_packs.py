"""The page on packs of facts, from a fresh project to a refused pack."""

from __future__ import annotations

import shutil
import subprocess

from docs.test_tutorial import ROOT, as_expected, blocks_of, commands_of, shell  # noqa: F401 - the fixture

from catalog.test_packs import renamed
from support.older_catalog import put

PAGE = ROOT / "docs/catalog-packs.md"
NAME = "gpu-operator-26-7-1"


def test_the_page_runs_from_start_to_end(shell, tmp_path):  # noqa: F811 - the fixture
    for line in (
        "git init --quiet --initial-branch main",
        "git remote add origin https://git.example.com/gpu.git",
        "poolsmith init lab",
        "poolsmith generate",
        "git add --all",
        "git -c user.name=me -c user.email=me@example.com commit --quiet --message base",
    ):
        print(shell(line))
    files = {path: text.replace(b"taken-out", NAME.encode()) for path, text in renamed().items()}
    folder = put(tmp_path / "made", files, NAME)
    archive = shell.folder / f"{NAME}.tgz"
    subprocess.run([shutil.which("tar"), "czf", archive, "-C", folder.parent, NAME], check=True)
    ran = 0
    for block in blocks_of(PAGE.read_text("utf-8")):
        if block.info.split()[0] != "console":
            continue
        for command in commands_of(block):
            printed = shell(command.text)
            ran += 1
            shown = "\n".join(command.expected)
            assert as_expected(command.expected, printed), (
                f"{command.line}: `{command.text}` printed\n{printed}\n{shown}"
            )
    assert ran > 10, "the page has lost its commands"
