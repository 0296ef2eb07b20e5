"""Every verb, flag and exit code."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module

import pytest

from poolsmith import __version__
from poolsmith.interface.cli.verbs import VERBS


@pytest.fixture
def generated(sample_project, run_cli):
    assert run_cli(["generate", "--root", sample_project]).code == 0
    return sample_project


@pytest.fixture
def broken(sample_project):
    text = (sample_project / "profiles/edge/l4.yaml").read_text()
    (sample_project / "profiles/edge/l4.yaml").write_text(text.replace("driver:", "diver:"))
    for folder in (sample_project / "profiles").iterdir():
        if not folder.name.startswith(("_", "edge")):
            shutil.rmtree(folder)  # findings of many clusters are shortened in text
    return sample_project


@pytest.mark.parametrize(("module", "says"), VERBS.values(), ids=list(VERBS))
def test_the_list_of_verbs_says_what_each_says_of_itself(module, says):
    command = importlib.import_module(f"poolsmith.interface.cli.{module}").command

    assert command.get_short_help_str(200) == says
    assert not command.hidden


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("verb", [(), *((verb,) for verb in VERBS)], ids=["poolsmith", *VERBS])
def test_help_is_everywhere(run_cli, verb, flag):
    result = run_cli([*verb, flag])

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: poolsmith")


def test_help_lists_every_verb(run_cli):
    lines = [line for line in run_cli(["--help"]).out.splitlines() if line.startswith("  ") and line[2:3].isalpha()]
    listed = [line.split()[0] for line in lines if line.split()[0] in VERBS]

    assert sorted(listed) == sorted(VERBS)
    assert {"init", "generate", "check", "explain", "rules", "schema"} <= set(listed)


def test_the_version_is_one_line(run_cli):
    result = run_cli(["--version"])

    assert (result.code, result.out, result.err) == (0, f"poolsmith {__version__}\n", "")


@pytest.mark.rows(17, "each verb; a copy of the project each")
@pytest.mark.parametrize(
    "args",
    [
        [],
        ["genrate"],
        ["--nothing"],
        ["generate", "extra"],
        ["generate", "--nothing"],
        ["generate", "--jobs", "0"],
        ["generate", "--jobs", "many"],
        ["generate", "--jobs", "65"],
        ["generate", "--format", "xml"],
        ["generate", "--fail-on", "never"],
        ["generate", "--cluster"],
        ["generate", "--root", "nowhere"],
        ["generate", "--root", "profiles/edge/l4.yaml"],
        ["generate", "--cluster", "nothing"],
        ["generate", "--cluster", "../edge"],
        ["check", "--root", "nowhere"],
        ["check", "nowhere.yaml"],
        ["check", "--cluster", "nothing"],
        ["explain"],
        ["explain", "a", "b"],
        ["explain", "nothing"],
        ["explain", "PSM999"],
        ["explain", "PSM"],
        ["explain", ""],
        ["explain", "--root", "nowhere", "edge"],
        ["explain", "edge/nothing"],
        ["explain", "edge:driver.nothing"],
        ["explain", "nothing:driver.version"],
        ["explain", "manual:nothing"],
        ["explain", "output/clusters/nothing/platform/values/gpu-operator.yaml"],
        ["explain", "output/clusters/edge/README.md"],
        ["explain", "output/clusters/edge/poolsmith.lock.json"],
        ["explain", "--format", "github", "PSM101"],
        ["rules", "--format", "xml"],
        ["rules", "extra"],
        ["schema"],
        ["schema", "Pool"],
        ["init", "--engine", "jenkins"],
        ["init", "Not_A_Name"],
        ["init", "../up"],
        ["init", "--root", "profiles/edge/l4.yaml"],
    ],
    ids=" ".join,
)
def test_flags_and_arguments_that_make_no_sense_end_with_2(sample_project, run_cli, contents, args):
    before = contents(sample_project)
    result = run_cli(args, cwd=sample_project)

    assert (result.code, result.out) == (2, "")
    assert result.err
    assert "Traceback" not in result.err
    assert contents(sample_project) == before


@pytest.mark.parametrize("verb", [["generate"], ["generate", "--check"], ["check"], ["explain", "edge"]], ids=" ".join)
@pytest.mark.parametrize("made", [[], ["profiles"], ["profiles/_bases"]], ids=["nothing", "profiles", "bases"])
def test_nothing_to_work_on_ends_with_3(run_cli, tmp_path, contents, verb, made):
    for folder in made:
        (tmp_path / folder).mkdir(parents=True)
    result = run_cli([*verb, "--root", tmp_path])

    assert result.code == (3 if verb != ["explain", "edge"] or not made else 2)
    assert result.out == ""
    assert "Traceback" not in result.err
    assert contents(tmp_path) == {}


def test_a_folder_without_manifests_ends_with_3(run_cli, tmp_path):
    (tmp_path / "notes.txt").write_text("no manifest")

    assert run_cli(["check", tmp_path]).code == 3


@pytest.mark.deep("a whole run, 1.2 s; its parts have tests of their own")
@pytest.mark.sample
def test_generate_writes_and_then_has_nothing_to_write(sample_project, run_cli):
    first = run_cli(["generate"], cwd=sample_project)
    second = run_cli(["generate"], cwd=sample_project)

    assert (first.code, first.err, second.code, second.err) == (0, "", 0, "")
    assert "wrote 13 of 13 clusters: a40-precompiled, claims, edge" in first.out
    assert "nothing to write" in second.out
    assert "checked 13 clusters, 31 pools," in second.out


@pytest.mark.parametrize("verb", [["generate", "--check"], ["check"]], ids=" ".join)
def test_output_that_is_out_of_date_ends_with_1(generated, run_cli, verb):
    (generated / "output/clusters/edge/README.md").unlink()
    result = run_cli([*verb, "--root", generated])

    assert (result.code, result.err) == (1, "")
    assert "error PSM501 output-out-of-date" in result.out


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        (verb, form)
        for verb in (["generate"], ["generate", "--check"], ["check"], ["explain", "edge"])
        for form in ("text", "json", "github")
        if (verb[0], form) != ("explain", "github")
    ],
)
def test_findings_end_with_1_in_every_format(broken, run_cli, verb, form):
    result = run_cli([*verb, "--root", broken, "--format", form])

    assert (result.code, result.err) == (1, "")
    assert "PSM101" in result.out


@pytest.mark.rows(2, "each threshold; a check of a fleet each")
@pytest.mark.parametrize(("level", "code"), [("error", 0), ("note", 1)])
@pytest.mark.parametrize("verb", [["generate"], ["generate", "--check"], ["check"]], ids=" ".join)
def test_fail_on_moves_the_threshold(generated, run_cli, verb, level, code):
    assert run_cli([*verb, "--root", generated, "--fail-on", level]).code == code


def test_what_somebody_has_accepted_is_in_the_waivers_alone(generated, run_cli):
    """The sample's one warning of profiles is waived; `generated` has no policies."""
    assert run_cli(["generate", "--root", generated, "--fail-on", "warning"]).code == 1


