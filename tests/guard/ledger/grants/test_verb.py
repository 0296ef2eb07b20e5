"""poolsmith grants: what is missing, on the screen or in files that were not there."""

from __future__ import annotations

import datetime as dt
import re
import shutil

import pytest

from poolsmith.guard.ledger.grants.grant_proposal import Answers
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app import check_project
from poolsmith.interface.app.grants import missing_grants

RULES = ("ungranted-privilege", "unused-grant", "wide-grant", "grant-without-reason", "no-grants")


def findings(root):
    outcome = check_project(
        root, progress=lambda done, total: None, judging=JudgingOptions(today=dt.date(2026, 11, 20))
    )
    return {name: [item for item in outcome.diagnostics if item.name == name] for name in RULES}


def fill_in(root):
    for path in (root / "policies/privileges").glob("*.yaml"):
        text = path.read_text("utf-8")
        for field, value in (("reason", "Known."), ("owner", "gpu"), ("expires", "2027-06-30")):
            text = text.replace(f'{field}: ""', f"{field}: {value}")
        path.write_text(text, "utf-8")


def test_a_project_without_grants_gets_all_of_them_and_only_people_can_finish_them(run_cli, sample_project):
    before = findings(sample_project)
    result = run_cli(["grants", "--write", "--root", sample_project])
    written = findings(sample_project)
    fill_in(sample_project)
    filled = findings(sample_project)

    assert result.code == 0
    assert [name for name, found in before.items() if found] == ["no-grants"]
    assert [name for name, found in written.items() if found] == ["grant-without-reason"]
    assert not any(filled.values())


def test_what_is_printed_is_what_is_written(run_cli, sample_project):
    printed = run_cli(["grants", "--root", sample_project]).out
    run_cli(["grants", "--write", "--root", sample_project])
    files = sorted((sample_project / "policies/privileges").iterdir(), key=lambda path: path.stem)
    shown = "---\n".join(f"# policies/privileges/{path.name}\n{path.read_text('utf-8')}" for path in files)

    assert printed == shown
    assert all(len(path.read_text("utf-8")) > 100 for path in files)
    assert (sample_project / "policies/_schemas/privilege-grant.schema.json").exists()


def test_nothing_is_left_to_write_the_second_time(run_cli, sample_project, contents):
    run_cli(["grants", "--write", "--root", sample_project])
    before = contents(sample_project)
    result = run_cli(["grants", "--write", "--root", sample_project])

    assert re.fullmatch(r"all [\d,]+ lines of ledgers are granted\n", result.out)
    assert contents(sample_project) == before


def test_only_what_was_written_is_said_to_be(sample_project):
    assert not missing_grants(sample_project).written
    assert missing_grants(sample_project, write=True).written
    assert not missing_grants(sample_project, write=True).written


def test_what_a_person_says_stands_in_each_file(sample_project):
    files = missing_grants(sample_project, answers=Answers(reason="Known.", owner="gpu", expires="2027-06-30")).files

    assert files
    assert all("reason: Known." in text and "owner: gpu" in text for text in files.values())


def test_files_that_exist_are_never_touched_and_additions_stand_in_new_ones(run_cli, sample_project, contents):
    folder = sample_project / "policies/privileges"
    run_cli(["grants", "--write", "--root", sample_project])
    text = (folder / "nvidia-mig-manager.yaml").read_text("utf-8")
    (folder / "nvidia-mig-manager.yaml").write_text(text.replace("    - host-ipc\n", ""), "utf-8")
    before = contents(folder)
    result = run_cli(["grants", "--write", "--root", sample_project])
    after = contents(folder)

    assert result.out.startswith("wrote policies/privileges/nvidia-mig-manager-2.yaml\n")
    assert {name: after[name] for name in before} == before
    assert after["nvidia-mig-manager-2.yaml"].decode().count("host-ipc") == 1
    assert not findings(sample_project)["ungranted-privilege"]


def test_one_cluster_may_be_asked_about_and_the_grants_name_it(run_cli, sample_project):
    result = run_cli(["grants", "--cluster", "manual", "--root", sample_project])

    assert result.code == 0
    assert set(re.findall(r"clusters:\n    - (.*)\n", result.out)) == {"manual"}


