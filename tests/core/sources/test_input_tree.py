"""Whatever a pull request puts into a folder ends in data or in a diagnostic with the file's name."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.sources.input_tree import MAX_PROFILE_BYTES, InputTree, walk
from poolsmith.core.sources.source_file import SourceFile


def read(root, path="x.yaml"):
    return InputTree(root).read_profile(path)


def finding(result):
    assert isinstance(result, Diagnostic)
    return result.name, str(result.primary.span)


def write_bytes(root, content):
    (root / "x.yaml").write_bytes(content)
    return root


@pytest.fixture
def outside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "x.yaml").write_text("secret: 1\n")
    return folder


def test_a_listing_is_sorted_and_leaves_hidden_entries_out(write_files):
    root = write_files({"p/b.yaml": "", "p/a.yaml": "", "p/Z/x": "", "p/c/x": "", "p/.hidden": "", "p/.git/x": ""})
    listing = InputTree(root).listing("p")

    assert (listing.files, listing.folders, listing.problems) == (("a.yaml", "b.yaml"), ("Z", "c"), ())


def test_the_root_itself_can_be_listed(write_files):
    assert InputTree(write_files({"a": "", "b/c": ""})).listing("").files == ("a",)


def test_a_circle_of_links_is_reported_and_the_rest_is_read(write_files):
    root = write_files({"p/a.yaml": ""})
    (root / "p/one").symlink_to("two")
    (root / "p/two").symlink_to("one")
    failed, found = [], []
    read_here = [names for _, names in walk(str(root), lambda name: False, failed.append, found.append)]

    assert read_here == [[], ["a.yaml"]]
    assert sorted(found) == [f"{root}/p/one", f"{root}/p/two"]
    assert [error.errno for error in failed] == [errno.ELOOP] * 2


@pytest.mark.parametrize("folder", ["nope", "file"])
def test_what_is_no_folder_is_reported(write_files, folder):
    listing = InputTree(write_files({"file": ""})).listing(folder)

    assert [finding(problem) for problem in listing.problems] == [("unreadable-file", folder)]


def test_a_file_name_that_is_not_utf8_is_reported(tmp_path):
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.yaml")).write_text("a: 1")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    listing = InputTree(tmp_path).listing("")

    assert listing.files == ()
    assert [problem.name for problem in listing.problems] == ["misplaced-file"]
    assert "\\udcff.yaml" in listing.problems[0].message


def test_links_that_stay_inside_are_followed(write_files):
    root = write_files({"real/x.yaml": "a: 1"})
    (root / "link.yaml").symlink_to("real/x.yaml")
    (root / "folder").symlink_to("real")
    tree = InputTree(root)

    assert tree.listing("").files == ("link.yaml",)
    assert tree.listing("").folders == ("folder", "real")
    assert tree.read_profile("link.yaml").data == {"a": 1}
    assert tree.read_profile("folder/x.yaml").data == {"a": 1}


def test_the_root_may_be_a_link_itself(write_files, tmp_path_factory):
    root = write_files({"p/x.yaml": "a: 1"})
    link = tmp_path_factory.mktemp("links") / "root"
    link.symlink_to(root)

    assert InputTree(link).listing("p").files == ("x.yaml",)
    assert read(link, "p/x.yaml").data == {"a": 1}


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_out_of_the_tree_is_refused(tmp_path, outside, absolute):
    target = outside if absolute else Path(os.path.relpath(outside, tmp_path))
    (tmp_path / "file.yaml").symlink_to(target / "x.yaml")
    (tmp_path / "folder").symlink_to(target)
    tree = InputTree(tmp_path)
    listing = tree.listing("")

    assert (listing.files, listing.folders) == ((), ())
    assert [finding(problem) for problem in listing.problems] == [
        ("link-out-of-tree", "file.yaml"),
        ("link-out-of-tree", "folder"),
    ]
    assert finding(tree.read_profile("file.yaml")) == ("link-out-of-tree", "file.yaml")
    assert finding(tree.read_profile("folder/x.yaml")) == ("link-out-of-tree", "folder")
    assert [finding(problem) for problem in tree.listing("folder").problems] == [("link-out-of-tree", "folder")]


def test_a_link_to_a_sibling_with_the_same_prefix_leads_out(tmp_path):
    (tmp_path / "root-2").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "root-2")

    assert [problem.name for problem in InputTree(tmp_path / "root").listing("").problems] == ["link-out-of-tree"]


def test_links_that_lead_nowhere_are_unreadable_files(tmp_path):
    (tmp_path / "circle.yaml").symlink_to("other.yaml")
    (tmp_path / "other.yaml").symlink_to("circle.yaml")
    (tmp_path / "dangling.yaml").symlink_to("missing.yaml")
    tree = InputTree(tmp_path)

    assert tree.listing("").files == ("circle.yaml", "dangling.yaml", "other.yaml")
    assert {finding(tree.read_profile(name))[0] for name in tree.listing("").files} == {"unreadable-file"}


def test_a_named_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "x.yaml")
    result = read(tmp_path)

    assert (finding(result), result.message) == (("unreadable-file", "x.yaml"), "not a regular file")


def test_a_folder_named_like_a_file_is_a_folder(tmp_path):
    (tmp_path / "x.yaml").mkdir()

    assert InputTree(tmp_path).listing("").folders == ("x.yaml",)
    assert finding(read(tmp_path)) == ("unreadable-file", "x.yaml")


def test_a_missing_file_is_reported(tmp_path):
    assert finding(read(tmp_path)) == ("unreadable-file", "x.yaml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_a_file_without_permission_is_reported(write_files):
    root = write_files({"x.yaml": "a: 1"})
    (root / "x.yaml").chmod(0)

    assert finding(read(root)) == ("unreadable-file", "x.yaml")


def test_a_large_file_is_not_read(tmp_path):
    result = read(write_bytes(tmp_path, b"#" * 10_000_000))

    assert finding(result) == ("input-limit", "x.yaml")
    assert "10,000,000 bytes" in result.message


def test_a_file_of_just_the_limit_is_read(tmp_path):
    text = InputTree(write_bytes(tmp_path, b"#" * MAX_PROFILE_BYTES)).read_text("x.yaml")

    assert len(text) == MAX_PROFILE_BYTES


@pytest.mark.parametrize(
    ("content", "name", "place"),
    [
        ("a: ä\nbé: Zürich\n".encode("latin-1"), "not-utf8", "x.yaml:1:4"),
        ("a: é\nbé: ".encode() + b"\xfc", "not-utf8", "x.yaml:2:5"),
        ("a: 1\n".encode("utf-16"), "not-utf8", "x.yaml:1:1"),
        ("a: 1\n".encode("utf-16-le"), "yaml-syntax", "x.yaml:1:2"),
        (b"a: \xed\xa0\x80\n", "not-utf8", "x.yaml:1:4"),
        ("a: 1\n".encode("utf-8-sig"), "byte-order-mark", "x.yaml:1:1"),
        (b"", "empty-document", "x.yaml"),
        (b" \n\n", "empty-document", "x.yaml"),
        (b"# nothing\n", "empty-document", "x.yaml"),
        (b"---\n", "empty-document", "x.yaml"),
        (b"a: 1\n---\nb: 2\n", "several-documents", "x.yaml"),
        (b"- a\n", "not-a-mapping", "x.yaml:1:1"),
        (b"text\n", "not-a-mapping", "x.yaml:1:1"),
        (b"a: [\n", "yaml-syntax", "x.yaml:1:4"),
        (b"a:\n\tb: 1\n", "yaml-syntax", "x.yaml:2:1"),
        (b"a: .inf\n", "not-json", "x.yaml:1:4"),
        (b"<<<<<<< a\n", "merge-conflict-marker", "x.yaml:1:1"),
        (b"--- {a: 1}\n", "text-after-document-marker", "x.yaml:1:5"),
        (b"a: " + b"[" * 200 + b"]" * 200, "input-limit", "x.yaml:1:103"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_file_that_is_no_profile_is_reported_at_its_place(tmp_path, content, name, place):
    assert finding(read(write_bytes(tmp_path, content))) == (name, place)


def test_a_duplicate_key_shows_both_lines(tmp_path):
    file = read(write_bytes(tmp_path, b"a: 1\r\nb: 2\r\na: 3\r\n"))
    (result,) = file.problems

    assert file.data == {"a": 1, "b": 2}
    assert finding(result) == ("duplicate-key", "x.yaml:3:1")
    assert result.primary.source_line == "a: 3"
    assert [(str(place.span), place.source_line) for place in result.related] == [("x.yaml:1:1", "a: 1")]


@pytest.mark.parametrize("content", [b"a: 1\n", b"---\na: 1\n...\n", b"a: 1\r\n", b"%YAML 1.1\n---\na: 1"])
def test_a_mapping_is_a_source_file(tmp_path, content):
    result = read(write_bytes(tmp_path, content))

    assert isinstance(result, SourceFile)
    assert (result.path, result.data, result.text.encode()) == ("x.yaml", {"a": 1}, content)
