"""A line with the mark of `init` is found, wherever a profile has it; text that says the same is none."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.fleet.profiles.assumed import ASSUMED, assumed_fields

MARK = f"# {ASSUMED}"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (f"a: 1  {MARK}\n", [(1, "`a: 1`")]),
        (f"a:\n  {MARK}\n  b: 1\n", [(3, "`b: 1`")]),
        (f"{MARK}\n# more\nb: 1\n", [(3, "`b: 1`")]),
        (f"a:\n  - {{x: 1}}  {MARK}  \n", [(2, "`- {x: 1}`")]),
        (f"a: 1\r\nb: 2  {MARK}\r\n", [(2, "`b: 2`")]),
        (f"a: 1\n{MARK}", [(2, "")]),
        (f"a: 1  {MARK}\n{MARK}\nb: 2\n", [(1, "`a: 1`"), (3, "`b: 2`")]),
        (f'a: "x {MARK}"\n', []),
        (f"a: |\n  x  {MARK}\n", []),
        (f"a: 1  {MARK}, really\n", []),
        ("a: 1\n", []),
    ],
)
def test_each_line_with_the_mark(tmp_path, text, places):
    (tmp_path / "a.yaml").write_bytes(text.encode())
    file = InputTree(tmp_path).read_profile("a.yaml")
    assert isinstance(file, SourceFile)

    found = list(assumed_fields(file))

    assert [item.primary.span.start.line for item in found] == [line for line, _ in places]
    assert all(said in item.message for item, (_, said) in zip(found, places, strict=True))


def test_no_secret_is_repeated(tmp_path):
    (tmp_path / "a.yaml").write_text(f"password: hunter2hunter2  {MARK}\nurl: https://u:hunter3@x.example  {MARK}\n")
    file = InputTree(tmp_path).read_profile("a.yaml")

    told = "".join(f"{item.message}{item.primary.source_line}" for item in assumed_fields(file))

    assert "hunter" not in told


def test_the_sample_fleet_has_none(repository):
    files = list((repository / "profiles").rglob("*.yaml"))
    assert files
    assert not [path for path in files if ASSUMED in path.read_text("utf-8")]