def test_cluster_can_be_given_again_and_again(sample_project, run_cli):
    result = run_cli(
        ["generate", "--root", sample_project, "--cluster", "edge", "--cluster", "manual", "--cluster", "edge"]
    )

    assert "wrote 2 of 2 clusters: edge, manual" in result.out
    assert sorted(path.name for path in (sample_project / "output/clusters").iterdir()) == ["edge", "manual"]


@pytest.mark.rows(3, "verbs that begin otherwise")
@pytest.mark.parametrize(
    "args", [["generate"], ["check"], ["explain", "edge"], ["init"], ["rules"], ["schema", "Cluster"]], ids=" ".join
)
def test_a_bug_ends_with_70_and_one_line_without_the_users_data(generated, run_cli, monkeypatch, args):
    def fail(*_arguments, **_options):
        raise RuntimeError("secret of the user")

    for module, name in (
        ("interface.app.run", "open_project"),
        ("interface.app.explain", "open_project"),
        ("interface.app.initialize", "schema_files"),
        ("guard.rules.rule_book", "rule_book"),
        ("interface.app.schemas", "schema_text"),
    ):
        monkeypatch.setattr(import_module(f"poolsmith.{module}"), name, fail)
    result = run_cli(args, cwd=generated)

    assert (result.code, result.out) == (70, "")
    assert result.err.startswith(f"poolsmith: internal error in poolsmith {__version__}: RuntimeError at ")
    assert result.err.count("\n") == 1
    assert "secret" not in result.err


