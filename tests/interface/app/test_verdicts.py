"""Rules as a repository sets them, findings that it waives, and what was not evaluated."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app import check_paths, check_project, generate
from poolsmith.interface.cli.verbs import cli
from support.git_repository import commit_all, git

TODAY = dt.date(2026, 11, 20)
SUBJECT = "exporter/gpu-operator/DaemonSet/nvidia-dcgm-exporter"
CLUSTER = """apiVersion: poolsmith/v1
kind: Cluster
metadata: {name: exporter}
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3, values: {dcgmExporter: {hostNetwork: true}}}
  poolLabel: example.com/gpu-pool
  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}
"""
POOL = """apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: l4}
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd, version: "1.7.27"}
  gpu: {product: NVIDIA-L4, count: 2}
  driver: {source: container}
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "profiles/exporter"
    folder.mkdir(parents=True)
    (folder / "cluster.yaml").write_text(CLUSTER, "utf-8")
    (folder / "l4.yaml").write_text(POOL, "utf-8")
    (tmp_path / "policies").mkdir()
    return tmp_path


def waive(project, **changes):
    fields = {
        "rule": "host-network",
        "subject": SUBJECT,
        "reason": "scraped on the address of the node",
        "owner": "gpu-platform",
        "expires": "2026-11-20",
    } | changes
    document = {
        "apiVersion": "poolsmith/v1",
        "kind": "WaiverList",
        "metadata": {"name": "waivers"},
        "spec": {"waivers": [fields]},
    }
    (project / "policies/waivers.yaml").write_text(json.dumps(document), "utf-8")


def setting(project, **rules):
    document = {
        "apiVersion": "poolsmith/v1",
        "kind": "RuleSettings",
        "metadata": {"name": "rules"},
        "spec": {"rules": {name.replace("_", "-"): value for name, value in rules.items()}},
    }
    (project / "policies/rules.yaml").write_text(json.dumps(document), "utf-8")


def check(project, **verdicts):
    return check_project(
        project, progress=lambda done, total: None, judging=JudgingOptions(**{"today": TODAY} | verdicts)
    )


def named(outcome, name):
    return [item for item in outcome.diagnostics if item.name == name]


def test_a_finding_that_is_waived_is_counted_and_fails_no_run(project):
    waive(project)

    outcome = check(project)

    assert [item.status for item in named(outcome, "host-network")] == ["waived"]
    assert outcome.waived == 1
    assert not [item for item in outcome.open if item.name == "host-network"]


@pytest.mark.parametrize("word", ("host-network", "PSM403", "psm403"))
def test_a_rule_goes_by_its_name_or_its_code(project, word):
    waive(project, rule=word)

    assert check(project).waived == 1


@pytest.mark.parametrize("subject", ("exporter", "exporter/gpu-operator/DaemonSet/*", SUBJECT.upper()))
def test_a_waiver_holds_for_exactly_its_subject(project, subject):
    waive(project, subject=subject)

    outcome = check(project)

    assert outcome.waived == 0
    assert SUBJECT.lower() in (named(outcome, "unused-waiver")[0].help or "").lower() or subject == "exporter"


def test_a_waiver_holds_on_its_last_day_and_fails_the_day_after(project):
    waive(project)

    assert not named(check(project), "expired-waiver")
    late = check(project, today=TODAY + dt.timedelta(days=1))

    assert late.waived == 0
    assert [item.severity for item in named(late, "expired-waiver")] == [Severity.ERROR]
    assert late.fails(Severity.ERROR)


def test_what_is_generated_does_not_depend_on_the_day(project):
    waive(project, rule="no-support-row", subject="exporter", expires="2001-01-01")

    assert not generate(project).outcome.fails(Severity.ERROR)


@pytest.mark.parametrize("text", ("", " ", "TODO", "tbd", "n/a", "<reason>", "todo: ask them"))
def test_a_waiver_without_a_reason_waives_nothing(project, text):
    waive(project, reason=text)

    outcome = check(project)

    assert outcome.waived == 0
    assert named(outcome, "unexplained-waiver")


def test_a_day_that_no_calendar_has_is_refused(project):
    waive(project, expires="2027-02-30")

    assert check(project).fails(Severity.ERROR)
    assert check(project).waived == 0


def test_a_rule_is_turned_off_with_a_reason_and_the_run_says_so(project):
    setting(project, host_network={"enabled": False, "reason": "scraped on the address of the node"})

    outcome = check(project)

    assert not named(outcome, "host-network")
    assert [item.what for item in outcome.skipped if "host-network" in item.what] == ["1 finding of host-network"]


