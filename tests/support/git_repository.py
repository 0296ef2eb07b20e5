"""git in the folder of a test: with an identity, and without the settings of who runs the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
_BRIEF = ("-c", "maintenance.auto=false", "-c", "core.fsync=none")
"""No process that looks whether there is something to tidy up, and nothing that has to outlive a loss of power."""


def git(folder: Path, *words: str | Path, **options: Any) -> str:
    """What git prints, without the last line's end. Raises CalledProcessError."""
    command = ["git", *_IDENTITY, *_BRIEF, "-c", "core.symlinks=true", *words]
    environment = {**os.environ, **_SETTINGS}
    run = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env=environment, **options)
    return str(run.stdout).rstrip()


def commit_all(folder: Path, message: str = "base") -> None:
    """All files of a folder as one commit more; where there is none, in a new repository whose branch is `main`."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
