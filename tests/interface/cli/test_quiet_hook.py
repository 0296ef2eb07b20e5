"""A hook over files without a word about GPUs is answered from their bytes, in the words of the verb itself."""

from __future__ import annotations

import pytest

from poolsmith.interface.cli.quiet_hook import has_nothing_to_judge

PLAIN = "kind: Service\nmetadata: {name: web}\n"
ABOUT = "driver:\n  enabled: true\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "web.yaml").write_text(PLAIN)
    (tmp_path / "two.yaml").write_text("a: [\n")
    (tmp_path / "--strict").write_text(PLAIN)
    (tmp_path / "values.yaml").write_text(ABOUT)
    (tmp_path / "gpu.yaml").write_text(PLAIN)
    (tmp_path / "below").mkdir()
    (tmp_path / "link.yaml").symlink_to("web.yaml")
    (tmp_path / "elsewhere").symlink_to("below")
    (tmp_path / "below/web.yaml").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "files", [["web.yaml"], ["--", "web.yaml", "two.yaml", "below/web.yaml"], ["./web.yaml"], ["--", "--strict"]]
)
def test_both_answers_are_the_same(folder, run_cli, capsys, files):
    quick = run_cli(["check", "--hook", *files])
    whole = run_cli(["check", "--fail-on", "error", "--hook", *files])

    assert (quick.code, quick.out, quick.err) == (whole.code, whole.out, whole.err) == (0, quick.out, "")
    assert has_nothing_to_judge(["check", "--hook", *files])


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--hook"],
        ["check", "--hook", "--"],
        ["check", "--hook", "web.yaml", "values.yaml"],
        ["check", "--hook", "gpu.yaml"],
        ["check", "--hook", "--strict", "web.yaml"],
        ["check", "--hook", "web.yaml", "--format=json"],
        ["check", "--hook", "link.yaml"],
        ["check", "--hook", "elsewhere/web.yaml"],
        ["check", "--hook", "below"],
        ["check", "--hook", "absent.yaml"],
        ["check", "--hook", "a\0b"],
        ["check", "--hook", "../web.yaml"],
        ["check", "--hook", "/dev/null"],
        ["check", "web.yaml"],
    ],
)
def test_the_verb_answers_all_else(folder, capsys, arguments):
    assert not has_nothing_to_judge(arguments)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["policies/waivers.yaml", "policies/baseline.yaml", ".poolsmith-baseline.yaml"])
def test_the_verb_judges_what_accepts_findings(folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("broken: [\n")
    assert not has_nothing_to_judge(["check", "--hook", "web.yaml"])


def test_a_build_server_gets_its_own_format(folder, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert not has_nothing_to_judge(["check", "--hook", "web.yaml"])
