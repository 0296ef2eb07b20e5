"""The sample fleet as a Git repository, and what poolsmith says of a pull request to it.

A pull request is a change of files, `generate` as its author would run it, a commit, and `check --policies-from`
the base. All of it is real, but for the processes: poolsmith runs in this one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from support.git_repository import git
from support.yaml_edits import read_yaml, write_yaml

REPOSITORY = Path(__file__).resolve().parents[2]
TODAY = "2026-11-20"
"""The sample's grants and waivers end one day; these tests don't."""
_SHARED = ("policies", "profiles/_bases", "profiles/_schemas")
_JUDGE = {
    ".github/CODEOWNERS": "/policies/ @example/reviewers\n/.github/ @example/reviewers\n",
    ".github/workflows/docs.yaml": 'name: docs\n"on": [push]\npermissions: {}\njobs: {}\n',
    "README.md": "# GPU fleet\n",
    "docs/runbook.md": "# Runbook\n",
}
_STEERS_REPORTS = ("GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR")


@dataclass(frozen=True)
class Change:
    """What one pull request does.

    `gain` is a pattern that a finding must have in its words, `where` one for its file. `cluster` names the one
    cluster that the fleet is cut down to; without it the fleet is whole. An author of output `by_hand` does not
    run `generate`.
    """

    name: str
    edit: Callable[[Path], None]
    gain: str = "."
    where: str = "."
    cluster: str | None = None
    by_hand: bool = False
    kind: str = ""
    values: tuple[tuple[str, object], ...] = ()
    """The Helm values that are set, for changes that set nothing else."""
    is_odd: bool = False
    """Whether it leaves an index or attributes behind with which git no longer checks everything out."""

    def __str__(self):
        return self.name


@dataclass(frozen=True)
class Finding:
    """An error of a report."""

    rule: str
    place: str
    words: str


@dataclass(frozen=True)
class Verdict:
    """What became of a pull request: exit codes, and the errors of `check`."""

    generate: int
    check: int
    errors: tuple[Finding, ...] = ()
    told: str = ""
    out_of_date: int = field(default=0)

    @property
    def counts_more(self):
        """Whether settings are counted beside those that are named: one finding names the first few."""
        return any(
            re.search(r"and \d+ more", error.words) for error in self.errors if error.rule == "unaccepted-setting"
        )

    def names(self, change):
        """The findings that say what is gained, and where."""
        return [
            finding
            for finding in self.errors
            if re.search(change.where, finding.place)
            and (re.search(change.gain, finding.words, re.IGNORECASE) or _is_taken(finding, change))
        ]


class Fleet:
    """A repository with one base commit, to which pull requests are made one after the other."""

    def __init__(self, root, clusters=None):
        self.root = root
        _copy(root, clusters)
        git(root, "init", "-q", "-b", "main")
        if clusters is not None:
            code, out = _poolsmith(root, "generate")
            assert code == 0, out
        git(root, "add", "-A", "-f")
        git(root, "commit", "-q", "-m", "base")
        self.base = git(root, "rev-parse", "HEAD")
        self._is_odd = False

    def propose(self, change):
        """The verdict on a change."""
        self._reset()
        self._is_odd = change.is_odd
        change.edit(self.root)
        generated = 0 if change.by_hand else _poolsmith(self.root, "generate")[0]
        git(self.root, "add", "-A", "-f")
        git(self.root, "commit", "-q", "--allow-empty", "-m", change.name)
        return self.judge(generated)

    def judge(self, generated=0):
        """The verdict on what is committed."""
        code, out = _poolsmith(self.root, "check", "--policies-from", self.base, "--format", "json", "--today", TODAY)
        return Verdict(generated, code, errors_of(out), out)

    def is_current(self):
        """Whether the committed output is what the profiles generate."""
        return _poolsmith(self.root, "generate", "--check")[0] == 0

    def _reset(self):
        for name in (".git/index", ".gitattributes") if self._is_odd else ():
            (self.root / name).unlink(missing_ok=True)
        self._is_odd = False
        git(self.root, "reset", "-q", "--hard", self.base)
        git(self.root, "clean", "-q", "-ffdx")


def _is_taken(finding, change):
    """Whether the value itself is refused, by its path: by profiles, or because a release can't take it."""
    paths = [path for path, _ in change.values]
    if finding.rule == "values-do-not-render":
        return any(f".Values.{path.removeprefix('node-feature-discovery.')}>" in finding.words for path in paths)
    taken = finding.rule in ("value-taken", "ignored-value", "field-without-effect")
    return taken and any(finding.words.startswith(f"`{path}`") for path in paths)


