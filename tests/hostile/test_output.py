"""Whatever stands in the output or happens while it is written: old or new, and never a mixture."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import time

import pytest

LOCK = "output/clusters/broken/poolsmith.lock.json"


@pytest.fixture
def changed(edit):
    """A change to the cluster `broken`, in a project without mistakes."""
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    edit("profiles/broken/cluster.yaml", "v26.3.3", "v26.7.0")


@pytest.fixture
def refused(project, run_cli, contents):
    """What a generate says that can't write; the output stays as it is, and nothing stays behind."""

    def run():
        before = contents(project / "output")
        result = run_cli(["generate", "--root", project])
        assert contents(project / "output") == before
        assert result.code == 1
        assert "Traceback" not in result.err
        assert "internal error" not in result.err
        assert result.err.count("\n") == 1
        assert not list(project.rglob(".poolsmith-*"))
        return result.err

    return run


@pytest.mark.rows(2, "each text is refused by one reader, and four commands run")
@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "null",
        "{}",
        '{"files": []}',
        '{"version": 1, "files": {"README.md": 1}}',
        '{"version": 2, "files": {}}',
        "[" * 100_000,
        '{"version": ' + "1" * 10_000 + ', "files": {}}',
        b"\xff\xfe",
    ],
)
def test_a_lock_that_poolsmith_did_not_write_stops_everything(write, findings, text):
    write(LOCK, text)

    assert findings(expect=()) == [("bad-lock", LOCK)]


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("what", ["pipe", "link", "folder"])
def test_a_lock_that_is_no_file_stops_everything(project, findings, tmp_path, what):
    lock = project / LOCK
    lock.unlink()
    if what == "pipe":
        os.mkfifo(lock)
    elif what == "link":
        lock.symlink_to(tmp_path / "elsewhere")
    else:
        (lock / "below").mkdir(parents=True)
        (lock / "below/mine.txt").write_text("mine")

    assert {"bad-lock", "path-occupied"} & {name for name, _ in findings(expect=())}


@pytest.mark.rows(3, "each path is refused by one check, and four commands run")
@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize(
    "path",
    [
        "../../x",
        "../sound/README.md",
        "/etc/passwd",
        "platform",
        "",
        ".",
        "a\0b",
        "../../../profiles/sound/cluster.yaml",
    ],
)
def test_a_lock_reaches_nothing_outside_of_its_folder(project, run_cli, contents, path):
    lock = json.loads((project / LOCK).read_text())
    lock["files"][path] = "sha256:0"
    (project / LOCK).write_text(json.dumps(lock))
    (project / "x").write_text("mine")
    before = {name: text for name, text in contents(project).items() if not name.startswith("output/")}

    assert run_cli(["generate", "--root", project]).code == 0
    assert run_cli(["generate", "--root", project, "--check"]).code == 0
    assert {name: text for name, text in contents(project).items() if not name.startswith("output/")} == before


@pytest.mark.usefixtures("changed")
def test_a_file_that_only_a_forged_lock_owns_is_named_before_it_goes(project, run_cli):
    lock = json.loads((project / LOCK).read_text())
    lock["files"]["notes.txt"] = "sha256:0"
    (project / LOCK).write_text(json.dumps(lock))
    (project / LOCK).with_name("notes.txt").write_text("mine")

    checked = run_cli(["generate", "--root", project, "--check"])
    assert checked.code == 1
    assert "output/clusters/broken/notes.txt: error PSM502 hand-edited" in checked.out
    written = run_cli(["generate", "--root", project])
    assert "output/clusters/broken/notes.txt: warning PSM502 hand-edited" in written.out


@pytest.mark.usefixtures("changed")
def test_generated_files_without_a_lock_are_not_overwritten(project, findings):
    (project / LOCK).unlink()

    assert {"path-occupied"} <= {name for name, _ in findings(expect=())}


@pytest.mark.rows(3, "each error and each moment once")
@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("after", [0, 1, 7])
def test_a_full_disk_leaves_the_old_output(refused, monkeypatch, number, after):
    real, calls = os.write, []

    def write(descriptor, data):
        calls.append(descriptor)
        if len(calls) > after:
            raise OSError(number, os.strerror(number))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    message = refused()

    assert os.strerror(number) in message
    assert "output/clusters/broken" in message


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("call", ["mkdir", "open"])
def test_a_read_only_output_is_left_alone(project, refused, monkeypatch, call):
    real = getattr(os, call)

    def refuse(path, *arguments, **options):
        writes = call == "mkdir" or arguments[0] & os.O_CREAT
        if writes and isinstance(path, (str, os.PathLike)) and "output" in os.fspath(path):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, call, refuse)

    assert "Read-only file system" in refused()


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_swap_that_fails_leaves_nothing_behind(project, edit, run_cli, monkeypatch, step):
    from poolsmith.core.sources import output_tree

    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    for name in ("broken", "mistaken", "sound"):
        edit(f"profiles/{name}/cluster.yaml", "v26.3.3", "v26.7.0")
    real, calls = output_tree.exchange, []

    def exchange(left, right):
        calls.append(left)
        if len(calls) == step:
            raise OSError(errno.EACCES, "Permission denied")
        return real(left, right)

    monkeypatch.setattr(output_tree, "exchange", exchange)
    result = run_cli(["generate", "--root", project])

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert not list(project.rglob(".poolsmith-*"))
    monkeypatch.undo()
    assert run_cli(["generate", "--root", project]).code == 0
    assert run_cli(["generate", "--root", project, "--check"]).code == 0


