"""What an earlier run said is said again only where nothing that it follows from has changed."""

from __future__ import annotations

import datetime as dt
import os
import pickle
import random
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from poolsmith.core.sources import file_states
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.guard.policies.revision import BaseRevision
from poolsmith.interface.app import check_project, compare, generate, run
from poolsmith.interface.app.memory import JUDGING, recall
from poolsmith.interface.cli import main
from poolsmith.project.output.result_store import open_store

DAY = dt.date(2026, 11, 20)
KEPT = ("edge", "edge-talos")


@pytest.fixture
def old_files(monkeypatch):
    """Files that a test has just written count as old."""
    monkeypatch.setattr(file_states, "MARGIN", -(10**15))


@pytest.fixture
def store(tmp_path):
    return open_store(str(tmp_path / "cache/poolsmith"))


@pytest.fixture
def project(repository, tmp_path):
    """Two clusters of the sample fleet, without admission policies, whose evaluation takes longest."""
    root = tmp_path / "project"
    for folder in ("profiles", "policies", "output"):
        shutil.copytree(repository / folder, root / folder)
    for folder in ("profiles", "output/clusters"):
        for path in (root / folder).iterdir():
            if path.is_dir() and path.name[0] not in "_." and path.name not in KEPT:
                shutil.rmtree(path)
    shutil.rmtree(root / "policies/admission")
    return root


@pytest.fixture
def worked_on(monkeypatch):
    """The names of the clusters that were planned since the last look."""
    names = []
    real = run.run_cluster

    def counting(given, files):
        names.append(files.name)
        return real(given, files)

    monkeypatch.setattr(run, "run_cluster", counting)

    def look():
        found = sorted(names)
        names.clear()
        return found

    return look


def check(root, store=None, day=DAY):
    return check_project(root, store=store, judging=JudgingOptions(today=day))


def entries(store):
    return sorted(Path(store.folder).iterdir())


def clusters(root):
    return sorted(path.name for path in (root / "profiles").iterdir() if path.is_dir() and path.name[0] not in "_.")


def test_nothing_is_done_twice_and_the_whole_report_is_said_again(project, store, worked_on, old_files):
    first = check(project, store)
    done = worked_on()
    second = check(project, store)

    assert (done, worked_on()) == (clusters(project), [])
    assert second == first == check(project)


def test_what_was_only_compared_is_not_taken_for_judged(project, store, old_files):
    assert compare(project, store=store).outcome != check(project, store)
    assert check(project, store) == check(project)


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_another_day_is_another_question(project, store, old_files):
    late = dt.date(2099, 1, 1)

    assert check(project, store, late) == check(project, day=late) != check(project, store)
    assert check(project, store) == check(project)


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
def test_one_changed_profile_costs_one_cluster(project, store, worked_on, old_files):
    check(project, store)
    worked_on()
    path = project / "profiles/edge/cluster.yaml"
    path.write_text(path.read_text() + "# a comment\n")

    found = check(project, store)

    assert worked_on() == ["edge"]
    assert found == check(project)


@pytest.mark.deep("a whole run, 1.1 s; its parts have tests of their own")
def test_a_changed_policy_or_base_concerns_every_cluster(project, store, worked_on, old_files):
    base = next((project / "profiles/_bases").glob("*.yaml"))
    policy = next((project / "policies/privileges").glob("*.yaml"))
    for path in (base, policy):
        check(project, store)
        worked_on()
        path.write_text(path.read_text() + "# a comment\n")

        found = check(project, store)

        assert worked_on() == clusters(project)
        assert found == check(project)


def test_generate_does_not_generate_what_was_found_to_be_current(project, store, worked_on, old_files, contents):
    generate(project)
    compare(project, store=store)
    worked_on()
    before = contents(project)
    path = project / "profiles/edge/cluster.yaml"
    path.write_text(path.read_text() + "# a comment\n")

    result = generate(project, store=store)

    assert worked_on() == ["edge"]
    assert result.written
    assert {name for name, content in contents(project).items() if content != before.get(name)} <= {
        "profiles/edge/cluster.yaml",
        "output/clusters/edge/poolsmith.lock.json",
    }
    assert compare(project).is_current