def errors_of(report):
    """The errors in a JSON report; none where the run ended before it wrote one."""
    start = report.find("{")
    if start < 0:
        return ()
    try:
        diagnostics = json.loads(report[start:])["diagnostics"]
    except ValueError:
        return ()
    return tuple(
        Finding(item["name"], _places(item), f"{item['message']} {item.get('subject') or ''} {item.get('help') or ''}")
        for item in diagnostics
        if item["severity"] == "error" and item["status"] == "open"
    )


def _places(item):
    return " ".join(place["path"] for place in (item["primary"], *item["related"]) if place)


def _copy(root, clusters):
    shown = clusters or sorted(path.name for path in (REPOSITORY / "profiles").iterdir() if path.name[0] != "_")
    for folder in (*_SHARED, *(f"profiles/{name}" for name in shown), *(() if clusters else ("output",))):
        shutil.copytree(REPOSITORY / folder, root / folder)
    for path, text in {**_JUDGE, ".github/workflows/profiles.yaml": _workflow()}.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (root / ".pre-commit-config.yaml").write_text(_fence("docs/ci.md", ".pre-commit-config.yaml"))


def _workflow():
    return _fence("docs/github.md", ".github/workflows/profiles.yaml")


def _fence(page, file):
    """The example of a page of the documentation that begins with the name of its file."""
    text = (REPOSITORY / page).read_text()
    found = re.search(rf"```yaml\n(# {re.escape(file)}\n.*?)```", text, re.DOTALL)
    assert found, f"{page} has no example of {file}"
    return found[1]


def _poolsmith(root, *arguments):
    """Exit code and what was written to standard output."""
    from poolsmith.interface.cli.main import _run

    out = io.StringIO()
    kept = {name: os.environ.pop(name) for name in _STEERS_REPORTS if name in os.environ}
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.chdir(root):
            code = _run([*arguments, "--jobs", "1"])
    finally:
        os.environ.update(kept)
    return int(code), out.getvalue()


def cluster_edit(cluster, **fields):
    """An edit of dotted fields of a cluster's profile."""
    return document_edit(f"profiles/{cluster}/cluster.yaml", {key.replace("__", "."): v for key, v in fields.items()})


def document_edit(path, fields):
    """An edit that sets dotted fields below `spec` of a file."""

    def edit(root):
        document = read_yaml(root / path)
        for dotted, value in fields.items():
            put(document["spec"], dotted.split("."), value)
        write_yaml(root / path, document)

    return edit


def values_edit(cluster, values):
    """An edit that sets Helm values of a cluster, by their dotted paths."""
    return document_edit(
        f"profiles/{cluster}/cluster.yaml", {f"stack.values.{path}": value for path, value in values.items()}
    )


def put(node, keys, value):
    """Set a value below nested maps."""
    *above, last = keys
    for key in above:
        node = node.setdefault(key, {})
    node[last] = value


def text_edit(path, text, *, append=False):
    """An edit that writes a file."""

    def edit(root):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((target.read_text() if append else "") + text)

    return edit


def replaced(path, old, new, count=-1):
    """An edit that replaces text that must be there."""

    def edit(root):
        target = root / path
        text = target.read_text()
        assert old in text, f"{path} has no {old!r}"
        target.write_text(text.replace(old, new, count))

    return edit


def both(*edits):
    """Edits one after the other."""

    def edit(root):
        for one in edits:
            one(root)

    return edit
