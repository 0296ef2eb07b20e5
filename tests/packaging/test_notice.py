"""NOTICE names whatever poolsmith restates or depends on, with the licence that the installed package itself states."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path

import pytest

from tools.locked_packages import locked_packages
from tools.make_sbom import licences

ROOT = Path(__file__).resolve().parents[2]
NOTICE = (ROOT / "NOTICE").read_text("utf-8")
KNOWN = licences(ROOT / "NOTICE")
LOCKED = {package.name: package for package in locked_packages(ROOT / "requirements.lock")}
RUN = {package.name for package in locked_packages(ROOT / "requirements-run.lock")}
OLD_NAMES = {
    "MIT": ("MIT", "MIT License"),
    "BSD-2-Clause": ("BSD 2-Clause License", "BSD License", "BSD-2-Clause"),
    "BSD-3-Clause": ("BSD", "BSD License", "BSD-3-Clause"),
    "Apache-2.0": ("Apache-2.0", "Apache 2.0", "Apache Software License"),
    "MPL-2.0": ("MPL-2.0", "MPL 2.0", "Mozilla Public License 2.0 (MPL 2.0)"),
    "PSF-2.0": ("PSF-2.0", "Python Software Foundation License"),
}
"""What packages write that have no SPDX expression yet."""


def test_each_locked_package_has_its_line_and_no_other_has_one():
    assert KNOWN.keys() == LOCKED.keys()


def test_what_users_install_is_told_apart():
    assert {name for name, (_, purpose) in KNOWN.items() if purpose in ("run with it", "build it")} == RUN


@pytest.mark.parametrize("name", sorted(LOCKED))
def test_the_licence_is_what_the_package_states(name):
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        assert LOCKED[name].marker, f"{name} is in the lock and not installed"
        return
    told = found.metadata
    classes = [
        item.rpartition("::")[2].strip() for item in told.get_all("Classifier") or () if item.startswith("License")
    ]
    old = {text for text in (told.get("License") or "", *classes) if text and "\n" not in text}
    licence, _ = KNOWN[name]

    if expression := told.get("License-Expression"):
        assert licence == expression
    else:
        old = old or {_title(found)}
        assert old <= set(OLD_NAMES[licence])


def _title(found):
    """The first line of the licence itself, of a package whose metadata tell nothing."""
    (path,) = (item for item in found.files or () if item.parent.name == "licenses" or item.name == "LICENSE")
    return path.read_text("utf-8").splitlines()[0].strip()


def needs(name, extras=()):
    """The requirements of an installed package that apply somewhere, by name."""
    for text in metadata.distribution(name).requires or ():
        extra = re.search(r"extra == ['\"](\S+?)['\"]", text)
        if extra is None or extra[1] in extras:
            yield re.split(r"[^\w.-]", text, maxsplit=1)[0].lower().replace("_", "-")


def test_what_runs_with_it_is_all_that_its_packages_ask_for():
    waiting, found = ["click", "pyyaml", "rich", "cel-expr-python", "google-re2"], set()
    while waiting:
        name = waiting.pop()
        if name not in found and name in RUN:
            found.add(name)
            waiting += needs(name)

    assert {name for name, (_, purpose) in KNOWN.items() if purpose == "run with it"} == found


def sources():
    """Repositories that catalog entries name as their source; pages of rules only refer to them."""
    for path in sorted((ROOT / "generator/poolsmith/data").rglob("*")):
        if path.suffix in (".yaml", ".json") and not {"compiled", "rules"} & set(path.parts):
            yield from re.findall(r"([A-Za-z0-9][\w.-]*/[\w.-]+)@[\w.-]+:", path.read_text("utf-8"))


def test_each_source_of_the_catalog_and_of_what_was_recorded_is_named():
    recorded = (ROOT / "tests/recorded/README.md").read_text("utf-8")
    projects = set(
        re.findall(
            r"(?<![\w/])((?:NVIDIA|argoproj|confidential-containers|kubernetes|kubernetes-sigs|yannh)/[\w-]+)", recorded
        )
    )

    assert {name for name in {*sources(), *projects} if name not in NOTICE} == set()
    assert json.dumps(NOTICE)