def test_an_interrupt_ends_with_130(generated, run_cli, monkeypatch):
    def interrupt(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("poolsmith.interface.app.run"), "open_project", interrupt)
    result = run_cli(["generate", "--root", generated])

    assert (result.code, result.out) == (130, "")
    assert result.err.strip() == "poolsmith: interrupted; what was not finished was not written"


def test_a_write_error_ends_with_1_and_one_line(generated, run_cli, monkeypatch):
    from poolsmith.core.diagnostics import WriteError

    def fail(*_arguments, **_options):
        raise WriteError("can't write: No space left on device")

    monkeypatch.setattr(import_module("poolsmith.interface.app.generate"), "recover", fail)
    result = run_cli(["generate", "--root", generated, "--format", "json"])

    assert (result.code, result.out, result.err) == (1, "", "poolsmith: can't write: No space left on device\n")


def test_messages_escape_what_was_typed(run_cli, sample_project):
    for args in (
        ["explain", "\x1b[31m\nx"],
        ["generate", "--cluster", "\x1b]0;x\x07"],
        ["schema", "\x9b1m"],
        ["init", "\x1b"],
    ):
        result = run_cli([*args, "--root", sample_project] if args[0] != "schema" else args)

        assert result.code == 2
        assert result.err.rstrip("\n").isprintable()


