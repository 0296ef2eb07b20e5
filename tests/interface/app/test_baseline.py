"""A baseline: what is there today is accepted for a while, and nothing else ever is."""

from __future__ import annotations

import json

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.guard.policies.baseline import standing_fingerprint
from poolsmith.interface.app import check_paths
from support.git_repository import commit_all

DAY = ("--today", "2026-11-20")
LATER = ("--today", "2027-02-19")
LAST = "2027-02-18"
BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: x, namespace: d}
spec:
  replicas: two
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: a, imagee: b}]}
"""
HIDDEN = ".poolsmith-baseline.yaml"


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps/a.yaml").write_text(BAD)
    return tmp_path


@pytest.fixture
def check(repository, run_cli):
    def run(*arguments, day=DAY, paths=(".",)):
        return run_cli(["check", *paths, "--all", "--kubernetes", "1.34", *day, *arguments], repository)

    return run


def baseline(repository, path=HIDDEN):
    return read_documents((repository / path).read_text())[0]["spec"]["findings"]


def report(done):
    return json.loads(done.out)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_adopted_on_one_day(check, repository):
    assert check().code == 1
    done = check("--write-baseline")

    assert done.code == 0
    assert f"{HIDDEN} has 2 entries" in done.out
    assert f"added: PSM310 in apps/a.yaml, until {LAST}" in done.out
    assert f"{HIDDEN} accepts 2 findings, until {LAST} at the latest" in done.out
    assert {entry["since"] for entry in baseline(repository)} == {"2026-11-20"}
    assert check().code == 0
    assert "0 errors, 0 warnings, 0 notes, 2 waived" in check().out
    assert check("--no-baseline").code == 1


def test_lines_may_move_and_a_new_finding_counts(check, repository):
    check("--write-baseline")
    path = repository / "apps/a.yaml"
    path.write_text("# a\n---\n# b\n" + BAD)
    assert check().code == 0
    path.write_text(BAD + "  paused: 3\n")
    done = check()
    assert done.code == 1
    assert "spec.paused" in done.out
    assert "spec.replicas" not in done.out


def test_a_value_that_changes_is_another_finding(check, repository):
    check("--write-baseline")
    edit(repository / "apps/a.yaml", "replicas: two", "replicas: three")

    assert check().code == 1


def test_the_last_day_counts_and_then_it_is_over(check):
    check("--write-baseline")
    assert check(day=("--today", LAST)).code == 0
    done = check("-v", day=LATER)

    assert done.code == 1
    assert "PSM648 expired-baseline" in done.out
    assert f"accepted here until {LAST}" in done.out
    assert "2 errors, 1 warning" in done.out


def test_writing_again_never_extends(check, repository):
    check("--write-baseline")
    before = baseline(repository)
    done = check("--write-baseline", day=LATER)

    assert done.code == 1
    assert "left as it was, expired: PSM310" in done.out
    assert baseline(repository) == before


def test_writing_again_keeps_reasons_takes_out_what_is_mended_and_says_what_it_adds(check, repository):
    check("--write-baseline")
    edit(repository / HIDDEN, "was there when the baseline was written; nobody has looked at it yet", "team X owns it")
    path = repository / "apps/a.yaml"
    path.write_text(BAD.replace("replicas: two", "replicas: 2") + "  paused: 3\n")
    told = check("-v", "--fail-on", "note")
    assert "PSM649 unused-baseline-entry" in told.out
    done = check("--write-baseline", day=("--today", "2026-12-01"))

    assert "added: PSM310 in apps/a.yaml, until 2027-03-01" in done.out
    assert f"removed: PSM310 in apps/a.yaml, until {LAST}" in done.out
    found = {entry["finding"].split("`")[1]: entry for entry in baseline(repository)}
    assert set(found) == {"spec.template.spec.containers[0].imagee", "spec.paused"}
    assert found["spec.template.spec.containers[0].imagee"]["reason"] == "team X owns it"
    assert found["spec.template.spec.containers[0].imagee"]["since"] == "2026-11-20"
    assert found["spec.paused"]["since"] == "2026-12-01"


def counts(repository):
    return [entry["count"] for entry in baseline(repository) if entry["rule"].startswith("PSM31")]


def still_open(check, start="PSM"):
    found = report(check("--format", "json"))["diagnostics"]
    return [item for item in found if item["status"] == "open" and item["code"].startswith(start)]


def test_more_of_the_same_count(check, repository):
    path = repository / "apps/a.yaml"
    path.write_text(f"{BAD}---\n{BAD}")
    check("--write-baseline")
    assert counts(repository) == [2, 2]
    path.write_text(f"{BAD}---\n{BAD}---\n{BAD}")
    assert sum(item["code"].startswith("PSM31") for item in still_open(check)) == 2
    path.write_text(BAD)
    assert still_open(check, "PSM31") == []
    assert "accepts 2 findings, and there is 1" in check("-v").out
    check("--write-baseline")
    assert counts(repository) == [1, 1]


def test_of_a_single_file_nothing_is_said_to_be_gone(check, repository):
    check("--write-baseline")
    (repository / "b.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
    assert "PSM649" not in check("-v", paths=("b.yaml",)).out
    before = baseline(repository)
    check("--write-baseline", paths=("b.yaml",))
    assert baseline(repository) == before
    edit(repository / "apps/a.yaml", "replicas: two", "replicas: 2")
    assert "PSM649" not in check("-v", paths=("apps/a.yaml",)).out
    assert "PSM649" in check("-v", paths=("apps",)).out
    (repository / "apps/a.yaml").unlink()
    check("--write-baseline")
    assert baseline(repository) == []


def test_a_run_that_finds_less_says_nothing_of_what_is_gone(check, repository, run_cli):
    (repository / "gpu.yaml").write_text("apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: a}\n")
    check("--write-baseline")
    before = (repository / HIDDEN).read_text()
    assert read_documents(before)[0]["spec"]["flags"] == ["--all"]
    less = ["check", ".", "-v", *DAY]
    assert "PSM649" not in run_cli(less, repository).out
    done = run_cli([*less, "--write-baseline"], repository)
    assert f"nothing was removed: {HIDDEN} was written with --all" in done.out
    assert (repository / HIDDEN).read_text() == before


def test_beside_other_policies(check, repository):
    (repository / "policies").mkdir()
    check("--write-baseline")
    assert (repository / "policies/baseline.yaml").is_file()
    assert check().code == 0
    (repository / HIDDEN).write_text("")
    assert "there are two baselines" in check().err


def test_another_file(check, repository):
    assert check("--write-baseline=known.yaml").code == 0
    assert check().code == 1
    assert check("--baseline", "known.yaml").code == 0
    assert check("--baseline", "no.yaml").code == 2


def test_what_is_no_baseline_is_never_overwritten(check, repository):
    before = (repository / "apps/a.yaml").read_text()
    done = check("--write-baseline=apps/a.yaml")
    assert done.code == 1
    assert (repository / "apps/a.yaml").read_text() == before
    (repository / "elsewhere").write_text("x")
    (repository / HIDDEN).symlink_to("elsewhere")
    assert check("--write-baseline").code != 0
    assert (repository / "elsewhere").read_text() == "x"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: [",
        "apiVersion: poolsmith/v1\nkind: Baseline\nmetadata: {name: a}\nspec: {findings: 3}\n",
        "apiVersion: poolsmith/v1\nkind: WaiverList\nmetadata: {name: a}\nspec: {}\n",
        "apiVersion: poolsmith/v1\nkind: Baseline\nmetadata: {name: a}\nspec: {findings: [{rule: '*'}]}\n",
    ],
)
def test_a_broken_baseline_accepts_nothing_and_is_an_error(check, repository, text):
    (repository / HIDDEN).write_text(text)
    done = check("--format", "json")

    assert done.code == 1
    assert report(done)["summary"]["waived"] == 0
    assert any(item["primary"]["path"] == HIDDEN for item in report(done)["diagnostics"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rule: PSM310", "rule: PSM403"),
        ("file: apps/a.yaml", "file: apps/b.yaml"),
        (f'expires: "{LAST}"', 'expires: "2027-02-30"'),
        ("count: 1", "count: 1"),
    ],
)
def test_an_entry_holds_only_for_its_rule_its_file_and_its_days(check, repository, old, new):
    check("--write-baseline")
    edit(repository / HIDDEN, old, new)

    assert check().code == (0 if old == new else 1)


def test_a_file_that_cannot_be_read_is_accepted_and_still_said(check, repository):
    (repository / "broken.yaml").write_text("a: [\n")
    assert check("--write-baseline").code == 0
    done = check()

    assert done.code == 0
    assert f"skipped broken.yaml: {HIDDEN} accepts that it can't be read" in done.out
    assert "1 not evaluated" in done.out
    assert check("--strict").code == 1


@pytest.fixture
def committed(repository):
    def commit():
        commit_all(repository)

    return commit


def test_a_pull_request_cannot_accept_its_own_mistakes(check, repository, committed):
    check("--write-baseline")
    committed()
    (repository / "apps/b.yaml").write_text(BAD.replace("name: x", "name: y"))
    check("--write-baseline")
    assert check().code == 0
    done = check("--baseline-from", "HEAD")

    assert done.code == 1
    assert "apps/b.yaml" in done.out
    assert "2 waived" in done.out


def test_a_base_without_a_baseline_accepts_nothing(check, committed):
    committed()
    check("--write-baseline")

    assert check("--baseline-from", "HEAD").code == 1
    assert check("--baseline-from", "nowhere").code == 2


def test_another_file_of_the_base(check, repository, committed):
    check("--write-baseline=known.yaml")
    committed()
    (repository / "known.yaml").unlink()

    assert check("--baseline-from", "HEAD", "--baseline", "known.yaml").code == 0
    assert check("--baseline-from", "HEAD", "--baseline", "/elsewhere.yaml").code == 2


WAIVERS = """\
apiVersion: poolsmith/v1
kind: WaiverList
metadata: {name: waivers}
spec:
  waivers:
    - rule: schema-violation
      subject: Deployment/x
      reason: the template puts a number in
      owner: gpu-platform
      expires: 2027-01-31
    - rule: host-network
      subject: prod/elsewhere
      reason: of the project
      owner: gpu-platform
      expires: 2020-01-31
