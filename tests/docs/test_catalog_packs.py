"""The page on packs of facts, from a fresh project to a refused pack."""

from __future__ import annotations

import json
import shutil
import subprocess

from gpu.catalog.test_packs import renamed
from gpu.catalog.test_table_packs import CVE, chart, known_values
from support.older_catalog import put
from support.walks import ROOT, Shell, walk

NAME = "gpu-operator-26-7-1"


def test_the_page_runs_from_start_to_end(tmp_path):
    shell = Shell(tmp_path, tmp_path / "gpu-fleet")
    for line in (
        "git init --quiet --initial-branch main",
        "git remote add origin https://git.example.com/gpu.git",
        "poolsmith init lab",
        "poolsmith generate",
        "git add --all",
        "git -c user.name=me -c user.email=me@example.com commit --quiet --message base",
    ):
        shell(line)
    files = {path: text.replace(b"taken-out", NAME.encode()) for path, text in renamed(to="v26.7.1").items()}
    folder = put(tmp_path / "made", files, NAME)
    archive = shell.folder / f"{NAME}.tgz"
    subprocess.run([shutil.which("tar"), "czf", archive, "-C", folder.parent, NAME], check=True)
    (shell.folder / "toolkit-cve.json").write_text(json.dumps(CVE))
    kata = chart(tmp_path, "kata-deploy", "4.2.0", known_values("kata-deploy", "4.1.0"))
    subprocess.run(
        [shutil.which("tar"), "czf", shell.folder / "kata-deploy-4.2.0.tgz", "-C", tmp_path, kata.name], check=True
    )
    assert walk(ROOT / "docs/catalog-packs.md", shell) > 10, "the page has lost its commands"