def test_check_judges_anyones_manifests(run_cli, tmp_path):
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "sound.yml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
    (tmp_path / "values.yaml").write_text("driver: {enabled: true}\n")
    result = run_cli(["check", tmp_path, "--all", "--root", tmp_path, "--format", "json"])

    assert (result.code, result.err) == (0, "")
    assert result.report["summary"]["checkedByKind"]["manifest files"] == 3
    assert result.report["summary"]["skipped"] == 1
    (tmp_path / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
    assert run_cli(["check", tmp_path / "node.yaml", "--root", tmp_path]).code == 1
    assert run_cli(["check", tmp_path / "empty.yaml", "--root", tmp_path]).code == 0


def test_check_goes_on_after_a_file_that_can_not_be_read(run_cli, tmp_path):
    (tmp_path / "bad.yaml").write_text("a: [\n")
    (tmp_path / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
    (tmp_path / "link.yaml").symlink_to("nowhere")
    result = run_cli(["check", tmp_path, "--all", "--root", tmp_path, "--format", "json"])

    assert result.code == 1
    assert {item["primary"]["path"] for item in result.diagnostics} == {"bad.yaml", "node.yaml", "link.yaml"}


def test_check_tells_of_a_folder_that_can_not_be_listed(run_cli, tmp_path, monkeypatch):
    (tmp_path / "manifests/locked").mkdir(parents=True)
    real = os.scandir

    def refuse(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = run_cli(["check", "manifests", "--format", "json"], cwd=tmp_path)

    assert [(item["name"], item["primary"]["path"]) for item in result.diagnostics] == [
        ("unreadable-file", "manifests/locked")
    ]
    assert result.code == 1


def test_rules_are_listed_in_three_formats(run_cli):
    text, body, page = (run_cli(["rules", "--format", form]) for form in ("text", "json", "markdown"))
    codes = [rule["code"] for rule in json.loads(body.out)["rules"]]

    assert codes == sorted(set(codes))
    assert codes == [line.split()[0] for line in text.out.splitlines()]
    assert all(f"{code}" in page.out for code in codes)
    assert {text.err, body.err, page.err} == {""}


def test_every_rule_is_explained_by_code_and_by_name(run_cli):
    for rule in json.loads(run_cli(["rules", "--format", "json"]).out)["rules"]:
        by_code, by_name = run_cli(["explain", rule["code"].lower()]), run_cli(["explain", rule["name"]])

        assert by_code.code == 0
        assert by_code.out == by_name.out
        assert rule["code"] in by_code.out


@pytest.mark.parametrize("kind", ["Cluster", "NodePool", "NodePoolBase", "cluster", "node-pool", "nodepoolbase"])
def test_a_schema_is_json_and_the_one_that_is_committed(run_cli, kind, repository):
    result = run_cli(["schema", kind])
    committed = [path.read_text() for path in (repository / "profiles/_schemas").iterdir()]

    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert result.out in committed


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_init_writes_profiles_that_generate_cleanly(run_cli, tmp_path, engine):
    result = run_cli(["init", "prod-eu", "--engine", engine, "--root", tmp_path])

    assert (result.code, result.err) == (0, "")
    assert "wrote profiles/prod-eu/cluster.yaml\n" in result.out
    for path in (tmp_path / "profiles/prod-eu").iterdir():
        path.write_text(re.sub(r" *# TODO assumed.*", "", path.read_text()))
    generated = run_cli(["generate", "--root", tmp_path, "--fail-on", "warning"])
    assert (generated.code, generated.err) == (0, "")
    assert run_cli(["check", "--root", tmp_path, "--fail-on", "warning"]).code == 0


def test_init_overwrites_no_profile(run_cli, tmp_path, contents):
    assert run_cli(["init", "gpu-cluster"], cwd=tmp_path).code == 0
    (tmp_path / "profiles/gpu-cluster/gpu.yaml").write_text("mine")
    before = contents(tmp_path)
    result = run_cli(["init", "gpu-cluster"], cwd=tmp_path)

    assert (result.code, result.err) == (1, "")
    assert "nothing was written: there are errors" in result.out
    assert "kept  profiles/gpu-cluster/gpu.yaml\n" in result.out
    assert contents(tmp_path) == before


def test_init_renews_schemas_whatever_they_hold(run_cli, tmp_path, contents):
    assert run_cli(["init", "gpu-cluster"], cwd=tmp_path).code == 0
    before = contents(tmp_path)
    (tmp_path / "profiles/_schemas/cluster.schema.json").write_bytes(b"\xff")

    assert run_cli(["init", "gpu-cluster"], cwd=tmp_path).code == 0
    assert contents(tmp_path) == before


@pytest.mark.parametrize("link", ["profiles", "profiles/gpu-cluster", "profiles/_schemas"])
def test_init_writes_through_no_link(run_cli, tmp_path, contents, link):
    (tmp_path / "outside").mkdir()
    (tmp_path / "project/profiles").mkdir(parents=True)
    if link == "profiles":
        shutil.rmtree(tmp_path / "project/profiles")
    (tmp_path / "project" / link).symlink_to(tmp_path / "outside")
    result = run_cli(["init", "gpu-cluster", "--root", tmp_path / "project"])

    assert (result.code, result.out) == (1, "")
    assert f"`{link}` is a symbolic link" in result.err
    assert contents(tmp_path / "outside") == {}


def test_init_tells_when_it_can_not_write(run_cli, tmp_path):
    (tmp_path / "profiles").write_text("a file")
    result = run_cli(["init", "--root", tmp_path])

    assert (result.code, result.out) == (1, "")
    assert result.err.count("\n") == 1


def test_an_interrupt_that_hits_a_destructor_is_not_lost():
    code = (
        "import sys, time\n"
        "from poolsmith.interface.cli import main as module\n"
        "class Noisy:\n"
        "    def __del__(self): raise KeyboardInterrupt\n"
        "def run(arguments):\n"
        "    try:\n"
        "        Noisy()\n"
        "        for _ in range(1000): time.sleep(0.01)\n"
        "    except KeyboardInterrupt:\n"
        "        return 130\n"
        "    return 0\n"
        "module._run = run\n"
        "module.main()\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")