"""


def test_waivers_hold_for_paths_too(check, repository, committed):
    (repository / "policies").mkdir()
    (repository / "policies/waivers.yaml").write_text(WAIVERS)
    found = report(check("--format", "json"))
    waived = [item for item in found["diagnostics"] if item["status"] == "waived"]

    assert {item["code"] for item in waived} == {"PSM310"}
    assert found["summary"]["errors"] == 1
    assert not any(item["code"].startswith("PSM60") for item in found["diagnostics"])
    committed()
    (repository / "policies/waivers.yaml").unlink()
    assert report(check("--format", "json", "--baseline-from", "HEAD"))["summary"]["errors"] == 1
    expired = report(check("--format", "json", "--baseline-from", "HEAD", day=LATER))
    assert "PSM603" in {item["code"] for item in expired["diagnostics"]}


def test_formats_say_that_it_is_accepted(check):
    check("--write-baseline")
    sarif = json.loads(check("--format", "sarif").out)["runs"][0]["results"]
    assert all(item["suppressions"][0]["status"] == "accepted" for item in sarif)
    assert all(LAST in item["suppressions"][0]["justification"] for item in sarif)
    assert {item["status"] for item in report(check("--format", "json"))["diagnostics"]} <= {"waived", "open"}
    assert report(check("--format", "json"))["summary"]["waived"] == 2
    assert "::error" not in check("--format", "github").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--write-baseline", "--no-baseline"), "contradict"),
        (("--write-baseline", "--baseline-from", "HEAD"), "writes into the checkout"),
        (("--write-baseline=a.yaml", "--baseline", "b.yaml"), "name one"),
        (("--no-baseline", "--baseline", "b.yaml"), "contradict"),
        (("--write-baseline=apps",), "--write-baseline=FILE"),
    ],
)
def test_flags_that_contradict_each_other(check, arguments, words):
    done = check(*arguments)

    assert done.code == 2
    assert words in done.err


def test_a_baseline_is_for_paths(run_cli, repository):
    done = run_cli(["check", "--write-baseline"], repository)

    assert done.code == 2
    assert "policies/waivers.yaml" in done.err


def test_odd_names_stay_one_line(check, repository):
    (repository / "apps/a\n::error::x.yaml").write_text(BAD)
    check("--write-baseline")

    assert check().code == 0
    assert all("\n" not in entry["file"] for entry in baseline(repository))


def test_no_secret_gets_into_the_file(check, repository):
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: [hunter2hunter2]}\n"
    (repository / "s.yaml").write_text(text)
    check("--write-baseline")

    assert "hunter2" not in (repository / HIDDEN).read_text()


def test_fingerprints_of_one_run_are_those_of_the_next(repository):
    first, second = (
        [standing_fingerprint(item) for item in check_paths(repository, [repository], everything=True).diagnostics]
        for _ in range(2)
    )
    assert first == second
    assert len(set(first)) == len(first)
