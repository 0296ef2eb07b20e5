"""The picture of a diff: the HTML report of a change to the sample fleet, as a browser shows it.

`make picture` writes `docs/images/diff-light.png`, `diff-dark.png` and `diff.sha256`: the digest of what they show. It
needs git and chromium.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from poolsmith.interface.app.diff import DiffOptions, diff
from poolsmith.interface.app.fleet_facts import fleet_facts
from poolsmith.interface.app.generate import generate
from poolsmith.interface.report.formats import ReportContext
from poolsmith.interface.report.html import diff_report

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
DIGEST = IMAGES / "diff.sha256"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

_CHANGE = (
    (
        "profiles/edge/cluster.yaml",
        "    release: v26.7.0\n",
        "    release: v26.7.0\n    values: {dcgmExporter: {hostNetwork: true}}\n",
    ),
    ("profiles/prod-eu/a100-mig.yaml", "580.126.20", "580.178.04"),
)
"""File, what stands there, and what the change makes of it."""
_TODAY = dt.date(2026, 1, 1)
_WIDTH, _HEIGHT, _SCALE = 1240, 760, 2
_COMMIT = re.compile(r"\b[0-9a-f]{12}\b")


def report() -> str:
    """The report of the change, made in a repository of its own."""
    with TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("profiles", "policies", "output"):
            shutil.copytree(ROOT / folder, root / folder)
        _git(root, "init", "--quiet", "--initial-branch=main")
        _git(root, "add", "--all")
        _git(root, "-c", "user.name=poolsmith", "-c", "user.email=poolsmith@example.com", "commit", "-qm", "base")
        for path, before, after in _CHANGE:
            file = root / path
            text = file.read_text("utf-8")
            assert text.count(before) == 1, f"{path} no longer has {before!r} once"
            file.write_text(text.replace(before, after), "utf-8")
        generate(root)
        change = diff(root, DiffOptions(today=_TODAY, base="main"))
        return diff_report(change, ReportContext(tool="poolsmith", fleet=fleet_facts(root)))


def digest(html: str) -> str:
    """Of what the picture shows: the style, the sentence at the top, and the change."""
    style = html[html.index("<style>") : html.index("</style>")]
    shown = html[html.index("<main") : html.index('<section id="findings"')]
    return hashlib.sha256(_COMMIT.sub("", style + shown).encode()).hexdigest()


def main() -> int:
    from playwright.sync_api import sync_playwright

    html = report()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no chromium on PATH", file=sys.stderr)
        return 1
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        page_file = Path(folder) / "report.html"
        page_file.write_text(_COMMIT.sub("4f1c2ab9d3e7", html), "utf-8")
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            page = running.new_page(
                viewport={"width": _WIDTH, "height": _HEIGHT}, device_scale_factor=_SCALE, color_scheme=theme
            )
            page.goto(page_file.as_uri())
            page.screenshot(path=IMAGES / f"diff-{theme}.png")
        running.close()
    DIGEST.write_text(f"{digest(html)}\n", "utf-8")
    return 0


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
