"""A hook over files without a word about GPUs is answered from their bytes, in the words of the verb itself."""

from __future__ import annotations

import pytest

from poolsmith.interface.cli import main
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


GPU_FILES = {
    "values.yaml": "devicePlugin:\n  config: {name: a}\noperator:\n  upgradeCRD: 7\ndrivr: {enabled: true}\n",
    "cluster.yaml": "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: {driver: {enabled: 3}}\n",
    "broken.yaml": "nvidia: [\n",
    "pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
    "spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 0.5}}}]}\n",
}


@pytest.fixture
def gpu_folder(folder):
    for name, text in GPU_FILES.items():
        (folder / name).write_text(text)
    (folder / "profiles/prod").mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    "files",
    [
        ["values.yaml"],
        ["--", "cluster.yaml", "pod.yaml"],
        ["broken.yaml", "web.yaml"],
        ["below"],
        ["absent.yaml"],
        ["prod"],
        [""],
        ["../values.yaml"],
        ["--", "-nvidia.yaml"],
        ["link.yaml", "values.yaml", "values.yaml"],
    ],
)
@pytest.mark.rows(20, "each value of each column is seen first")
@pytest.mark.parametrize("surroundings", ["nothing", "baseline", "bad waivers", "github", "colour"])
def test_files_without_flags_are_judged_as_by_the_verb(gpu_folder, run_cli, monkeypatch, files, surroundings):
    if surroundings == "baseline":
        run_cli(["check", "--hook", "--write-baseline", "--", *files])
    elif surroundings == "bad waivers":
        (gpu_folder / "policies").mkdir()
        (gpu_folder / "policies/waivers.yaml").write_text("broken: [\n")
    elif surroundings == "colour":
        monkeypatch.setenv("FORCE_COLOR", "1")
    elif surroundings == "github":
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setattr("secrets.token_hex", "a".__mul__)
    plain = run_cli(["check", "--hook", *files])
    monkeypatch.setattr(main, "_judge_hook", main._parsed)
    parsed = run_cli(["check", "--hook", *files])

    assert (plain.code, plain.out, plain.err) == (parsed.code, parsed.out, parsed.err)
    assert plain.code in (0, 1, 2, 3)


@pytest.mark.parametrize(
    "line",
    [
        "values.yaml",
        "values.yaml below --no-cache",
        "--cache . --rehash",
        "link.yaml",
        "absent.yaml",
        "prod",
        "pod.yaml pod.yaml",
        "values.yaml --color",
        "values.yaml -- pod.yaml",
        "--no-cache -",
    ],
)
def test_paths_without_flags_are_judged_as_by_the_verb(gpu_folder, run_cli, monkeypatch, line):
    plain = run_cli(["check", *line.split()])
    monkeypatch.setattr(main, "_plain", main._parsed)

    assert plain == run_cli(["check", *line.split()])
    assert plain.code in (0, 1, 2, 3)


def test_the_command_that_shows_more_is_the_one_that_was_given(gpu_folder, run_cli, monkeypatch):
    monkeypatch.chdir(gpu_folder / "below")
    (gpu_folder / "below/values.yaml").write_text(GPU_FILES["values.yaml"])
    plain = run_cli(["check", "--hook", "--", "values.yaml"])
    monkeypatch.setattr(main, "_judge_hook", main._parsed)

    assert plain.out == run_cli(["check", "--hook", "--", "values.yaml"]).out
    assert "PSM301" in plain.out
