"""A file that is no profile is told at its place, and hides nothing else."""

from __future__ import annotations

import os

import pytest

from poolsmith.core.sources.yaml_nodes import MAX_DUPLICATES
from support.circles import DEEP

PLACES = ("profiles/broken/pool-0.yaml", "profiles/broken/cluster.yaml", "profiles/_bases/base.yaml")
BOMB = "".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 9))
BAD_FILES = {
    "an open bracket": (b"spec: [1, 2\nkind: x\n", "yaml-syntax", ":1:7"),
    "a colon too many": (b"kind: a: b\n", "yaml-syntax", ":1:7"),
    "an open quote": (b'kind: "x\n', "yaml-syntax", ":1:7"),
    "a tab as indentation": (b"spec:\n\tgpu: 1\n", "yaml-syntax", ":2:1"),
    "a merge conflict": (
        b"kind: x\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> main\n",
        "merge-conflict-marker",
        ":2:1",
    ),
    "a byte-order mark": (b"\xef\xbb\xbfkind: x\n", "byte-order-mark", ":1:1"),
    "Latin-1": (b"kind: x\nname: caf\xe9\n", "not-utf8", ":2:10"),
    "UTF-16": ("kind: x\n".encode("utf-16"), "not-utf8", ":1:1"),
    "nothing": (b"", "empty-document", ""),
    "blanks": (b" \n\n", "empty-document", ""),
    "comments": (b"# one\n# two\n", "empty-document", ""),
    "null": (b"null\n", "empty-document", ""),
    "several documents": (b"kind: x\n---\nkind: y\n", "several-documents", ""),
    "text behind a document marker": (b"--- kind: x\n", "text-after-document-marker", ":1:5"),
    "a list at the top": (b"- kind: x\n", "not-a-mapping", ":1:1"),
    "a word at the top": (b"word\n", "not-a-mapping", ":1:1"),
    "infinity": (b"spec: {count: .inf}\n", "not-json", ":1:15"),
    "a null key": (b"{~: 1}\n", "not-json", ":1:2"),
    "a list as a key": (b"? [a]\n: 1\n", "not-json", ":1:3"),
    "a NUL byte": (b"kind: x\na: \x00\n", "yaml-syntax", ":2:4"),
    "an escape sequence": (b"kind: \x1b[31mx\n", "yaml-syntax", ":1:7"),
    "an unknown alias": (b"kind: *nothing\n", "yaml-syntax", ":1:7"),
    "an alias to itself": (b"spec: &a [*a]\n", "input-limit", ""),
    "an alias bomb": (b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + BOMB.encode(), "input-limit", ""),
    "ten megabytes": (b"# " + b"x" * (10 << 20), "input-limit", ""),
    "10,000 levels of lists": (b"spec: " + b"[" * 10_000 + b"]" * 10_000, "input-limit", ""),
    "10,000 levels of mappings": (b"{a: " * 10_000 + b"1" + b"}" * 10_000, "input-limit", ""),
    "10,000 levels of dashes": (b"- " * 10_000 + b"x\n", "input-limit", ""),
    "10,000 levels of question marks": (b"? " * 10_000 + b"x\n", "input-limit", ""),
    "1,000 levels of blocks": ("".join(" " * n + "a:\n" for n in range(1000)).encode(), "input-limit", ""),
    "10,000 open brackets": (b"[" * 10_000, "input-limit", ""),
    "a million commas": (b"[" + b"," * 1_000_000, "yaml-syntax", ":1:2"),
}


@pytest.mark.rows(2, "each runs four commands over a fleet; the reader has tests of its own")
@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(("content", "name", "position"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_is_no_profile_is_told_at_its_place(write, findings, path, content, name, position):
    write(path, content)
    found = findings()

    assert [finding for finding, _ in found] == [name]
    assert found[0][1].startswith(path + position)


@pytest.mark.rows(3, "each file, at the top or further in")
@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    ("content", "position"),
    [(b"kind: x\nspec: {}\nkind: y\n", ":3:1"), (b"spec:\n  gpu: {a: 1, a: 2}\n", ":2:15")],
    ids=["at the top", "further in"],
)
def test_a_duplicate_key_is_told_and_the_rest_of_the_file_too(write, findings, path, content, position):
    write(path, content)
    found = findings()

    assert ("duplicate-key", f"{path}{position}") in found
    assert len(found) > 1


@pytest.mark.deep("a file of thousands of keys, read four times")
def test_as_many_duplicate_keys_are_told_as_anyone_reads(write, findings):
    keys = b"".join(b"k%d: x\n" % number for number in range(20_000 if DEEP else 2_000))
    write("profiles/broken/pool-0.yaml", keys * 2)

    assert [name for name, _ in findings()].count("duplicate-key") == MAX_DUPLICATES


@pytest.mark.deep("a whole run, 1.7 s; its parts have tests of their own")
def test_every_bad_file_is_told_in_one_run(write, findings):
    for number, (content, *_) in enumerate(BAD_FILES.values()):
        write(f"profiles/broken/bad-{number}.yaml", content)

    assert sorted(name for name, _ in findings()) == sorted(name for _, name, _ in BAD_FILES.values())


@pytest.mark.parametrize("path", PLACES)
def test_a_named_pipe_is_not_waited_for(project, findings, path):
    (project / path).unlink(missing_ok=True)
    (project / path).parent.mkdir(exist_ok=True)
    os.mkfifo(project / path)

    assert findings() == [("unreadable-file", path)]


@pytest.mark.parametrize("path", [*PLACES, "profiles/broken", "profiles/_bases"])
@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser reads everything")
def test_what_may_not_be_read_is_told(project, write, findings, path):
    write("profiles/_bases/base.yaml", "kind: x\n")
    (project / path).chmod(0)
    try:
        assert ("unreadable-file", path) in findings()
    finally:
        (project / path).chmod(0o700)


@pytest.mark.parametrize("path", ["profiles/broken/pool-0.yaml", "profiles/broken/cluster.yaml"])
def test_an_input_error_of_the_system_is_told_with_the_file(project, findings, monkeypatch, path):
    real = os.lstat

    def fail(wanted, *args, **options):
        if str(wanted).endswith(path):
            raise PermissionError(13, "Permission denied")
        return real(wanted, *args, **options)

    monkeypatch.setattr("poolsmith.core.sources.input_tree.os.lstat", fail)

    assert findings() == [("unreadable-file", path)]


@pytest.mark.parametrize("path", ["profiles/broken/more.yaml", "profiles/_bases/base.yaml"])
def test_a_folder_where_a_file_is_meant_is_told(project, findings, path):
    (project / path).mkdir(parents=True)

    assert findings() == [("misplaced-file", path)]


@pytest.mark.parametrize("path", ["profiles/pool.yaml", "profiles/_shared/pool.yaml"])
def test_a_file_where_poolsmith_does_not_look_is_told(write, findings, path):
    write(path, "kind: x\n")

    assert [name for name, _ in findings()] == ["misplaced-file"]