def test_an_error_elsewhere_stops_the_removal_of_a_cluster(project, write, run_cli, contents):
    write("output/clusters/broken/mine.txt", "mine")
    shutil.rmtree(project / "profiles/broken")
    before = contents(project)

    assert run_cli(["generate", "--root", project]).code == 1
    assert contents(project) == before


@pytest.mark.rows(2, "each name and kind once")
@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize(
    "name",
    [
        ".poolsmith-stage-broken",
        ".poolsmith-old-broken",
        ".poolsmith-swap-broken",
        ".poolsmith-swap-",
        ".poolsmith-swap-..",
        ".poolsmith-stage-..",
    ],
)
@pytest.mark.parametrize("what", ["file", "folder", "link", "pipe"])
def test_leftovers_of_any_kind_are_cleaned_up(project, run_cli, tmp_path, contents, name, what):
    leftover = project / "output/clusters" / name
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine")
    {
        "file": lambda: leftover.write_text("x"),
        "folder": lambda: shutil.copytree(project / "output/clusters/sound", leftover),
        "link": lambda: leftover.symlink_to(outside),
        "pipe": lambda: os.mkfifo(leftover),
    }[what]()

    assert run_cli(["generate", "--root", project, "--check"]).code == 1
    assert run_cli(["generate", "--root", project]).code == 0
    assert run_cli(["generate", "--root", project, "--check"]).code == 0
    assert not list(project.rglob(".poolsmith-*"))
    assert contents(outside) == {"mine.txt": b"mine"}


@pytest.mark.usefixtures("changed")
def test_a_second_writer_is_refused(project, refused):
    descriptor = os.open(project / "output", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert "another poolsmith is writing" in refused()
    finally:
        os.close(descriptor)


def test_who_is_refused_leaves_the_folder_to_the_one_who_writes(synthetic_fleet, run_cli, monkeypatch):
    root = synthetic_fleet(1, 1)

    def held(*_):
        raise BlockingIOError

    monkeypatch.setattr(fcntl, "flock", held)

    assert "another poolsmith" in run_cli(["generate", "--root", root]).err
    assert (root / "output").is_dir()


def test_a_lock_on_a_folder_that_somebody_replaced_is_none(synthetic_fleet, run_cli, monkeypatch):
    root = synthetic_fleet(1, 1)

    def replaced(*_):
        (root / "output").rename(root / "old")
        (root / "output").mkdir()

    monkeypatch.setattr(fcntl, "flock", replaced)

    assert "another poolsmith" in run_cli(["generate", "--root", root]).err
    assert not list((root / "output").iterdir())


@pytest.mark.deep("a whole run, 1.2 s; its parts have tests of their own")
def test_of_two_writers_at_once_one_writes_and_the_other_writes_or_is_refused(synthetic_fleet, start_cli, run_cli):
    root = synthetic_fleet(30, 3)
    writers = [start_cli(["generate", "--root", root]) for _ in range(3)]
    results = [(writer.communicate()[1].decode(), writer.returncode) for writer in writers]

    assert 0 in [code for _, code in results]
    assert all(code == 0 or (code == 1 and "another poolsmith" in text) for text, code in results)
    assert run_cli(["generate", "--root", root, "--check", "--jobs", 1]).code == 0
    assert not list(root.rglob(".poolsmith-*"))


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
@pytest.mark.rows(1, "processes that are interrupted")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_leaves_old_or_new_folders_and_nothing_else(synthetic_fleet, start_cli, run_cli, contents, jobs):
    root = synthetic_fleet(60, 4)
    assert run_cli(["generate", "--root", root, "--jobs", 1]).code == 0
    old = contents(root / "output")
    synthetic_fleet(60, 4, release="v26.7.0")
    process = start_cli(["generate", "--root", root, "--jobs", jobs])
    while process.poll() is None and not list((root / "output/clusters").glob(".poolsmith-*")):
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)

    assert process.returncode in (130, -signal.SIGINT)  # a shell says 130 to both
    assert out == b""
    assert err.decode().strip() == "poolsmith: interrupted; what was not finished was not written"
    assert contents(root / "output") == old


@pytest.mark.deep("it waits for moments of a run; the first kind of interrupt stays")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_at_any_other_moment_is_told_in_one_line(synthetic_fleet, start_cli, run_cli, jobs):
    root = synthetic_fleet(30, 3)
    assert run_cli(["generate", "--root", root, "--jobs", 1]).code == 0
    for release, pause in (("v26.7.0", 0.3), ("v26.3.3", 0.4), ("v26.7.0", 0.5), ("v26.3.3", 0.6)):
        synthetic_fleet(30, 3, release=release)
        process = start_cli(["generate", "--root", root, "--jobs", jobs])
        time.sleep(pause)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=120)

        assert process.returncode in (0, 130, -signal.SIGINT)  # a shell says 130 to both of the latter
        assert err.decode().strip() in ("", "poolsmith: interrupted; what was not finished was not written")
        assert not list(root.rglob(".poolsmith-*"))
    assert run_cli(["generate", "--root", root, "--jobs", 1]).code == 0
