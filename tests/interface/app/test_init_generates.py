"""Whatever a repository looks like: what `init` writes is generated, and a check of it finds nothing."""

from __future__ import annotations

import pytest

from support.git_repository import git

FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{url: "{url}", ref: {{branch: main}}, interval: 1m}}
"""
BOOTSTRAP = {"clusters/home/flux-system/gotk-sync.yaml": ("flux-system", "flux-system")}
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: apps, namespace: argocd}
spec:
  project: default
  source: {repoURL: "https://git.example.com/apps.git", path: apps, targetRevision: main}
  destination: {name: in-cluster, namespace: apps}
"""
SSH, SCP, HTTPS = (
    "ssh://git@github.com/acme/fleet",
    "git@github.com:acme/fleet.git",
    "https://github.com/acme/fleet.git",
)
SHAPES = {
    "nothing": (None, {}, ()),
    "https": (HTTPS, {}, ()),
    "scp": (SCP, {}, ()),
    "ssh": (SSH, {}, ()),
    "ssh with a port": ("ssh://git@git.example.com:2222/acme/fleet.git", {}, ("--engine", "flux")),
    "a folder": ("/srv/git/fleet.git", {}, ()),
    "a secret": ("https://user:secret@github.com/acme/fleet.git", {}, ("--engine", "flux")),
    "gitlab": ("git@gitlab.example.com:acme/fleet.git", {}, ()),
    "flux by hand": (None, {}, ("--engine", "flux")),
    "flux, ssh, no source": (SSH, {}, ("--engine", "flux")),
    "flux, scp, no source": (SCP, {}, ("--engine", "flux")),
    "flux bootstrap by ssh": (SSH, BOOTSTRAP, ()),
    "flux bootstrap by scp": (SCP, BOOTSTRAP, ()),
    "flux bootstrap by https": (HTTPS, BOOTSTRAP, ()),
    "flux with another source": (SSH, {"a/source.yaml": ("gpu", "delivery")}, ()),
    "flux bootstrap, no remote": (None, BOOTSTRAP, ()),
    "argo cd": (HTTPS, {"apps/app.yaml": None}, ()),
    "argo cd by ssh": (SCP, {"apps/app.yaml": None}, ()),
}


@pytest.fixture(params=SHAPES)
def repository_of(request, tmp_path):
    url, files, flags = SHAPES[request.param]
    git(tmp_path, "init", "-q", "-b", "main")
    if url is not None:
        git(tmp_path, "remote", "add", "origin", url)
    for path, source in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        text = APPLICATION if source is None else FLUX.format(name=source[0], namespace=source[1], url=SSH)
        (tmp_path / path).write_text(text)
    return tmp_path, flags


def test_what_init_writes_is_generated_and_sound(run_cli, repository_of):
    root, flags = repository_of

    assert run_cli(["init", "home", "--root", root, *flags]).code == 0
    generated = run_cli(["generate", "--root", root])
    assert (generated.code, generated.err) == (0, ""), generated.out
    checked = run_cli(["check", "--root", root])
    assert checked.code == 0, checked.out


def test_a_cluster_that_is_there_gets_no_sample_pool(run_cli, tmp_path):
    run_cli(["init", "home", "--root", tmp_path])
    (tmp_path / "profiles/home/gpu.yaml").rename(tmp_path / "profiles/home/mine.yaml")

    assert run_cli(["init", "home", "--root", tmp_path]).code == 0
    assert not (tmp_path / "profiles/home/gpu.yaml").exists()


def test_the_source_that_flux_has_is_taken_with_its_namespace(run_cli, tmp_path):
    git(tmp_path, "init", "-q")
    git(tmp_path, "remote", "add", "origin", SCP)
    (tmp_path / "source.yaml").write_text(FLUX.format(name="gpu", namespace="delivery", url=SSH))
    run_cli(["init", "home", "--root", tmp_path])

    text = (tmp_path / "profiles/home/cluster.yaml").read_text()
    assert "    sourceRef:\n      name: gpu\n      namespace: delivery\n" in text


def test_init_ends_with_what_comes_next(run_cli, tmp_path):
    told = run_cli(["init", "home", "--root", tmp_path]).out.splitlines()

    assert [line for line in told if line.startswith("checked: 0 errors, ")]
    assert [line.startswith("next: ") for line in told].count(True) == 3
    assert (tmp_path / "output/clusters/home/poolsmith.lock.json").exists()


def test_what_is_said_is_not_marked(run_cli, tmp_path):
    said = ("--kubernetes", "1.33", "--distribution", "eks", "--os", "ubuntu 22.04", "--gpu", "NVIDIA-L4")
    run_cli(["init", "home", "--root", tmp_path, *said])

    texts = {path.name: path.read_text() for path in (tmp_path / "profiles/home").iterdir()}
    marked = [line.strip() for text in texts.values() for line in text.splitlines() if "TODO assumed" in line]
    assert [line.partition(":")[0] for line in sorted(marked)] == ["count", "repoURL"]
    assert 'version: "22.04"\n' in texts["gpu.yaml"]


@pytest.mark.parametrize("text", ["a: b # c", "{x", "*", "\n- y", '"', "ubuntu 24.04\nx: y"])
def test_what_is_said_stays_one_value(run_cli, tmp_path, text):
    result = run_cli(["init", "home", "--root", tmp_path, "--gpu", text, "--os", text, "--release", text])

    assert (result.code, result.err) == (1, ""), "no such thing: findings, and nothing generated"
    assert "PSM003" not in result.out


def test_other_clusters_are_left_as_they_are(run_cli, tmp_path):
    run_cli(["init", "home", "--root", tmp_path])
    edited = tmp_path / "output/clusters/home/README.md"
    edited.write_text("mine")

    told = run_cli(["init", "away", "--root", tmp_path]).out

    assert "not generated: output/ is not what the profiles of `home` generate" in told
    assert edited.read_text() == "mine"


def test_without_a_name_a_project_gets_no_further_cluster(run_cli, tmp_path):
    run_cli(["init", "home", "--root", tmp_path])

    assert "1 cluster: `home`; a further one is `poolsmith init NAME`" in run_cli(["init", "--root", tmp_path]).out
