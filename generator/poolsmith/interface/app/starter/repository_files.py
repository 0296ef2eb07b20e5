"""Files by which a repository runs poolsmith, names who approves, and folds what nobody applies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.change.review.git_attributes import FOLDED
from poolsmith.core.record import record
from poolsmith.project.run.surroundings import Forge

if TYPE_CHECKING:
    from poolsmith.project.run.surroundings import Surroundings

_COMMIT = "<full commit id>"
_BLANK = re.compile(r'[:@] ?"?<')
_OWNER_PLACES = ("CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")


@record
class RepositoryFile:
    """`lines` are what a file that exists already should have; `others`: paths where one may stand instead."""

    path: str
    text: str
    lines: str
    others: tuple[str, ...] = ()
    to_fill: str = ""


def repository_files(around: Surroundings, branch: str) -> tuple[RepositoryFile, ...]:
    """What the forge understands; without one that is known, no pipeline."""
    pipeline = {Forge.GITHUB: _github, Forge.GITLAB: _gitlab}.get(around.forge)
    return (
        _hooks(around),
        *((pipeline(around, branch),) if pipeline is not None else ()),
        _owners(around.forge),
        _attributes(around.forge),
    )


def _hooks(around: Surroundings) -> RepositoryFile:
    tool = around.tool
    if tool is not None:
        lines = f"  - repo: {tool.value}\n    rev: {tool.source}\n    hooks:\n" + "".join(
            f"      - id: {hook}\n" for hook, _, _ in _HOOKS
        )
        note = "poolsmith at the commit that made this file"
    else:
        lines = "  - repo: local\n    hooks:\n" + "".join(_LOCAL.format(*hook) for hook in _HOOKS)
        note = "whatever poolsmith is on PATH; docs/ci.md of poolsmith has the hooks that install a commit of it"
    return RepositoryFile(
        path=".pre-commit-config.yaml", text=f"# pre-commit runs {note}.\nrepos:\n{lines}", lines=lines
    )


_HOOKS = (
    ("poolsmith-generate", "generate GPU manifests from profiles", "poolsmith generate --hook"),
    ("poolsmith-check", "check GPU profiles and generated manifests", "poolsmith check"),
)
_LOCAL = """\
      - id: {0}
        name: {1}
        entry: {2}
        language: system
        always_run: true
        pass_filenames: false
        require_serial: true
"""


def _github(around: Surroundings, branch: str) -> RepositoryFile:
    text = Path(__file__).with_name("github_workflow.yaml").read_text("utf-8")
    repository, commit = _tool(around)
    text = text.replace("branches: [main]", f'branches: ["{branch}"]')
    text = text.replace("uses: example/poolsmith", f"uses: {repository}").replace(f"@{_COMMIT}", f"@{commit}")
    return RepositoryFile(path=".github/workflows/profiles.yaml", text=text, lines="", to_fill=_blanks(text))


def _tool(around: Surroundings) -> tuple[str, str]:
    """Owner and name on GitHub, and the commit; what is not known is left to be filled in."""
    tool = around.tool
    if tool is None or not tool.value.startswith("https://github.com/"):
        return "<owner>/poolsmith", _COMMIT
    return tool.value.removeprefix("https://github.com/").removesuffix("/").removesuffix(".git"), tool.source


def _gitlab(around: Surroundings, branch: str) -> RepositoryFile:
    del branch  # a merge request names its own
    text = Path(__file__).with_name("gitlab_pipeline.yaml").read_text("utf-8")
    address, commit = (around.tool.value, around.tool.source) if around.tool else ("<address of poolsmith>", _COMMIT)
    text = text.replace("https://git.example.com/poolsmith.git", address).replace(_COMMIT, commit)
    return RepositoryFile(path=".gitlab-ci.yml", text=text, lines=text, to_fill=_blanks(text))


def _blanks(text: str) -> str:
    """What is left to fill in, in words; empty where nothing is."""
    numbers = [str(number) for number, line in enumerate(text.splitlines(), 1) if _BLANK.search(line)]
    return f"what stands in `<` and `>`, in lines {', '.join(numbers)}" if numbers else ""


def _owners(forge: Forge) -> RepositoryFile:
    folder = {Forge.GITHUB: ".github/", Forge.GITLAB: ".gitlab/"}.get(forge, "")
    pipeline = "/.gitlab-ci.yml" if forge is Forge.GITLAB else "/.github/"
    rows = [
        ("*", "@<those who run the clusters>"),
        (pipeline, "@<those who answer for privileges>"),
        ("/policies/", "@<those who answer for privileges>"),
        ("/.pre-commit-config.yaml", "@<those who answer for privileges>"),
    ]
    if folder != ".github/":
        rows.append((f"/{folder}CODEOWNERS", "@<those who answer for privileges>"))
    lines = "".join(f"# {pattern:<24} {owner}\n" for pattern, owner in rows)
    return RepositoryFile(
        path=f"{folder}CODEOWNERS",
        text=f"{_OWNERS}{lines}",
        lines=lines,
        others=tuple(place for place in _OWNER_PLACES if place != f"{folder}CODEOWNERS"),
        to_fill="who approves what: nobody does until its lines have owners",
    )


_OWNERS = """\
# Who has to approve a change of what. The last line that matches counts. Write owners, and take the `# ` away.
"""


def _attributes(forge: Forge) -> RepositoryFile:
    attribute = "gitlab-generated" if forge is Forge.GITLAB else "linguist-generated"
    lines = "".join(f"{pattern} {attribute}\n" for pattern in FOLDED)
    return RepositoryFile(path=".gitattributes", text=f"{_ATTRIBUTES}{lines}", lines=lines)


_ATTRIBUTES = """\
# Folded in reviews: what is generated and nobody applies. `poolsmith generate --check` compares it with the profiles.
# Not folded, because it is for reading: privileges.yaml, images.yaml, and all that a cluster applies.
"""
