"""The pictures of the documentation: the HTML report of a change to the sample fleet and the page of a pool, as a browser
shows them.

`make picture` writes `docs/images/NAME-WIDTH-THEME.webp`, and `diff.sha256`: the digest of what they show. It needs git and
chromium.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from poolsmith.interface.app.diff import DiffOptions, diff
from poolsmith.interface.app.fleet_facts import fleet_facts
from poolsmith.interface.app.fleet_site import SiteOptions, site_facts
from poolsmith.interface.app.generate import generate
from poolsmith.interface.report.formats import ReportContext
from poolsmith.interface.report.html import diff_report
from poolsmith.interface.report.site.pages import pages

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
DIGEST = IMAGES / "diff.sha256"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

_CHANGE = (
    ("profiles/prod-eu/cluster.yaml", "    release: v26.3.3\n", "    release: v26.7.0\n"),
    ("profiles/prod-eu/cluster.yaml", "      dcgmExporter:\n", "      dcgmExporter:\n        hostNetwork: true\n"),
)
"""File, what stands there, and what the change makes of it: a release, and a line that hides behind it."""
_NEW_POOL = (
    "profiles/edge/l4.yaml",
    "profiles/edge/b200.yaml",
    (("name: l4\n", "name: b200\n"), ("NVIDIA-L4", "NVIDIA-B200")),
)
_TODAY = dt.date(2026, 1, 1)
SIZES = ((1280, 900), (390, 844))
THEMES = ("light", "dark")
_DIFF, _POOL = "diff", "pool"
SHOTS = (
    ("diff", _DIFF, ""),
    ("matrix", _DIFF, "#matrix"),
    ("roll-out", _DIFF, "#roll-out"),
    ("map", _DIFF, "#map"),
    ("pool", _POOL, ""),
)
"""Name, page, and the part of it that is shown; empty: what fits on a screen."""
_COMMIT = re.compile(r"\b[0-9a-f]{12}\b")


def report() -> str:
    """The report of the change, made in a repository of its own."""
    return texts()[_DIFF]


def texts() -> dict[str, str]:
    """The pages that pictures are of."""
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
        model, new, changes = _NEW_POOL
        text = (root / model).read_text("utf-8")
        for before, after in changes:
            text = text.replace(before, after)
        (root / new).write_text(text, "utf-8")
        generate(root)
        change = diff(root, DiffOptions(today=_TODAY, base="main"))
        context = ReportContext(tool="poolsmith", fleet=fleet_facts(root))
        site = dict(pages(site_facts(root, SiteOptions(today=_TODAY, since="HEAD")), ReportContext(tool="poolsmith")))
        return {_DIFF: diff_report(change, context), _POOL: site["clusters/prod-eu/pools/h100-rhel.html"]}


def digest(html: str) -> str:
    """Of what the pictures show: the style, the sentence at the top, the change and the map."""
    style = html[html.index("<style>") : html.index("</style>")]
    shown = html[html.index("<main") : html.index('<section id="findings"')]
    fleet = html[html.index('id="map"') : html.index('<details id="fleet_')]
    return hashlib.sha256(_COMMIT.sub("", style + shown + fleet).encode()).hexdigest()


def main() -> int:
    from playwright.sync_api import sync_playwright

    made = texts()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no chromium on PATH", file=sys.stderr)
        return 1
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        for name, html in made.items():
            (Path(folder) / f"{name}.html").write_text(_COMMIT.sub("4f1c2ab9d3e7", html), "utf-8")
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for width, height in SIZES:
            for theme in THEMES:
                _shoot(running, Path(folder), (width, height), theme)
        running.close()
    DIGEST.write_text(f"{digest(made[_DIFF])}\n", "utf-8")
    return 0


_SMALL = """async (png) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    return canvas.toDataURL("image/webp", 0.82).split(",")[1];
}"""
"""A third of the size; the letters stay sharp enough to be read."""


def _shoot(running: Any, folder: Path, size: tuple[int, int], theme: str) -> None:
    width, height = size
    page, encoder = (
        running.new_page(viewport={"width": width, "height": height}, color_scheme=theme),
        running.new_page(),
    )
    for name, kind, part in SHOTS:
        page.goto((folder / f"{kind}.html").as_uri())
        taken = {}
        if part:
            box = page.locator(part).bounding_box()
            clip = {"x": 0, "y": box["y"], "width": width, "height": min(box["height"], 1.2 * height)}
            taken = {"clip": clip, "full_page": True}
        png = base64.b64encode(page.screenshot(**taken)).decode()
        (IMAGES / f"{name}-{width}-{theme}.webp").write_bytes(base64.b64decode(encoder.evaluate(_SMALL, png)))
    page.close()
    encoder.close()


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