def test_a_rule_is_made_an_error(project):
    setting(project, host_network={"severity": "error"})

    assert [item.severity for item in named(check(project), "host-network")] == [Severity.ERROR]


def test_an_error_of_the_input_can_neither_be_waived_nor_turned_off(project):
    (project / "profiles/exporter/l4.yaml").write_text(POOL.replace("NVIDIA-L4", "NVIDIA-LX4"), "utf-8")
    waive(project, rule="unknown-gpu", subject="exporter")

    assert check(project).fails(Severity.ERROR)
    assert named(check(project), "fixed-rule") or named(check(project), "unknown-rule")


def test_a_run_over_some_clusters_says_nothing_about_unused_waivers(project):
    waive(project, subject="nobody")

    outcome = check_project(
        project, clusters=["exporter"], progress=lambda done, total: None, judging=JudgingOptions(today=TODAY)
    )

    assert not named(outcome, "unused-waiver")


def test_a_broken_policy_file_is_a_finding_at_its_line(project):
    (project / "policies/waivers.yaml").write_text("apiVersion: poolsmith/v1\nkind: WaiverList\nspec: {waivers: 1}\n")
    (project / "policies/waiver.yaml").write_text("{}\n")

    found = {str(item.primary.span).partition(":")[0] for item in check(project).diagnostics}

    assert {"policies/waivers.yaml", "policies/waiver.yaml"} <= found


def test_under_strict_what_could_not_be_evaluated_is_an_error(sample_project):
    relaxed, strict = check(sample_project), check(sample_project, strict=True)

    assert relaxed.not_evaluated == strict.not_evaluated > 0
    assert not named(relaxed, "not-evaluated")
    assert [item.severity for item in named(strict, "not-evaluated")] == [Severity.ERROR]


def test_under_strict_a_clean_file_stays_clean(tmp_path):
    (tmp_path / "map.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")

    assert not check_paths(tmp_path, [tmp_path], strict=True, everything=True).diagnostics


def run(capsys, *arguments):
    try:
        code = cli.main([*arguments], prog_name="poolsmith", standalone_mode=False)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__, str(error)
    return code, capsys.readouterr().out


def test_a_pull_request_is_judged_by_the_policies_of_the_base(project, capsys):
    commit_all(project)
    waive(project, expires="2999-01-01")
    setting(project, reads_secrets={"severity": "error"})
    arguments = ["check", "--root", str(project), "--format", "json", "--today", "2026-11-20"]

    own = json.loads(run(capsys, *arguments)[1])
    base = json.loads(run(capsys, *arguments, "--policies-from", "HEAD")[1])

    assert own["summary"]["waived"] == 1
    assert base["summary"]["waived"] == 0
    assert {item["severity"] for item in own["diagnostics"] if item["name"] == "reads-secrets"} == {"error"}
    assert {item["severity"] for item in base["diagnostics"] if item["name"] == "reads-secrets"} == {"note"}


@pytest.mark.parametrize("revision", ("nowhere", "--output=x", "-h", "HEAD; rm -rf .", "HEAD:policies", ""))
def test_a_revision_that_is_none_is_a_usage_error(project, capsys, revision):
    commit_all(project)

    kind, message = run(capsys, "check", "--root", str(project), f"--policies-from={revision}")

    assert kind == "UsageError"
    assert "\n" not in message


def test_a_name_of_several_revisions_is_a_usage_error(project, capsys):
    commit_all(project)
    git(project, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(project, "commit", "-q", "--allow-empty", "-m", "other")
    git(project, "tag", "origin/main")

    kind, message = run(capsys, "check", "--root", str(project), "--policies-from", "origin/main")

    assert kind == "UsageError"
    assert "names several revisions" in message
    assert run(capsys, "check", "--root", str(project), "--policies-from", "refs/remotes/origin/main")[0] in (0, 1)


def test_a_link_among_the_policies_of_the_base_is_refused(project, capsys):
    (project / "policies/waivers.yaml").symlink_to("/etc/passwd")
    commit_all(project)

    kind, message = run(capsys, "check", "--root", str(project), "--policies-from", "HEAD")

    assert kind == "UsageError"
    assert "regular file" in message


def test_without_a_repository_it_is_a_usage_error(project, capsys):
    assert run(capsys, "check", "--root", str(project), "--policies-from", "HEAD")[0] == "UsageError"


def test_policies_from_is_not_for_paths(project, capsys):
    assert run(capsys, "check", "--policies-from", "HEAD", str(project))[0] == "UsageError"