def changes(root, choose):
    """Random changes of what a run reads: content, additions, removals, links, moves; times are set back."""
    files = sorted(
        path
        for folder in ("profiles", "policies", "output")
        for path in (root / folder).rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    path = choose.choice(files)
    kind = choose.choice(("edit", "edit", "same size", "remove", "add", "link", "folder", "touch"))
    state = path.stat()
    if kind == "edit":
        path.write_bytes(path.read_bytes() + b"# more\n")
    elif kind == "same size":
        content = bytearray(path.read_bytes() or b" ")
        place = choose.randrange(len(content))
        content[place] = ord("x") if content[place] != ord("x") else ord("y")
        path.write_bytes(bytes(content))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    elif kind == "remove":
        path.unlink()
    elif kind == "add":
        (path.parent / "zz-new.yaml").write_text("kind: NodePool\n")
    elif kind == "link":
        path.rename(path.with_suffix(".elsewhere"))
        path.symlink_to(path.with_suffix(".elsewhere").name)
    elif kind == "folder":
        path.unlink()
        path.mkdir()
    else:
        os.utime(path)
    return f"{kind} {path.relative_to(root)}"


@pytest.mark.deep("random changes, each told twice; the kinds of change have tests of their own")
@pytest.mark.rows(2, "six random changes each")
@pytest.mark.parametrize("seed", range(4))
def test_whatever_changes_the_store_never_changes_what_is_said(project, store, old_files, seed):
    choose = random.Random(seed)
    compare(project, store=store)
    for _ in range(6):
        change = changes(project, choose)

        assert compare(project, store=store) == compare(project), change
        assert compare(project, store=store) == compare(project), f"{change}, once more"


def test_a_change_that_keeps_size_and_times_is_seen(project, store, old_files):
    compare(project, store=store)
    path = project / "output/clusters/edge/README.md"
    state = path.stat()
    path.write_bytes(path.read_bytes().replace(b"e", b"f", 1))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    assert not compare(project, store=store).is_current


def test_folders_that_are_as_they_were_are_not_listed_again(project, store, old_files, monkeypatch):
    found = compare(project, store=store)
    listed = []
    monkeypatch.setattr("poolsmith.interface.app.memory.folder_state", lambda *given, **_: listed.append(given))

    assert compare(project, store=store) == found
    assert listed == []


@pytest.mark.parametrize(
    "part", ["output/clusters/edge/new/deep.yaml", "output/clusters/new.yaml", "profiles/edge/a.yaml"]
)
def test_a_new_file_in_a_folder_that_was_remembered_is_seen(project, store, old_files, part):
    compare(project, store=store)
    path = project / part
    path.parent.mkdir(exist_ok=True)
    path.write_text("kind: Service\n")

    assert compare(project, store=store) == compare(project)
    path.unlink()
    assert compare(project, store=store) == compare(project)


def test_folders_as_they_were_are_known_by_all_that_stands_in_them(tmp_path):
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "below/one.yaml").write_text("a: 1\n")
    state = file_states.folder_state(str(folder))
    first = file_states.sight_of(str(folder), state)
    (folder / "below/two.yaml").symlink_to("one.yaml")

    assert first is not None
    assert file_states.sight_of(str(folder), state) != first
    (folder / "below/one.yaml").unlink()
    assert file_states.sight_of(str(folder), state) is None


def test_files_that_have_just_been_written_are_read_again(project, store):
    check(project, store)

    assert recall(store, project, JUDGING, (), about=DAY.isoformat()).result() is None


def test_rehash_reads_every_byte(project, store, worked_on, old_files, monkeypatch):
    compare(project, store=store, rehash=True)
    read = []
    real = file_states.content_digest
    monkeypatch.setattr(
        "poolsmith.interface.app.memory.content_digest", lambda *given: read.append(given[0]) or real(*given)
    )
    worked_on()

    compare(project, store=store, rehash=True)

    assert len(read) == 2 * len(clusters(project)) + 4
    assert worked_on() == []


