"""A real git repository: a base commit, and what somebody puts on top of it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from poolsmith.guard.policies.revision import base_at
from support.git_repository import commit_all, git


@dataclass
class Repository:
    """A repository whose project lies at `root`; paths are relative to the top."""

    top: Path
    root: Path
    base: str = ""

    def git(self, *arguments, given=None):
        return git(self.top, *arguments, input=given)

    def write(self, files):
        for path, text in files.items():
            target = self.top / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def remove(self, *paths):
        for path in paths:
            target = self.top / path
            shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink()

    def link(self, path, target):
        (self.top / path).parent.mkdir(parents=True, exist_ok=True)
        (self.top / path).symlink_to(target)

    def add_entry(self, mode, path, content="x"):
        """An entry of the index that is not checked out: names that this file system can't tell apart, submodules."""
        blob = self.base if mode == "160000" else self.git("hash-object", "-w", "--stdin", given=content)
        self.git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")

    def commit(self, message="change"):
        commit_all(self.top, message)

    def revision(self):
        return base_at(self.root, self.base)
