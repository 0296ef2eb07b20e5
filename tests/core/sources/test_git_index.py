"""Files that git's index vouches for are as it says; all others are read."""

from __future__ import annotations

import os
import time

import pytest

from change.review.conftest import repository_of
from poolsmith.change.diff.touched_clusters import on_disk
from poolsmith.core.sources.git import Git, blob_id, settled_entries
from poolsmith.guard.policies.revision import tree_at

__all__ = ["repository_of"]
FOLDERS = ("profiles", "output")
FILES = {f"profiles/lab/{name}.yaml": f"{name}: 1\n" for name in "abc"}


@pytest.fixture
def repository(repository_of):
    found = repository_of(FILES)
    time.sleep(0.02)
    os.utime(found.top / ".git/index")  # written after the files: none of them is racy
    return found


def ids(repository, *, trusting=True):
    git = Git(repository.root, "--base")
    known = tree_at(git, repository.base).below(*FOLDERS)
    settled = settled_entries(git, FOLDERS) if trusting else {}
    return known, settled, on_disk(repository.root, FOLDERS, known, settled)


def test_what_was_not_touched_is_vouched_for(repository):
    known, settled, found = ids(repository)

    assert set(settled) == set(FILES)
    assert found == known


def test_ids_are_gits_own(repository):
    known, _, found = ids(repository, trusting=False)

    assert found == known
    assert blob_id(b"a: 1\n") == known["profiles/lab/a.yaml"].blob


def test_a_write_is_seen_even_where_size_and_time_stay_the_same(repository):
    path = repository.root / "profiles/lab/a.yaml"
    before = path.stat()
    path.write_text("a: 2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    known, _, found = ids(repository)

    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert [name for name in known if known[name] != found[name]] == ["profiles/lab/a.yaml"]


def test_what_was_written_when_the_index_was_is_read(repository):
    path = repository.root / "profiles/lab/a.yaml"
    stamp = path.stat().st_mtime_ns
    os.utime(repository.top / ".git/index", ns=(stamp, stamp))
    _, settled, _ = ids(repository)

    assert "profiles/lab/a.yaml" not in settled


def test_new_gone_and_special_files_are_told(repository):
    repository.write({"profiles/lab/d.yaml": "d: 1\n"})
    repository.remove("profiles/lab/a.yaml", "profiles/lab/b.yaml")
    repository.link("profiles/lab/b.yaml", "/etc/passwd")
    os.mkfifo(repository.root / "profiles/lab/e.yaml")
    known, _, found = ids(repository)

    assert set(found) - set(known) == {"profiles/lab/d.yaml", "profiles/lab/e.yaml"}
    assert set(known) - set(found) == {"profiles/lab/a.yaml"}
    assert found["profiles/lab/b.yaml"].blob == found["profiles/lab/e.yaml"].blob == ""


def test_what_is_staged_and_then_taken_back_is_as_the_base_has_it(repository):
    path = repository.root / "profiles/lab/a.yaml"
    path.write_text("a: 2\n")
    repository.git("add", "-A")
    path.write_text("a: 1\n")
    known, _, found = ids(repository)

    assert found == known


def test_names_that_git_would_quote_are_found(repository_of):
    name = 'profiles/lab/ü "x"\t.yaml'
    repository = repository_of({name: "a: 1\n"})
    time.sleep(0.02)
    os.utime(repository.top / ".git/index")
    known, settled, found = ids(repository)

    assert set(settled) == {name}
    assert found == known


def test_below_the_top_paths_are_those_of_the_project(repository_of):
    repository = repository_of({"deploy/profiles/lab/a.yaml": "a: 1\n"}, prefix="deploy")
    time.sleep(0.02)
    os.utime(repository.top / ".git/index")
    known, settled, found = ids(repository)

    assert set(settled) == {"profiles/lab/a.yaml"}
    assert found == known