def test_links_in_the_input_mean_that_nothing_is_remembered(project, store, tmp_path, old_files):
    outside = tmp_path / "outside"
    (project / "policies").rename(outside)
    (project / "policies").symlink_to(outside)

    assert recall(store, project, JUDGING, ()) is None


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_who_is_judged_by_another_revision_gets_no_remembered_answer(project, store, worked_on, tmp_path, old_files):
    subprocess.run(["git", "init", "-q", project], check=True)
    base = BaseRevision(folder=project, prefix="", files={})
    check(project, store)
    worked_on()
    found = check_project(project, store=store, judging=JudgingOptions(today=DAY, base=base))

    assert worked_on() == clusters(project)
    assert found.checked == check(project).checked


@pytest.mark.deep("policies in CEL are waited for")
def test_what_was_stopped_by_the_clock_is_not_remembered(project, repository, store, worked_on, old_files, monkeypatch):
    from poolsmith.guard.policies import admission_check

    shutil.copytree(repository / "policies/admission", project / "policies/admission")

    monkeypatch.setattr(admission_check._Policies, "was_stopped", True)
    check(project, store)
    worked_on()
    check(project, store)

    assert worked_on() == clusters(project)


@pytest.mark.rows(2, "ways to be torn, and ways to be of others")
@pytest.mark.parametrize("bad", ["empty", "cut", "one bit", "others may write", "a link", "a folder", "other code"])
def test_an_entry_that_may_be_somebody_elses_or_is_torn_is_not_there(project, store, worked_on, old_files, bad):
    compare(project, store=store)
    worked_on()
    for path in entries(store):
        content = path.read_bytes()
        if bad in ("empty", "cut", "one bit"):
            path.write_bytes({"empty": b"", "cut": content[:-7], "one bit": content[:-9] + b"?" + content[-8:]}[bad])
        elif bad == "others may write":
            path.chmod(0o666)
        elif bad == "a link":
            path.rename(f"{path}.x")
            path.symlink_to(f"{path}.x")
        elif bad == "a folder":
            path.unlink()
            path.mkdir()
        else:
            store.write(path.name.removesuffix(".result"), {"key": "no entry of ours"})

    assert compare(project, store=store) == compare(project)
    assert worked_on()[: len(clusters(project))] != []


def test_an_entry_makes_nothing_but_values_of_poolsmith(store, tmp_path):
    store.write("x", subprocess.Popen)

    assert store.read("x") is None


def test_the_folder_has_to_be_the_users_own(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "file").write_text("")

    assert open_store(str(shared)) is None
    assert open_store(str(tmp_path / "link")) is None
    assert open_store(str(tmp_path / "file")) is None
    assert open_store(str(tmp_path / "file/below")) is None
    made = open_store(str(tmp_path / "new/er"))
    assert stat.S_IMODE(Path(made.folder).stat().st_mode) == 0o700


