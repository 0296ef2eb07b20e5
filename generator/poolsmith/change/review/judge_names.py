"""Which files of a repository may have to do with its check, by their names.

All names are compared in lower case: where a file system does not tell cases apart, neither does what runs there.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from fnmatch import translate


class Part(Enum):
    """What a file may decide."""

    APPROVAL = auto()
    """Who has to approve a change, or what merges it."""
    VIEW = auto()
    """What reviewers and delivery engines see of the repository."""
    ATTRIBUTES = auto()
    """.gitattributes"""
    PIPELINE = auto()
    """What runs on pull requests."""
    HOOK = auto()
    """What runs on commits, or is offered to run there."""
    BOT = auto()
    """What proposes changes of its own."""
    PIN = auto()
    """What gets installed, and which commands do what."""


_BY_PATH: tuple[tuple[Part, tuple[str, ...]], ...] = (
    (
        Part.APPROVAL,
        (
            "codeowners",
            ".github/codeowners",
            "docs/codeowners",
            ".gitlab/codeowners",
            ".gitea/codeowners",
            ".forgejo/codeowners",
            ".mergify.y*ml",
            ".github/mergify.y*ml",
            ".mergify/*",
            ".kodiak.toml",
            ".github/.kodiak.toml",
            ".policy.y*ml",
            ".bulldozer.y*ml",
            "bors.toml",
            ".github/bors.toml",
            ".github/settings.y*ml",
            ".github/rulesets/*",
            ".github/branch*protection*",
            ".gitlab/merge_request_approval*",
            ".prow.y*ml",
        ),
    ),
    (Part.VIEW, (".gitmodules", ".lfsconfig")),
    (
        Part.PIPELINE,
        (
            ".github/workflows/*",
            ".github/actions/*",
            ".gitea/workflows/*",
            ".forgejo/workflows/*",
            ".gitlab-ci.y*ml",
            ".gitlab/ci/*",
            ".circleci/*",
            ".azure-pipelines/*",
            "azure-pipelines*.y*ml",
            ".drone.y*ml",
            ".woodpecker.y*ml",
            ".woodpecker/*",
            "bitbucket-pipelines.y*ml",
            ".buildkite/*",
            ".semaphore/*",
            ".tekton/*",
            ".travis.y*ml",
            ".cirrus.y*ml",
            "cloudbuild.y*ml",
            "jenkinsfile*",
        ),
    ),
    (
        Part.HOOK,
        (".pre-commit-config.y*ml", ".pre-commit-hooks.y*ml", ".husky/*", ".githooks/*", "lefthook.y*ml"),
    ),
    (
        Part.BOT,
        (
            ".github/dependabot.y*ml",
            "renovate.json*",
            ".renovaterc*",
            ".github/renovate*",
            ".gitlab/renovate*",
        ),
    ),
)
_BY_NAME: tuple[tuple[Part, tuple[str, ...]], ...] = (
    (Part.APPROVAL, ("owners", "owners_aliases")),
    (Part.VIEW, (".sourceignore",)),
    (Part.ATTRIBUTES, (".gitattributes",)),
    (Part.PIPELINE, ("action.yml", "action.yaml")),
    (
        Part.PIN,
        (
            "requirements*.txt",
            "requirements*.in",
            "requirements*.lock",
            "constraints*.txt",
            "pyproject.toml",
            "pylock*.toml",
            "setup.py",
            "setup.cfg",
            "pip.conf",
            "uv.toml",
            "uv.lock",
            "pdm.lock",
            "poetry.lock",
            "pipfile",
            "pipfile.lock",
            "environment.y*ml",
            ".tool-versions",
            "mise.toml",
            ".mise.toml",
            "flake.nix",
            "flake.lock",
            "shell.nix",
            "devbox.json",
            "dockerfile*",
            "containerfile*",
            "makefile",
            "gnumakefile",
            "*.mk",
            "justfile",
            "taskfile.y*ml",
            "tox.ini",
            "noxfile.py",
            "earthfile",
        ),
    ),
)
_SCRIPTS = (".sh", ".bash", ".py", ".mk", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1")
IMPLIED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\bg?make\b", ("makefile", "gnumakefile")),
    (r"\btox\b", ("tox.ini", "pyproject.toml", "setup.cfg")),
    (r"\bnox\b", ("noxfile.py",)),
    (r"\bjust\b", ("justfile",)),
    (r"\btask\b", ("taskfile.yml", "taskfile.yaml")),
    (r"\bpre-commit\b", (".pre-commit-config.yaml",)),
    (r"\bpip3? install\b[^\n]*\s\.", ("pyproject.toml", "setup.py", "setup.cfg")),
    (r"\b(uv|poetry|pdm|hatch|pipenv)\b", ("pyproject.toml", "uv.lock", "poetry.lock", "pdm.lock", "pipfile.lock")),
    (r"\bdocker\b", ("dockerfile",)),
    (r"\bmise\b", ("mise.toml", ".mise.toml", ".tool-versions")),
)
"""Words of a command, and the files at the top or in the project that it reads without being told."""


def _compiled(table: tuple[tuple[Part, tuple[str, ...]], ...]) -> tuple[tuple[Part, re.Pattern[str]], ...]:
    return tuple((part, re.compile("|".join(map(translate, patterns)))) for part, patterns in table)


_PATHS, _NAMES = _compiled(_BY_PATH), _compiled(_BY_NAME)


def part_of(path: str) -> Part | None:
    """None of a file that may have to do with the check only because something runs it."""
    lowered = path.casefold()
    name = lowered.rpartition("/")[2]
    for text, patterns in ((lowered, _PATHS), (name, _NAMES)):
        for part, pattern in patterns:
            if pattern.match(text):
                return part
    return None


def may_run(path: str, mode: str) -> bool:
    """Whether a file that a pipeline names is more than a text to it."""
    name = path.casefold().rpartition("/")[2]
    return mode == "100755" or name.endswith(_SCRIPTS) or part_of(path) is not None
