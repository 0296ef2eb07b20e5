"""Profiles of several teams in one fleet: each brings what is its own, and nothing else."""

from __future__ import annotations

import json
import shutil

import pytest

from support.git_repository import commit_all, git

TEAMS = """\
apiVersion: poolsmith/v1
kind: TeamList
metadata: {name: teams}
spec:
  teams:
    - {name: vision, clusters: [vision-*], bases: [vision-*]}
    - {name: speech, clusters: [speech-*]}
"""
CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {name: %s}
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3}
  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git, destination: {name: %s}}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: a}
spec:
  %s
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd}
  gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8}
  driver: {source: container}
"""
BASE = "apiVersion: poolsmith/v1\nkind: NodePoolBase\nmetadata: {name: %s}\nspec: {driver: {version: '580.126.20'}}\n"


def cluster(name, extends=""):
    return {f"profiles/{name}/cluster.yaml": CLUSTER % (name, name), f"profiles/{name}/a.yaml": POOL % extends}


def written(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def platform(tmp_path):
    return written(tmp_path / "platform", {"profiles/_teams.yaml": TEAMS, **cluster("core")})


@pytest.fixture
def vision(tmp_path):
    base = {"profiles/_bases/vision-h100.yaml": BASE % "vision-h100"}
    return written(tmp_path / "vision", {**cluster("vision-a", "extends: [vision-h100]"), **base})


@pytest.fixture
def speech(tmp_path):
    return written(tmp_path / "speech", cluster("speech-a"))


def profiles(root):
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in (root / "profiles").rglob("*.yaml")
        if path.is_file()
    }


def test_teams_come_into_one_fleet_that_is_generated(platform, vision, speech, run_cli):
    found = run_cli(["gather", f"vision={vision}", f"speech={speech}", "--root", platform])
    assert found.code == 0, found.out + found.err
    assert profiles(platform) == {
        "profiles/_teams.yaml": TEAMS,
        **cluster("core"),
        **profiles(vision),
        **profiles(speech),
    }
    made = run_cli(["generate", "--jobs", "1", "--root", platform])
    assert made.code == 0, made.out
    assert "wrote 3 of 3 clusters: core, speech-a, vision-a" in made.out
    again = run_cli(["gather", f"vision={vision}", f"speech={speech}", "--check", "--root", platform])
    assert again.code == 0
    assert "nothing to write" in again.out


def test_what_is_gone_goes_and_what_is_edited_here_is_told(platform, vision, speech, run_cli):
    line = ["gather", f"vision={vision}", f"speech={speech}", "--root", platform]
    assert run_cli(line).code == 0
    pool = platform / "profiles/vision-a/a.yaml"
    pool.write_text(pool.read_text().replace("count: 8", "count: 4"))
    written(platform, {"profiles/vision-a/b.yaml": POOL % ""})
    told = run_cli([*line, "--check"])
    assert told.code == 1
    assert "differs   profiles/vision-a/a.yaml" in told.out
    assert "differs   profiles/vision-a/b.yaml" in told.out
    shutil.rmtree(speech / "profiles/speech-a")
    written(speech, cluster("speech-b"))
    assert run_cli(line).code == 0
    assert "count: 8" in pool.read_text()
    assert sorted(path.name for path in (platform / "profiles").iterdir() if path.is_dir()) == [
        "_bases",
        "core",
        "speech-b",
        "vision-a",
    ]


def test_a_team_that_is_not_asked_stays(platform, vision, speech, run_cli):
    assert run_cli(["gather", f"vision={vision}", "--root", platform]).code == 0
    assert run_cli(["gather", f"speech={speech}", "--root", platform]).code == 0
    lock = json.loads((platform / "profiles/_teams.lock.json").read_text())
    assert sorted(lock["teams"]) == ["speech", "vision"]
    assert (platform / "profiles/vision-a/cluster.yaml").exists()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (cluster("core"), "does not give the cluster `core` to the team"),
        (cluster("vision-a"), "does not give the cluster `vision-a`"),
        ({"profiles/_bases/speech.yaml": BASE % "vision-h100"}, "does not give the base `vision-h100`"),
        ({"profiles/_bases/x.yaml": "a: [\n"}, "PSM003"),
        ({"profiles/_bases/x.yaml": "\xff"}, "PSM0"),
    ],
)
def test_a_team_brings_nothing_of_somebody_else(platform, speech, run_cli, files, said):
    before = profiles(platform)
    written(speech, files)
    found = run_cli(["gather", f"speech={speech}", "--root", platform])
    assert found.code == 1
    assert said in found.out
    assert "speech:profiles/" in found.out
    assert profiles(platform) == before


def test_what_the_platform_has_is_not_overridden_even_by_leave(platform, vision, run_cli):
    list_of_teams = platform / "profiles/_teams.yaml"
    list_of_teams.write_text(TEAMS.replace("clusters: [vision-*]", "clusters: ['*']"))
    written(vision, {**cluster("core"), "profiles/_driver-images.yaml": "a: b\n", "policies/supply.yaml": "a: b\n"})
    found = run_cli(["gather", f"vision={vision}", "--root", platform])
    assert found.code == 1
    assert "error PSM030 not-the-teams" in found.out
    assert "it belongs to the platform" in found.out
    list_of_teams.write_text(TEAMS)
    shutil.rmtree(vision / "profiles/core")
    assert (
        "not taken vision: profiles/_driver-images.yaml"
        in run_cli(["gather", f"vision={vision}", "--root", platform]).out
    )
    assert not (platform / "policies").exists()
    assert not (platform / "profiles/_driver-images.yaml").exists()


def test_two_teams_do_not_share_a_cluster(platform, vision, speech, run_cli):
    (platform / "profiles/_teams.yaml").write_text(TEAMS.replace("[speech-*]", "[speech-*, vision-a]"))
    written(speech, cluster("vision-a"))
    both = run_cli(["gather", f"vision={vision}", f"speech={speech}", "--root", platform])
    assert both.code == 1
    assert "it belongs to vision" in both.out
    assert run_cli(["gather", f"vision={vision}", "--root", platform]).code == 0
    later = run_cli(["gather", f"speech={speech}", "--root", platform])
    assert later.code == 1
    assert "it belongs to vision" in later.out


def test_a_link_out_of_the_teams_repository_is_refused(platform, speech, run_cli, tmp_path):
    (tmp_path / "secret.yaml").write_text("password: x\n")
    (speech / "profiles/speech-a/b.yaml").symlink_to(tmp_path / "secret.yaml")
    found = run_cli(["gather", f"speech={speech}", "--root", platform])
    assert found.code == 1
    assert "PSM011" in found.out


def test_a_revision_of_the_teams_repository(platform, speech, run_cli):
    commit_all(speech)
    shutil.rmtree(speech / "profiles/speech-a")
    assert run_cli(["gather", f"speech={speech}@main", "--root", platform]).code == 0
    assert (platform / "profiles/speech-a/a.yaml").exists()
    lock = json.loads((platform / "profiles/_teams.lock.json").read_text())
    assert lock["teams"]["speech"]["commit"] == git(speech, "rev-parse", "main")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("speech",), 2, "names no team and folder"),
        (("nobody=.",), 2, "has no team `nobody`"),
        (("speech=./nowhere",), 2, "is not a folder"),
        (("speech=.@nowhere",), 2, "gather needs a git repository"),
    ],
)
def test_what_can_not_be_meant(platform, run_cli, words, code, said):
    found = run_cli(["gather", *words, "--root", "."], cwd=platform)
    assert found.code == code
    assert said in found.err


@pytest.mark.parametrize("field", ["clusters", "bases"])
def test_what_a_team_may_bring_is_said_once(platform, run_cli, field):
    path = platform / "profiles/_teams.yaml"
    path.write_text(path.read_text().replace(f"{field}: [vision-*]", f"{field}: [vision-*, vision-*]"))
    found = run_cli(["gather", "vision=.", "--root", "."], cwd=platform)

    assert found.code == 1
    assert "profiles/_teams.yaml:6" in found.out


def test_a_lock_that_was_edited_says_nothing(platform, speech, run_cli):
    lock = platform / "profiles/_teams.lock.json"
    lock.write_text('{"teams": {"speech": {"files": {"profiles/../../x.yaml": ""}}}}')
    found = run_cli(["gather", f"speech={speech}", "--root", platform])
    assert found.code == 2
    assert "is not what `poolsmith gather` writes" in found.err
