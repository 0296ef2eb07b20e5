"""Another release or driver: the lines that are edited, what is refused, and that what is told is what `diff` tells."""

from __future__ import annotations

import datetime as dt
import json
import shutil

import pytest

from change.diff.projects import COMPILED, cluster, pool, project
from poolsmith.change.diff.change_report import ReleaseChangeKind
from poolsmith.change.diff.release_notes import POOL_FIELDS
from poolsmith.core.diagnostics import UsageError, WriteError
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.upgrades import read_upgrades, steps
from poolsmith.interface.app import edited_profiles
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.upgrade import UpgradeOptions, upgrade
from support.git_repository import commit_all

TODAY = dt.date(2026, 11, 20)
BASE = """\
apiVersion: poolsmith/v1
kind: NodePoolBase
metadata: {name: driver}
spec:
  driver:  # for all
    source: container
    version: 580.126.20   # LTS
"""


def asked(**options):
    return UpgradeOptions(today=TODAY, **options)


def texts(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def kinds(result):
    return [item.kind for one in result.report.clusters for item in one.release]


@pytest.mark.parametrize(
    ("start", "target", "way"),
    [
        ("v26.3.3", "v26.7.0", ("v26.7.0",)),
        ("v26.3.0", "v26.3.3", ("v26.3.3",)),
        ("v26.3.3", "v26.3.0", ("v26.3.0",)),
        ("v25.3.4", "v26.7.0", ("v25.10.1", "v26.3.3", "v26.7.0")),
        ("v26.7.0", "v25.10.1", ("v26.3.3", "v25.10.1")),
        ("v25.3.0", "v25.10.0", ("v25.10.0",)),
        ("v26.7.0", "v99.1.0", None),
    ],
)
def test_a_step_is_within_a_line_or_to_the_one_beside_it(start, target, way):
    assert steps(Catalog().releases, start, target) == way


def test_issues_ask_for_what_there_is():
    catalog, facts = Catalog(), read_upgrades()
    plain = {"id", "since", "before", "fact", "source", "distributions", "value"}
    for issue in facts.issues:
        assert set(issue) <= plain | POOL_FIELDS, issue["id"]
        assert set(issue.get("distributions", ())) <= set(catalog.distributions)
        assert set(issue.get("runtimes", ())) <= {"containerd", "docker", "cri-o"}
        assert issue["source"]
    known = {*catalog.operating_systems, "rhcos"}
    assert all(set(issue.get("systems", ())) <= known for issue in facts.issues)


def test_one_line_changes_with_comments_kept_and_the_output_is_that_of_the_new_release(write_files):
    text = cluster("lab", release="v26.3.3 # pinned, see 12").replace(", driverMode", "\n    , driverMode")
    root = write_files({**project("a100"), "profiles/lab/cluster.yaml": text})
    generate(root)
    before = texts(root)

    result = upgrade(root, ["lab"], asked(release="v26.7.0"))

    assert result.written
    after = texts(root)
    assert {path for path in after if path.startswith("profiles/") and before.get(path) != after[path]} == {
        "profiles/lab/cluster.yaml"
    }
    assert after["profiles/lab/cluster.yaml"] == text.replace("v26.3.3 #", "v26.7.0 #").encode()
    assert not generate(root).changed
    assert ReleaseChangeKind.DEFINITIONS in kinds(result)


def test_a_dry_run_tells_the_same_and_writes_nothing(write_files):
    root = write_files(project("a100"))
    generate(root)
    before = texts(root)

    dry = upgrade(root, ["lab"], asked(release="v26.7.0", dry_run=True))

    assert texts(root) == before
    assert not dry.written
    real = upgrade(root, ["lab"], asked(release="v26.7.0"))
    assert dry.report == real.report
    assert dry.edits == real.edits


@pytest.mark.deep("an upgrade and a diff of a fleet")
@pytest.mark.sample("edge", "prod-rke2")
def test_what_is_told_is_what_diff_tells(sample_project, run_cli):
    run_cli(["generate", "--root", sample_project])
    commit_all(sample_project)

    told = run_cli(["upgrade", "edge", "prod-rke2", "--to", "v26.3.1", "--root", sample_project, "--format", "json"])
    diff = run_cli(["diff", "--base", "HEAD", "--root", sample_project, "--format", "json"])

    assert told.code == diff.code
    told, diff = json.loads(told.out), json.loads(diff.out)
    assert [item["name"] for item in told["clusters"]] == ["edge", "prod-rke2"]
    for part in ("clusters", "newFindings", "fixedFindings", "pools", "unchangedClusters"):
        assert told[part] == diff[part], part


@pytest.mark.deep("three checks of a fleet; test_pods_of_both_releases_pass stays")
def test_pods_of_both_releases_are_accepted_until_the_upgrade_is_done_and_on_the_way_back(sample_project, repository):
    root, profile = sample_project, sample_project / "profiles/edge/cluster.yaml"
    shutil.copytree(repository / "policies", root / "policies", dirs_exist_ok=True)
    generate(root)
    start = profile.read_text()

    down = upgrade(root, ["edge"], asked(release="v26.3.3"))
    assert profile.read_text() == start.replace("release: v26.7.0\n", "release: v26.3.3\n    upgradingFrom: v26.7.0\n")
    assert {ReleaseChangeKind.PATH, ReleaseChangeKind.ACCEPTED, ReleaseChangeKind.STAYS} <= set(kinds(down))
    assert any("--done" in step for step in down.steps)

    with pytest.raises(UsageError, match="still on its way"):
        upgrade(root, ["edge"], asked(release="v25.10.1"))
    upgrade(root, ["edge"], asked(release="v26.7.0"))
    assert profile.read_text() == start.replace("release: v26.7.0\n", "release: v26.7.0\n    upgradingFrom: v26.3.3\n")
    end = upgrade(root, ["edge"], asked(done=True))
    assert profile.read_text() == start
    assert ReleaseChangeKind.ACCEPTED not in kinds(end)
    assert not upgrade(root, ["edge"], asked(done=True)).edits
    assert not upgrade(root, ["edge"], asked(release="v26.7.0")).edits


@pytest.mark.parametrize(
    ("targets", "options", "why"),
    [
        (["lab"], {"release": "v26.7.0"}, "v24.9.2, v25.3.4, v25.10.1, v26.3.3, v26.7.0: begin with .*--to v24.9.2"),
        (["lab", "new"], {"release": "v26.7.0"}, "`lab`"),
        (["nowhere"], {"release": "v24.9.2"}, "no cluster `nowhere`"),
        (["lab"], {"release": "v24.9.99"}, "does not know release"),
        (["lab/a100"], {"release": "v24.9.2"}, "without the pool"),
        (["lab/none"], {"driver": "580.95.05"}, "no pool `none`"),
        (["lab"], {"driver": "580"}, "precompiled"),
    ],
)
def test_what_is_refused_changes_nothing(write_files, targets, options, why):
    root = write_files({**project("a100", new=("h100",)), "profiles/lab/cluster.yaml": cluster(release="v24.6.1")})
    before = texts(root)

    with pytest.raises(UsageError, match=why):
        upgrade(root, targets, asked(**options))
    assert texts(root) == before


def test_profiles_that_do_not_fit_the_release_stay_as_they_are(write_files):
    files = {**project("a100"), "profiles/lab/cluster.yaml": cluster(release="v26.7.0")}
    files["profiles/lab/a100.yaml"] = pool("a100", driver="{source: precompiled, version: '580'}").replace(
        "  driver:", "  arch: arm64\n  driver:"
    )
    root = write_files(files)
    before = texts(root)

    result = upgrade(root, ["lab"], asked(release="v26.3.3"))

    assert result.refused is not None
    assert not result.written
    assert texts(root) == before


def test_an_anchor_is_left_to_people(write_files):
    text = cluster(release="&r v26.3.3").replace("distribution: kubeadm}", "distribution: kubeadm}\n  poolLabel: *r")
    text = text.replace("  poolLabel: *r", "").replace("metadata: {name: lab}", "metadata: {name: lab}\nx: &r v26.3.3")
    text = text.replace("release: &r v26.3.3", "release: *r")
    root = write_files({**project("a100"), "profiles/lab/cluster.yaml": text})
    before = texts(root)

    with pytest.raises(UsageError):
        upgrade(root, ["lab"], asked(release="v26.7.0"))
    assert texts(root) == before


def test_all_profiles_are_edited_or_none(write_files, monkeypatch):
    root = write_files(project("a100", new=("h100",)))
    before = texts(root)
    write = edited_profiles.replace_file

    def failing(target, text):
        if target == root / "profiles/new/cluster.yaml":
            raise WriteError("no space left")
        write(target, text)

    monkeypatch.setattr(edited_profiles, "replace_file", failing)
    with pytest.raises(WriteError):
        upgrade(root, ["lab", "new"], asked(release="v26.7.0"))
    assert texts(root) == before


def test_links_and_pipes_among_the_profiles_are_no_way_out(write_files, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "cluster.yaml"
    outside.write_text(cluster())
    root = write_files(project("a100"))
    (root / "profiles/lab/cluster.yaml").unlink()
    (root / "profiles/lab/cluster.yaml").symlink_to(outside)

    with pytest.raises(UsageError):
        upgrade(root, ["lab"], asked(release="v26.7.0"))
    assert outside.read_text() == cluster()


def test_the_driver_of_a_pool_is_edited_where_it_is_written(write_files):
    root = write_files(project("a100", "h100"))
    generate(root)

    result = upgrade(root, ["lab/a100"], asked(driver="595.91.07"))

    assert (root / "profiles/lab/a100.yaml").read_text() == pool(
        "a100", driver="{source: container, version: 595.91.07}"
    )
    assert [str(edit) for edit in result.edits] == [
        "profiles/lab/a100.yaml:9: `spec.driver.version`: 580.126.20 to 595.91.07"
    ]
    assert {pool for item in result.report.clusters[0].disruptions for pool in item.pools} == {"a100"}


def test_a_base_that_others_stand_on_is_edited_only_when_asked(write_files):
    files = project("a100", "h100", other=("l4",))
    for path in ("lab/a100", "lab/h100", "other/l4"):
        text = files[f"profiles/{path}.yaml"].replace(f"  driver: {COMPILED}\n", "")
        files[f"profiles/{path}.yaml"] = text.replace("spec:\n", "spec:\n  extends: [driver]\n")
    files["profiles/_bases/driver.yaml"] = BASE
    root = write_files(files)
    generate(root)
    before = texts(root)

    with pytest.raises(UsageError, match=r"`other/l4` as well: add `--with-bases`"):
        upgrade(root, ["lab"], asked(driver="595.91.07"))
    assert texts(root) == before

    result = upgrade(root, ["lab"], asked(driver="595.91.07", edits_bases=True))
    assert result.clusters == ("lab", "other")
    assert [item.name for item in result.report.clusters] == ["lab", "other"]
    assert (root / "profiles/_bases/driver.yaml").read_text() == BASE.replace("580.126.20", "595.91.07")
    assert not generate(root).changed

    shutil.rmtree(root / "profiles/other")
    upgrade(root, ["lab"], asked(driver="580.126.20"))
    assert (root / "profiles/_bases/driver.yaml").read_text() == BASE


def test_a_branch_is_for_precompiled_drivers_and_a_version_for_the_others(write_files):
    files = project("a100", "h100")
    files["profiles/lab/h100.yaml"] = pool("h100", driver="{source: precompiled, version: '580'} # kept")
    root = write_files(files)

    upgrade(root, ["lab"], asked(driver="595.91.07"))
    assert (root / "profiles/lab/h100.yaml").read_text() == files["profiles/lab/h100.yaml"]
    upgrade(root, ["lab"], asked(driver="535"))
    assert "version: '535'} # kept" in (root / "profiles/lab/h100.yaml").read_text()
    assert "version: 595.91.07}" in (root / "profiles/lab/a100.yaml").read_text()


@pytest.mark.parametrize("flags", [[], ["--to", "v26.7.0", "--done"], ["--to", "v26.7.0", "--with-bases"]])
def test_flags_that_say_nothing_or_too_much(run_cli, write_files, flags):
    root = write_files(project("a100"))

    assert run_cli(["upgrade", "lab", *flags, "--root", root]).code == 2
