"""Changes as real git repositories."""

from __future__ import annotations

import pytest

from change.review.repositories import Repository


@pytest.fixture
def repository_of(tmp_path):
    """Make a repository of texts by path, and commit them as the base."""

    def make(files, prefix=""):
        top = tmp_path / "repository"
        top.mkdir()
        repository = Repository(top=top, root=top / prefix)
        repository.root.mkdir(parents=True, exist_ok=True)
        repository.git("init", "-q")
        repository.write(files)
        repository.commit("base")
        repository.base = repository.git("rev-parse", "HEAD")
        return repository

    return make