def test_a_project_with_mistakes_gets_no_grants(run_cli, sample_project):
    (sample_project / "profiles/manual/cluster.yaml").write_text("kind: Cluster\n")
    result = run_cli(["grants", "--write", "--root", sample_project])

    assert result.code == 1
    assert not (sample_project / "policies").exists()


def test_grants_with_mistakes_are_told_first(run_cli, sample_project):
    folder = sample_project / "policies/privileges"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text("kind: PrivilegeGrant\n")
    result = run_cli(["grants", "--write", "--root", sample_project])

    assert result.code == 1
    assert [path.name for path in folder.iterdir()] == ["x.yaml"]


def test_nothing_is_written_through_a_link(run_cli, sample_project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (sample_project / "policies").symlink_to(elsewhere)
    result = run_cli(["grants", "--write", "--root", sample_project])

    assert result.code == 1
    assert list(elsewhere.iterdir()) == []


def test_a_failure_in_between_takes_back_what_was_written(run_cli, sample_project, monkeypatch):
    from poolsmith.interface.app import new_files

    write_new = new_files._write_new

    def failing(target, text):
        if target.name == "nvidia-mig-manager.yaml":
            raise OSError(28, "No space left on device", str(target))
        write_new(target, text)

    monkeypatch.setattr(new_files, "_write_new", failing)
    result = run_cli(["grants", "--write", "--root", sample_project])

    assert result.code == 1
    assert "No space left on device; nothing was changed" in result.err
    assert list((sample_project / "policies/privileges").iterdir()) == []


@pytest.fixture
def granted(run_cli, sample_project):
    """The sample fleet with minimal grants that are filled in."""
    run_cli(["grants", "--write", "--root", sample_project])
    fill_in(sample_project)
    return sample_project


def test_a_value_that_adds_a_privilege_is_found_at_its_line_with_the_grant_that_would_allow_it(granted):
    path = granted / "profiles/edge/cluster.yaml"
    text = path.read_text("utf-8")
    path.write_text(
        re.sub(r"(    release: .*\n)", r"\1    values: {dcgmExporter: {hostNetwork: true}}\n", text, count=1)
    )
    (found,) = findings(granted)["ungranted-privilege"]

    assert found.primary.span.path == "profiles/edge/cluster.yaml"
    assert found.primary.source_line.strip().startswith("values:")
    assert found.subject == "edge/gpu-operator/DaemonSet/nvidia-dcgm-exporter"
    assert "`host-network` on pool `l4`" in found.message
    snippet = found.help.partition("\n")[2]
    (granted / "policies/privileges/more.yaml").write_text(snippet)
    fill_in(granted)
    assert not any(findings(granted).values())


def test_a_token_that_is_taken_away_is_found_at_the_workload_that_holds_it(granted):
    path = granted / "policies/privileges/nvidia-dcgm-exporter.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("    - host-path:/var/lib/kubelet/pod-resources:ro:none\n", "", 1), "utf-8")
    found = findings(granted)

    assert {item.subject.rpartition("/")[2] for item in found.pop("ungranted-privilege")} == {"nvidia-dcgm-exporter"}
    assert not any(found.values())


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
@pytest.mark.sample
def test_part_of_the_clusters_can_not_tell_what_is_needed(run_cli, granted):
    shutil.copy(granted / "policies/privileges/nvidia-kata-manager.yaml", granted / "policies/privileges/twin.yaml")
    text = (granted / "policies/privileges/twin.yaml").read_text("utf-8")
    (granted / "policies/privileges/twin.yaml").write_text(text.replace("  name: ", "  name: twin-of-"), "utf-8")
    part = run_cli(["check", "--cluster", "edge", "--format", "json", "--root", granted])
    whole = run_cli(["check", "--jobs", "1", "--format", "json", "--root", granted])

    assert "unused-grant" not in {item["name"] for item in part.diagnostics}
    assert "unused-grant" in {item["name"] for item in whole.diagnostics}