def test_a_store_that_fails_is_no_error(project, store, monkeypatch, old_files):
    def fail(*_given, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("poolsmith.project.output.result_store.os.replace", fail)

    assert compare(project, store=store) == compare(project, store=store) == compare(project)
    assert entries(store) == []


def test_a_name_with_line_breaks_does_not_pass_for_two_files(tmp_path):
    two, one = tmp_path / "two", tmp_path / "one"
    two.mkdir()
    one.mkdir()
    for name in ("a", "b"):
        (two / name).write_text(name)
    hashed = file_states._hash(b"a")
    (one / f"a\n{hashed}\nb").write_text("b")

    first, second = (
        file_states.content_digest(str(folder), file_states.folder_state(str(folder))) for folder in (two, one)
    )

    assert first != second


def test_what_cannot_be_read_is_not_remembered(project, store, worked_on, old_files, monkeypatch):
    real = file_states.content_digest

    def fail(folder, state):
        if folder.endswith("clusters/edge"):
            raise PermissionError(13, "Permission denied")
        return real(folder, state)

    monkeypatch.setattr("poolsmith.interface.app.memory.content_digest", fail)
    for _ in range(2):
        assert compare(project, store=store, clusters=("edge",)) == compare(project, clusters=("edge",))
        assert worked_on() == ["edge", "edge"]


def test_a_project_that_goes_away_meanwhile_is_no_error(project, store, old_files, monkeypatch):
    memory = recall(store, project, JUDGING, ())

    def fail(*_given, **_more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("poolsmith.interface.app.memory.folder_state", fail)
    memory.keep(compare(project), ())

    assert recall(store, project, JUDGING, ()) is None
    assert entries(store) == []


def test_a_store_keeps_its_size(store, monkeypatch):
    monkeypatch.setattr("poolsmith.project.output.result_store.MOST_BYTES", 40_000)
    for number in range(20):
        store.write(f"n{number}", "x" * 5_000)
        os.utime(Path(store.folder) / f"n{number}.result", (number, number))

    assert sum(path.stat().st_size for path in entries(store)) <= 46_000
    assert store.read("n19") is not None
    assert store.read("n0") is None


def test_two_runs_at_once_leave_a_whole_entry(store):
    for value in range(50):
        store.write("same", [value] * 100)

    assert store.read("same") == [49] * 100
    assert [path for path in entries(store) if path.name.startswith(".")] == []
    assert pickle.dumps(store.read("same"))


@pytest.fixture
def cached(run_cli, monkeypatch, tmp_path, old_files):
    """Run poolsmith with a store, outside of CI."""
    monkeypatch.setenv("POOLSMITH_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.delenv("CI", raising=False)
    return lambda *arguments: run_cli(arguments)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_report_is_the_same_in_any_format(cached, project, form, worked_on, monkeypatch):
    monkeypatch.chdir(project)
    cached("check", "--today", "2026-11-20")
    worked_on()
    again = cached("check", "--today", "2026-11-20", "--format", form)

    assert worked_on() == []
    anew = cached("check", "--today", "2026-11-20", "--format", form, "--no-cache")
    assert again == replace(anew, out=anew.out.replace(" --no-cache", ""))  # of the command that shows all


_WORDS = [
    ("generate", "--check"),
    ("generate", "--check", "--rehash", "--cache"),
    ("generate", "--no-cache", "--cache", "--check"),
    ("generate",),
    ("check",),
    ("check", "--no-cache"),
    ("run", "--no-cache"),
]


@pytest.mark.parametrize("words", _WORDS, ids=" ".join)
@pytest.mark.parametrize("surroundings", ["as committed", "one changed", "github", "colour", "below", "pipeline"])
@pytest.mark.rows(4, "each is two whole runs")
def test_a_whole_project_without_other_flags_is_told_as_by_the_parser(
    cached, project, monkeypatch, words, surroundings
):
    monkeypatch.chdir(project / "profiles" if surroundings == "below" else project)
    if surroundings == "one changed":
        path = next(project.glob("profiles/*/cluster.yaml"))
        path.write_text(path.read_text() + "# new\n")
    elif surroundings == "github":
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setattr("secrets.token_hex", "a".__mul__)
    elif surroundings == "colour":
        monkeypatch.setenv("FORCE_COLOR", "1")
    elif surroundings == "pipeline":
        monkeypatch.setenv("CI", "true")
    committed = shutil.copytree(project, project.with_name("again"), symlinks=True)
    plain = cached(*words)
    shutil.rmtree(project)
    committed.rename(project)
    monkeypatch.setattr(main, "_plain", main._parsed)
    monkeypatch.chdir(project / "profiles" if surroundings == "below" else project)

    assert plain == cached(*words)
    assert plain.code in (0, 1)
    assert plain.out


def test_in_ci_nothing_is_remembered_unless_asked_for(cached, project, worked_on, monkeypatch, tmp_path):
    monkeypatch.setenv("CI", "true")
    cached("generate", "--check", "--root", project)
    assert not (tmp_path / "own").exists()

    cached("generate", "--check", "--root", project, "--cache")
    worked_on()
    cached("generate", "--check", "--root", project, "--cache")
    assert worked_on() == []


def test_no_cache_neither_reads_nor_writes(cached, project, worked_on, tmp_path):
    cached("generate", "--check", "--root", project, "--no-cache")
    assert not (tmp_path / "own").exists()

    cached("generate", "--check", "--root", project)
    worked_on()
    cached("generate", "--check", "--root", project, "--no-cache")
    assert worked_on() == clusters(project)
