"""Nothing that a file's name or a string in it says can steer a terminal, a log or a page."""

from __future__ import annotations

import os

import pytest

TEXTS = {
    "escape sequence": "\x1b[31mred\x1b[0m",
    "eight-bit escape": "\x9b31mred",
    "bell": "\x07",
    "carriage return": "left\rright",
    "newline": "left\nright",
    "line separator": "left\u2028right\u2029\x85end",
    "right to left": "\u202eabc",
    "workflow command": "\n::error file=x::forged\n::stop-commands::x\n",
    "percent": "100%0A::error::x",
    "html": "<script>alert(1)</script><img src=x onerror=y>",
    "markdown": "[link](http://x) `code` **bold** | cell | # head\n# head",
    "table": "| a | b |\n| - | - |",
    "comment": "--> x <!-- y",
    "backticks": "``` ` ```",
    "tag": "\U000e0041",
    "replacement": "{{ plan }} {% raw %}",
}
POOL, CLUSTER = "profiles/broken/pool-0.yaml", "profiles/broken/cluster.yaml"


def quoted(text):
    """A YAML scalar that means `text`, whatever it holds."""
    return '"' + "".join(f"\\U{ord(char):08x}" for char in text) + '"'


@pytest.mark.rows(3, "each runs four commands over a fleet")
@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (POOL, "name: pool-0", "name: {}"),
        (POOL, "kind: NodePool", "kind: {}"),
        (POOL, "source: container", "source: {}"),
        (POOL, "NVIDIA-L4", "{}"),
        (POOL, "spec:", "{0}: 1\n{0}: 2\nspec:"),
        (CLUSTER, "release: v26.3.3", "release: {}"),
        (CLUSTER, "driverMode: nvidia-driver", "values: {{driver: {{{}: 1}}}}"),
    ],
)
def test_a_report_escapes_a_value(edit, findings, path, old, new):
    edit(path, old, new.format(quoted("\x1b[31m\r\n::error::x\x9b\x85\u2028\u202e\U000e0041`|<b>")))

    assert findings()


@pytest.mark.rows(2, "each runs four commands over a fleet")
@pytest.mark.parametrize(
    ("path", "old", "new", "each"),
    [
        (POOL, "spec:", "{}\nspec:", "{}: 1\n"),
        (POOL, "spec:", "spec:\n{}", "  {}: 1\n"),
        (POOL, "spec:", "spec:\n  extends: [{}]", "{}, "),
        (POOL, "spec:", "spec:\n  nodes: {{names: [{}]}}", "{}, "),
        (CLUSTER, "driverMode: nvidia-driver", "values: {{{}}}", "{}: 1, "),
    ],
)
def test_a_report_escapes_keys_and_items(edit, findings, path, old, new, each):
    edit(path, old, new.format("".join(each.format(quoted(text)) for text in TEXTS.values())))

    assert len(findings()) > len(TEXTS) // 2


def test_a_report_escapes_the_names_of_files(project, write, findings):
    names = [text.replace("/", ":") for text in TEXTS.values()]
    for name in names:
        write(f"profiles/broken/{name}.yaml", "kind: [\n")
        (project / "profiles/broken" / f"{name}.d").mkdir()

    assert sorted(name for name, _ in findings()) == ["misplaced-file"] * len(names) + ["yaml-syntax"] * len(names)


@pytest.mark.rows(3, "each place once")
@pytest.mark.parametrize("name", [b"caf\xe9.yaml", b"\xff\xfe", b"\xed\xa0\x80.yaml"])
@pytest.mark.parametrize("folder", ["profiles/broken", "profiles/_bases", "profiles"])
def test_a_name_that_is_not_utf8_is_told(project, write, findings, name, folder):
    write(f"{folder}/{os.fsdecode(name)}", "kind: x\n")

    assert findings() == [("misplaced-file", folder)]


@pytest.mark.parametrize("name", [b"caf\xe9.yaml", b"a\nb\x1b[31m.yaml"])
def test_foreign_files_of_any_name_are_told_and_kept(project, write, edit, run_cli, contents, name):
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    edit(CLUSTER, "v26.3.3", "v26.7.0")
    write(f"output/clusters/broken/platform/{os.fsdecode(name)}", "mine")

    for form in ("text", "github", "json"):
        result = run_cli(["generate", "--root", project, "--format", form])
        assert (result.code, result.err) == (0, "")
        assert "foreign-file" in result.out
        assert all(line.isprintable() for line in result.out.splitlines())
    assert (project / "output/clusters/broken/platform" / os.fsdecode(name)).read_text() == "mine"


CHANGED_BY_THE_CHART = [TEXTS[name] for name in ("line separator", "eight-bit escape", "workflow command")]
"""Of these, `toYaml` and what reads it back would make another text, so that they are refused."""


@pytest.mark.rows(3, "each place once")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_readme_shows_texts_as_texts(project, edit, run_cli, text):
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    readme = project / "output/clusters/broken/README.md"
    edit(
        CLUSTER,
        "driverMode: nvidia-driver",
        "driverMode: nvidia-driver\n    values: {operator: {annotations: {plain: x}}}",
    )
    assert run_cli(["generate", "--root", project]).code == 0
    rows = readme.read_text().count("\n")
    edit(CLUSTER, "plain: x", f"plain: {quoted(text)}")
    result = run_cli(["generate", "--root", project])
    written = readme.read_bytes().decode()

    if text in CHANGED_BY_THE_CHART:
        assert (result.code, "values-do-not-render" in result.out) == (1, True)
        return
    assert (result.code, result.err) == (0, ""), result.out
    assert written.count("\n") == rows
    assert all(line.isprintable() for line in written.split("\n"))
    row = next(line for line in written.split("\n") if "annotations" in line)
    assert row.replace("\\|", "").count("|") == 4
    assert "<script>" not in row.replace(row[row.index("`") : row.index("`", row.index("`") + 1) + 1], "")


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31m", "a|b", "`", "<b>"])
def test_a_readme_shows_file_names_as_texts(project, edit, run_cli, text):
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    edit(POOL, "source: container", "source: container\n  nodes: {taints: [{key: example.com/x, effect: NoSchedule}]}")
    (project / POOL).rename(project / "profiles/broken" / f"{text}.yaml")
    result = run_cli(["generate", "--root", project])
    written = (project / "output/clusters/broken/README.md").read_bytes().decode()

    assert (result.code, result.err) == (0, "")
    assert "taints" in written
    assert all(line.isprintable() for line in written.split("\n"))
    assert "<b>" not in written
