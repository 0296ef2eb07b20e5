"""A generated folder is replaced as a whole, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from poolsmith.core.diagnostics import WriteError
from poolsmith.core.sources import output_tree
from poolsmith.core.sources.output_tree import JOURNAL, OLD, STAGE, is_interrupted, read_files, recover, stage

OLD_FILES = {"a.yaml": b"old a", "sub/b.yaml": b"old b", "sub/deep/c.yaml": b"old c"}
NEW_FILES = {"a.yaml": b"new a", "new/d.yaml": b"new d"}
SAME_FILES = {"a.yaml": b"old a", "sub/b.yaml": b"new b", "sub/deep/c.yaml": b"old c"}
UNCHANGED = ("a.yaml", "sub/deep/c.yaml")


@pytest.fixture
def target(tmp_path):
    folder = tmp_path / "output" / "prod"
    for path, content in OLD_FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


@pytest.fixture(params=["exchange", "two steps"])
def any_swap(request, monkeypatch):
    if request.param == "two steps":
        monkeypatch.setattr(output_tree, "exchange", lambda left, right: False)


@pytest.fixture
def two_steps(monkeypatch):
    monkeypatch.setattr(output_tree, "exchange", lambda left, right: False)


def entries(folder):
    return sorted(entry.name for entry in folder.iterdir())


def fail_with(number, after=0):
    real, calls = os.write, []

    def write(descriptor, data):
        calls.append(descriptor)
        if len(calls) > after:
            raise OSError(number, os.strerror(number))
        return real(descriptor, data)

    return write


def test_files_are_read_by_their_relative_paths(target):
    (target / "link").symlink_to("a.yaml")
    os.mkfifo(target / "sub" / "pipe")

    assert read_files(target) == {**OLD_FILES, "link": None, "sub/pipe": None}


def test_a_staged_folder_changes_nothing_until_it_is_committed(target):
    staged = stage(target, NEW_FILES, OLD_FILES)

    assert read_files(target) == OLD_FILES
    assert read_files(staged.path) == NEW_FILES
    assert is_interrupted(target.parent)


@pytest.mark.usefixtures("any_swap")
def test_a_commit_puts_the_new_folder_in_place_and_cleans_up(target):
    stage(target, NEW_FILES, OLD_FILES).commit()

    assert read_files(target) == NEW_FILES
    assert entries(target.parent) == ["prod"]


def test_a_discard_leaves_the_old_folder(target):
    stage(target, NEW_FILES, OLD_FILES).discard()

    assert read_files(target) == OLD_FILES
    assert entries(target.parent) == ["prod"]


@pytest.mark.usefixtures("any_swap")
def test_a_first_commit_makes_the_folder_and_its_parents(tmp_path):
    target = tmp_path / "not" / "yet" / "prod"
    stage(target, NEW_FILES, ()).commit()

    assert read_files(target) == NEW_FILES
    assert entries(target.parent) == ["prod"]


@pytest.mark.usefixtures("any_swap")
def test_a_foreign_file_keeps_its_identity_bytes_and_time(target):
    foreign = target / "sub" / "mine.txt"
    foreign.write_bytes(b"mine")
    os.utime(foreign, (1_000_000_000, 1_000_000_000))
    (target / "link").symlink_to("nowhere")
    before = foreign.stat()
    stage(target, NEW_FILES, OLD_FILES).commit()

    assert read_files(target) == {**NEW_FILES, "sub/mine.txt": b"mine", "link": None}
    assert (foreign.stat().st_ino, foreign.stat().st_mtime) == (before.st_ino, before.st_mtime)
    assert foreign.stat().st_nlink == 1
    assert (target / "link").readlink() == Path("nowhere")


def test_a_foreign_file_is_copied_where_the_file_system_has_no_links(target, monkeypatch):
    (target / "mine.txt").write_bytes(b"mine")

    def refuse(*_arguments, **_options):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    stage(target, NEW_FILES, OLD_FILES).commit()

    assert read_files(target) == {**NEW_FILES, "mine.txt": b"mine"}


def test_an_owned_file_that_is_no_longer_generated_disappears(target):
    stage(target, {"a.yaml": b"old a"}, OLD_FILES).commit()

    assert read_files(target) == {"a.yaml": b"old a"}


def test_a_generated_file_replaces_a_foreign_one_of_its_name(target):
    stage(target, {"a.yaml": b"new a"}, ()).commit()

    assert read_files(target) == {**OLD_FILES, "a.yaml": b"new a"}


@pytest.mark.parametrize("files", [{"sub": b"file over folder"}, {"a.yaml/x": b"folder over file"}])
def test_a_foreign_file_in_the_way_stops_the_write(target, files):
    with pytest.raises(WriteError, match="nothing there was changed"):
        stage(target, files, ())

    assert read_files(target) == OLD_FILES
    assert entries(target.parent) == ["prod"]


def test_without_files_the_folder_goes(target):
    stage(target, {}, OLD_FILES).commit()

    assert entries(target.parent) == []


def test_without_files_a_folder_with_foreign_files_stays(target):
    (target / "mine.txt").write_bytes(b"mine")
    stage(target, {}, OLD_FILES).commit()

    assert read_files(target) == {"mine.txt": b"mine"}


def test_a_removal_of_what_is_not_there_is_done_already(tmp_path):
    stage(tmp_path / "prod", {}, ()).commit()

    assert entries(tmp_path) == []


@pytest.mark.usefixtures("any_swap")
def test_a_link_to_a_folder_is_replaced_and_what_it_leads_to_stays(target, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    target.rename(elsewhere)
    target.symlink_to(elsewhere)
    stage(target, NEW_FILES, OLD_FILES).commit()

    assert not target.is_symlink()
    assert (read_files(target), read_files(elsewhere)) == (NEW_FILES, OLD_FILES)
    assert entries(target.parent) == ["prod"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("after", [0, 1])
def test_a_failing_disk_leaves_the_old_folder_and_no_leftovers(target, monkeypatch, number, after):
    monkeypatch.setattr(os, "write", fail_with(number, after))
    with pytest.raises(WriteError) as caught:
        stage(target, NEW_FILES, OLD_FILES)

    assert os.strerror(number) in str(caught.value)
    assert read_files(target) == OLD_FILES
    assert entries(target.parent) == ["prod"]


def test_short_writes_are_continued(target, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:1])))
    stage(target, NEW_FILES, OLD_FILES).commit()

    assert read_files(target) == NEW_FILES


def test_an_interrupt_while_staging_leaves_nothing_behind(target, monkeypatch):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stage(target, NEW_FILES, OLD_FILES)

    assert read_files(target) == OLD_FILES
    assert entries(target.parent) == ["prod"]


def test_a_file_in_the_place_of_the_folder_stops_the_write(tmp_path):
    (tmp_path / "prod").write_bytes(b"file")
    with pytest.raises(WriteError):
        stage(tmp_path / "prod", NEW_FILES, ())

    assert entries(tmp_path) == ["prod"]


@pytest.mark.usefixtures("two_steps")
@pytest.mark.parametrize("failing", [1, 2])
def test_a_failing_rename_leaves_the_old_folder(target, monkeypatch, failing):
    staged = stage(target, NEW_FILES, OLD_FILES)
    real, blocked = Path.rename, {1: target, 2: staged.path}[failing]

    def rename(self, destination):
        if self == blocked:
            raise OSError(errno.EACCES, "Permission denied")
        return real(self, destination)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(WriteError, match="nothing there was changed"):
        staged.commit()

    assert read_files(target) == OLD_FILES
    assert entries(target.parent) == ["prod"]


def test_a_failing_exchange_leaves_the_old_folder(target, monkeypatch):
    def refuse(left, right):
        raise OSError(errno.EACCES, "Permission denied", str(left), None, str(right))

    staged = stage(target, NEW_FILES, OLD_FILES)
    monkeypatch.setattr(output_tree, "exchange", refuse)
    with pytest.raises(WriteError):
        staged.commit()

    assert read_files(target) == OLD_FILES
    assert entries(target.parent) == ["prod"]


def test_an_old_folder_that_can_not_be_removed_does_not_undo_the_commit(target, monkeypatch):
    staged = stage(target, NEW_FILES, OLD_FILES)
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors=False: None)
    staged.commit()
    monkeypatch.undo()

    assert read_files(target) == NEW_FILES
    recover(target.parent)
    assert entries(target.parent) == ["prod"]


class Killed(BaseException):
    """The process ends here: nothing after it runs."""


def kill_at(monkeypatch, step):
    """Let the `step`-th change of the file system during a commit be the one that never happens."""
    count = [0]
    dead = [False]

    def guarded(real):
        def call(*arguments, **options):
            count[0] += 1
            if dead[0] or count[0] == step:
                dead[0] = True
                raise Killed
            return real(*arguments, **options)

        return call

    for owner, name in ((Path, "rename"), (Path, "write_bytes"), (Path, "unlink"), (shutil, "rmtree")):
        monkeypatch.setattr(owner, name, guarded(getattr(owner, name)))
    return dead


@pytest.mark.usefixtures("any_swap")
@pytest.mark.parametrize("files", [NEW_FILES, SAME_FILES, {}], ids=["replace", "replace in part", "remove"])
@pytest.mark.parametrize("step", range(1, 9))
def test_a_commit_killed_at_any_step_is_recovered_to_old_or_new(target, monkeypatch, files, step):
    staged = stage(target, files, OLD_FILES, read_files(target))
    with monkeypatch.context() as patch:
        dead = kill_at(patch, step)
        try:
            staged.commit()
        except Killed:
            assert dead[0]
    recover(target.parent)
    now = read_files(target) if target.exists() else {}

    assert now in (OLD_FILES, files)
    assert {(target / path).stat().st_nlink for path in now} <= {1}
    assert entries(target.parent) in ([], ["prod"])
    assert not is_interrupted(target.parent)
    assert recover(target.parent) == ()


STATES = {
    "staged only": ({STAGE: NEW_FILES, "": OLD_FILES}, OLD_FILES),
    "half staged": ({STAGE: {"a.yaml": b"new a"}, "": OLD_FILES}, OLD_FILES),
    "half staged for the first time": ({STAGE: NEW_FILES}, None),
    "journal written": ({JOURNAL: None, STAGE: NEW_FILES, "": OLD_FILES}, OLD_FILES),
    "old moved away": ({JOURNAL: None, STAGE: NEW_FILES, OLD: OLD_FILES}, NEW_FILES),
    "new in place": ({JOURNAL: None, OLD: OLD_FILES, "": NEW_FILES}, NEW_FILES),
    "old half removed": ({JOURNAL: None, OLD: {"a.yaml": b"old a"}, "": NEW_FILES}, NEW_FILES),
    "old removed": ({JOURNAL: None, "": NEW_FILES}, NEW_FILES),
    "stage lost": ({JOURNAL: None, OLD: OLD_FILES}, OLD_FILES),
    "exchanged": ({STAGE: OLD_FILES, "": NEW_FILES}, NEW_FILES),
    "removal begun": ({OLD: OLD_FILES}, None),
}


@pytest.mark.parametrize(("state", "expected"), STATES.values(), ids=STATES)
def test_every_state_that_a_killed_run_can_leave_is_recovered(tmp_path, state, expected):
    for prefix, files in state.items():
        folder = tmp_path / f"{prefix}prod"
        if files is None:
            folder.write_bytes(b"")
            continue
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)

    assert is_interrupted(tmp_path)
    assert recover(tmp_path) == ("prod",)
    assert entries(tmp_path) == ([] if expected is None else ["prod"])
    assert expected is None or read_files(tmp_path / "prod") == expected
    assert not is_interrupted(tmp_path)


def test_recovery_keeps_folders_that_are_not_concerned(target):
    (target.parent / f"{STAGE}other").mkdir()

    assert recover(target.parent) == ("other",)
    assert read_files(target) == OLD_FILES


def test_recovery_of_a_missing_parent_has_nothing_to_do(tmp_path):
    assert recover(tmp_path / "nope") == ()
    assert not is_interrupted(tmp_path / "nope")


def restage(target, files=SAME_FILES):
    return stage(target, files, OLD_FILES, read_files(target))


def identity(target):
    return {path: (target / path).stat().st_ino for path in OLD_FILES}


@pytest.mark.usefixtures("any_swap")
def test_a_file_that_stays_the_same_is_the_same_file(target):
    before = identity(target)
    restage(target).commit()
    after = identity(target)

    assert read_files(target) == SAME_FILES
    assert [path for path in OLD_FILES if before[path] == after[path]] == list(UNCHANGED)


@pytest.mark.usefixtures("any_swap")
def test_after_a_commit_or_a_discard_no_file_has_another_name(target):
    staged = restage(target)
    assert [(target / path).stat().st_nlink for path in OLD_FILES] == [2, 1, 2]
    staged.discard()
    assert [(target / path).stat().st_nlink for path in OLD_FILES] == [1, 1, 1]
    restage(target).commit()

    assert [(target / path).stat().st_nlink for path in OLD_FILES] == [1, 1, 1]


def test_a_file_that_has_another_name_elsewhere_is_written_anew(target, tmp_path):
    (tmp_path / "copy").hardlink_to(target / "a.yaml")
    restage(target).commit()
    (target / "a.yaml").write_bytes(b"edited in place")

    assert (tmp_path / "copy").read_bytes() == b"old a"


def test_a_file_of_another_mode_is_written_anew(target):
    usual = (target / "a.yaml").stat().st_mode
    (target / "a.yaml").chmod(0o700)
    restage(target).commit()

    assert (target / "a.yaml").stat().st_mode == usual


@pytest.mark.parametrize("become", ["other bytes", "longer", "a link", "nothing"])
def test_what_is_no_more_what_was_read_is_written_anew(target, tmp_path, become):
    present = read_files(target)
    file = target / "a.yaml"
    if become == "nothing":
        file.unlink()
    elif become == "a link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.write_bytes(b"sly a" if become == "other bytes" else b"old a and more")
    stage(target, SAME_FILES, OLD_FILES, present).commit()

    assert read_files(target) == SAME_FILES
    if become == "a link":
        assert (tmp_path / "elsewhere").stat().st_ino != file.stat().st_ino


def test_nothing_is_linked_through_a_link_to_the_folder(target, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    target.rename(elsewhere)
    target.symlink_to(elsewhere)
    restage(target).commit()
    (target / "a.yaml").write_bytes(b"edited in place")

    assert read_files(elsewhere) == OLD_FILES


def test_what_can_not_be_linked_is_written(target, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError(errno.EMLINK, "too many links")

    monkeypatch.setattr(os, "link", refuse)
    before = identity(target)
    restage(target).commit()

    assert read_files(target) == SAME_FILES
    assert all(before[path] != identity(target)[path] for path in UNCHANGED)
