"""`init` starts a project in any folder: what it detects, what it keeps, and what it never writes through."""

from __future__ import annotations

import errno
import os
import stat
import subprocess

import pytest

from poolsmith.change.review.git_attributes import hiding_lines
from poolsmith.core.diagnostics import Severity, UsageError, WriteError
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app.check_project import check_project
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.initialize import initialize
from poolsmith.project.run.surroundings import Forge, installed_from, look_around, plain_address
from support.git_repository import git

GUARDED = ("output", "profiles", "policies", ".github")
EVERYWHERE = (".pre-commit-config.yaml", ".gitattributes", "policies/supply.yaml", "policies/enforcement.yaml")
FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
ARGO_CD = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n"
ROLLOUT = "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\n"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "GPU fleet"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def only_assumed(result):
    return {item.code for item in result.outcome.diagnostics} == {"PSM912"}


def cluster_of(folder, name="gpu-fleet"):
    return read_documents((folder / f"profiles/{name}/cluster.yaml").read_text("utf-8"))[0]["spec"]


def test_a_fresh_project_is_clean_and_says_what_nobody_has_reviewed(repository):
    made = initialize(repository)
    assert made.cluster == "gpu-fleet"
    assert made.kept == ()
    assert {*EVERYWHERE, ".github/workflows/profiles.yaml", ".github/CODEOWNERS"} <= set(made.written)
    assert not made.has_grants
    assert only_assumed(generate(repository))
    outcome = check_project(repository)
    assert not outcome.fails(Severity.ERROR)
    assert "PSM416" in {item.code for item in outcome.diagnostics}


def test_a_second_run_changes_nothing_and_makes_no_second_cluster(repository):
    first = initialize(repository, "lab")
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    second = initialize(repository)
    assert (second.cluster, second.written, second.to_add) == (None, (), ())
    assert set(second.kept) < set(first.written)
    assert before == {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("url", "forge", "pipeline", "owners"),
    [
        (None, Forge.GITHUB, ".github/workflows/profiles.yaml", ".github/CODEOWNERS"),
        ("https://github.com/acme/gpu.git", Forge.GITHUB, ".github/workflows/profiles.yaml", ".github/CODEOWNERS"),
        ("git@github.acme.example:a/b.git", Forge.GITHUB, ".github/workflows/profiles.yaml", ".github/CODEOWNERS"),
        ("https://gitlab.com/acme/gpu.git", Forge.GITLAB, ".gitlab-ci.yml", ".gitlab/CODEOWNERS"),
        ("ssh://git@gitlab.acme.example/a/b", Forge.GITLAB, ".gitlab-ci.yml", ".gitlab/CODEOWNERS"),
        ("https://git.example.com/github/x.git", Forge.OTHER, None, "CODEOWNERS"),
    ],
)
def test_the_pipeline_is_that_of_the_forge(repository, url, forge, pipeline, owners):
    if url is not None:
        git(repository, "remote", "add", "origin", url)
    made = initialize(repository)
    assert look_around(repository).forge is forge
    assert owners in made.written
    pipelines = {".github/workflows/profiles.yaml", ".gitlab-ci.yml"} & set(made.written)
    assert pipelines == ({pipeline} if pipeline else set())
    if pipeline:
        assert read_documents((repository / pipeline).read_text("utf-8"))
        assert any(pipeline in line for line in made.to_fill)
    if url is not None:
        assert cluster_of(repository)["delivery"]["repoURL"] == url


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://me:ghp_secret@github.com/a/b", "https://github.com/a/b"),
        ("https://ghp_secret@github.com/a/b", "https://github.com/a/b"),
        ("https://oauth2:glpat-x@gitlab.example.com:8443/a/b.git", "https://gitlab.example.com:8443/a/b.git"),
        ("ssh://git@example.com:2222/a/b.git", "ssh://git@example.com:2222/a/b.git"),
        ("ssh://git:secret@example.com/a/b.git", "ssh://git@example.com/a/b.git"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ("me@example.com:a/b.git", "ssh://me@example.com/a/b.git"),
        ("https://user@evil@github.com/a/b", None),
        ("https://github.com/a/b?token=secret", None),
        ("https://github.com/a/b#x", None),
        ("http://github.com/a/b", None),
        ("file:///srv/git", None),
        ("/srv/git/gpu.git", None),
        ("../gpu.git", None),
        ("ext::sh -c touch% /tmp/x", None),
        ("https://github.com/a\nrepoURL: x", None),
        ("https://github.com/a b", None),
        ("", None),
    ],
)
def test_an_address_is_taken_without_what_may_be_a_secret(url, plain):
    assert plain_address(url) == plain


@pytest.mark.parametrize(
    ("remotes", "source"),
    [
        ({"origin": "https://a.example/x", "upstream": "https://b.example/x"}, "https://a.example/x"),
        ({"fork": "https://a.example/x", "upstream": "https://b.example/x"}, "https://b.example/x"),
        ({"acme": "https://a.example/x"}, "https://a.example/x"),
        ({"one": "https://a.example/x", "two": "https://b.example/x"}, None),
        ({"origin": "/srv/x"}, None),
    ],
)
def test_the_remote_is_one_that_nobody_has_to_choose(repository, remotes, source):
    for name, url in remotes.items():
        git(repository, "remote", "add", name, url)
    found = look_around(repository).address
    assert (found.value if found else None) == source


def test_the_remotes_default_branch_counts_before_the_one_that_is_checked_out(repository):
    git(repository, "commit", "--allow-empty", "-m", "one")
    git(repository, "switch", "--quiet", "--create", "work/init")
    assert look_around(repository).branch.value == "main"
    git(repository, "update-ref", "refs/remotes/origin/production", "HEAD")
    git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/production")
    initialize(repository)
    assert cluster_of(repository)["delivery"]["revision"] == "refs/heads/production"
    workflow = read_documents((repository / ".github/workflows/profiles.yaml").read_text("utf-8"))[0]
    assert workflow["on"]["pull_request_target"]["branches"] == ["production"]


def test_a_branch_of_an_empty_repository_is_the_one_that_it_starts_with(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk")
    assert look_around(tmp_path).branch.value == "trunk"


@pytest.mark.parametrize(
    ("files", "engine"),
    [
        ({}, None),
        ({"clusters/a/flux.yaml": FLUX}, "flux"),
        ({"apps/a.yml": f"# app\n---\n{ARGO_CD}"}, "argocd"),
        ({"apps/a.yaml": ROLLOUT}, None),
        ({"apps/a.yaml": ARGO_CD, "b.yaml": FLUX}, None),
        ({"output/x.yaml": FLUX, "profiles/x.yaml": FLUX, ".git/x.yaml": FLUX}, None),
        ({"notes.txt": FLUX}, None),
        ({"big.yaml": FLUX + "#" * (1 << 19)}, None),
    ],
)
def test_the_engine_is_the_one_whose_objects_are_there(repository, files, engine):
    for path, text in files.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text, "utf-8")
    found = look_around(repository).engine
    assert (found.value if found else None) == engine
    initialize(repository, "lab")
    assert cluster_of(repository, "lab")["delivery"]["engine"] == (engine or "argocd")


def test_a_flag_counts_before_what_is_detected(repository):
    (repository / "flux.yaml").write_text(FLUX, "utf-8")
    made = initialize(repository, engine="argocd")
    assert cluster_of(repository)["delivery"]["engine"] == "argocd"
    assert not any(line.startswith("engine") for line in made.found)


def test_a_pipe_and_a_link_among_the_files_are_left_alone(repository, tmp_path):
    os.mkfifo(repository / "a.yaml")
    (tmp_path / "outside.yaml").write_text(FLUX, "utf-8")
    (repository / "b.yaml").symlink_to(tmp_path / "outside.yaml")
    (repository / "c").symlink_to(repository)
    assert look_around(repository).engine is None


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        (".gitattributes", "* text=auto\n", "output/clusters/*/expected/** linguist-generated\n"),
        (".pre-commit-config.yaml", "repos: []\n", "      - id: poolsmith-check\n"),
        (".github/CODEOWNERS", "* @acme/all\n", "# /policies/ "),
        ("CODEOWNERS", "* @acme/all\n", "# /policies/ "),
        ("docs/CODEOWNERS", "* @acme/all\n", "# /policies/ "),
    ],
)
def test_a_file_of_the_users_is_kept_and_the_lines_that_it_lacks_are_told(repository, path, text, wanted):
    (repository / path).parent.mkdir(exist_ok=True)
    (repository / path).write_text(text, "utf-8")
    made = initialize(repository)
    assert path in made.kept
    assert (repository / path).read_text("utf-8") == text
    assert wanted in dict(made.to_add)[path]
    (repository / path).write_text(text + dict(made.to_add)[path], "utf-8")
    assert initialize(repository).to_add == ()


def test_policies_of_the_users_are_kept_as_a_whole(repository):
    (repository / "policies").mkdir()
    (repository / "policies/README.md").write_text("ours\n", "utf-8")
    made = initialize(repository)
    assert "policies/enforcement.yaml" not in made.written
    assert (repository / "policies/README.md").read_text("utf-8") == "ours\n"


@pytest.mark.parametrize("url", ["https://github.com/a/b", "https://gitlab.com/a/b", "https://git.example.com/a"])
def test_what_is_folded_in_reviews_is_nothing_that_is_delivered_or_judges(repository, url):
    git(repository, "remote", "add", "origin", url)
    initialize(repository)
    generate(repository)
    text = (repository / ".gitattributes").read_text("utf-8")
    assert hiding_lines(text, "", GUARDED) == []
    git(repository, "add", ".")
    asked = ["git", "ls-files", ":(attr:linguist-generated)", ":(attr:gitlab-generated)"]
    folded = subprocess.run(asked, cwd=repository, check=True, capture_output=True, text=True).stdout.splitlines()
    assert "output/clusters/gpu-fleet/expected/workloads.yaml" in folded
    assert "output/clusters/gpu-fleet/poolsmith.lock.json" in folded
    shown = ("privileges.yaml", "images.yaml", "/platform/", "/pools/", "/delivery/", "/argocd/", "/flux/", "/smoke/")
    assert not [path for path in folded if any(part in path for part in shown)]
    assert not [path for path in folded if path.startswith(("profiles/g", "policies/supply", ".github"))]


@pytest.mark.parametrize(
    "line",
    [
        "output/** linguist-generated",
        "output/clusters/*/expected/** -diff",
        "output/clusters/*/expected/** linguist-generated -diff",
        "output/clusters/*/** linguist-generated",
        "output/clusters/*/expected/** filter=x",
        "output/**/privileges.yaml linguist-generated",
        "profiles/** linguist-generated",
        "[attr]linguist-generated -diff",
    ],
)
def test_a_line_that_is_nearly_ours_still_hides(line):
    assert hiding_lines(f"{line}\n", "", GUARDED) == [line]


def test_the_same_line_in_a_folder_of_its_own_still_hides():
    line = "output/clusters/*/expected/** linguist-generated"
    assert hiding_lines(f"{line}\n", "output", GUARDED) == [line]


def test_a_folder_inside_of_a_repository_delivers_from_there_and_leaves_the_top_alone(repository):
    inner = repository / "infra/gpu"
    inner.mkdir(parents=True)
    made = initialize(inner, "lab")
    assert cluster_of(inner, "lab")["delivery"]["path"] == "infra/gpu/output"
    assert not [path for path in made.written if path.startswith(".")]
    assert sorted(path.name for path in repository.iterdir()) == [".git", "infra"]
    assert any("top of the repository" in line for line in made.to_fill)
    assert only_assumed(generate(inner))


def test_without_a_repository_nothing_is_detected_and_the_folder_may_not_exist_yet(tmp_path):
    made = initialize(tmp_path / "new/Ä!")
    assert made.cluster == "gpu-cluster"
    assert made.found == ()
    assert any("address of this repository" in line for line in made.to_fill)


def test_without_git_nothing_is_detected(repository, monkeypatch):
    git(repository, "remote", "add", "origin", "https://github.com/a/b")
    monkeypatch.setenv("PATH", "")
    assert initialize(repository).found == ()


def test_no_kubeconfig_is_read(repository, tmp_path, monkeypatch):
    kubeconfig = tmp_path / "kubeconfig"
    os.mkfifo(kubeconfig)  # whoever opens it waits for ever
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    assert initialize(repository).written


IN_THE_WAY = ("profiles", "profiles/lab", "profiles/_schemas", "policies", "policies/_schemas", ".github")


@pytest.mark.parametrize("path", IN_THE_WAY)
@pytest.mark.parametrize("kind", ["link", "dangling", "file"])
def test_a_link_or_a_file_in_the_place_of_a_folder_stops_it_before_anything_is_written(
    repository, tmp_path, path, kind
):
    (tmp_path / "elsewhere").mkdir()
    target = repository / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        target.write_text("mine\n", "utf-8")
    else:
        target.symlink_to(tmp_path / ("elsewhere" if kind == "link" else "nowhere"))
    before = sorted(repository.rglob("*"))
    with pytest.raises(WriteError, match=path):
        initialize(repository, "lab")
    assert sorted(repository.rglob("*")) == before
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("path", [".gitattributes", ".pre-commit-config.yaml", ".github/CODEOWNERS"])
def test_a_link_in_the_place_of_a_file_is_kept_and_not_written_through(repository, tmp_path, path):
    (repository / path).parent.mkdir(exist_ok=True)
    (repository / path).symlink_to(tmp_path / "nowhere")
    made = initialize(repository, "lab")
    assert path in made.kept
    assert not (tmp_path / "nowhere").exists()
    assert path in dict(made.to_add)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_told_and_stays_as_it_is(repository):
    repository.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(WriteError, match="can't write"):
            initialize(repository, "lab")
    finally:
        repository.chmod(stat.S_IRWXU)
    assert [path.name for path in repository.iterdir()] == [".git"]


def test_when_a_file_can_not_be_written_none_is_left(repository, monkeypatch):
    def refuse(source, target, **_options):
        if str(target).endswith("CODEOWNERS"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), source, None, target)
        link(source, target)

    link = os.link
    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(WriteError, match=r"can't write .*CODEOWNERS: Permission denied; nothing was changed"):
        initialize(repository, "lab")
    assert [path for path in repository.rglob("*") if path.is_file() and ".git" not in path.parts] == []


@pytest.mark.parametrize("name", ["", "Lab", "../x", "a/b", "x" * 64, "-a", "a\n", "ä"])
def test_a_name_that_is_none_is_refused(repository, name):
    with pytest.raises(UsageError, match="no cluster name"):
        initialize(repository, name)


def test_a_root_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "x").write_text("", "utf-8")
    with pytest.raises(UsageError, match="not a folder"):
        initialize(tmp_path / "x")


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ({"url": "https://github.com/a/p.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, True),
        ({"url": "https://github.com/a/p.git", "vcs_info": {"vcs": "git", "commit_id": "main"}}, False),
        ({"url": "https://github.com/a/p.git", "vcs_info": {"vcs": "hg", "commit_id": COMMIT}}, False),
        ({"url": "file:///src/p", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, False),
        ({"url": "file:///src/p", "dir_info": {}}, False),
        ({"url": 1, "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, False),
        ({}, False),
    ],
)
def test_a_commit_of_the_tool_is_known_only_if_pip_took_it_from_there(said, address):
    found = installed_from(said)
    assert (found is not None) is address
    if found is not None:
        assert (found.value, found.source) == ("https://github.com/a/p.git", COMMIT)


def test_with_a_commit_that_is_known_hook_and_workflow_name_it(repository, monkeypatch):
    from poolsmith.project.run import surroundings

    found = surroundings.Detected(value="https://github.com/acme/poolsmith.git", source=COMMIT)
    monkeypatch.setattr(surroundings, "_tool", lambda: found)
    made = initialize(repository)
    hooks = read_documents((repository / ".pre-commit-config.yaml").read_text("utf-8"))[0]["repos"]
    assert hooks == [
        {
            "repo": "https://github.com/acme/poolsmith.git",
            "rev": COMMIT,
            "hooks": [{"id": "poolsmith-generate"}, {"id": "poolsmith-check"}],
        }
    ]
    workflow = (repository / ".github/workflows/profiles.yaml").read_text("utf-8")
    assert f"uses: acme/poolsmith@{COMMIT}\n" in workflow
    assert f"uses: acme/poolsmith/action/comment@{COMMIT}\n" in workflow
    assert "<" not in workflow
    assert not any("workflows" in line for line in made.to_fill)


def test_the_first_cluster_is_where_argo_cd_runs_and_each_further_one_goes_by_its_name(repository):
    first, second = initialize(repository, "east"), initialize(repository, "west")

    assert "destination" not in cluster_of(repository, "east")["delivery"]
    assert cluster_of(repository, "west")["delivery"]["destination"] == {"name": "west"}
    assert [line for line in first.to_fill if "destination" in line] == []
    assert [line.partition(":")[0] for line in second.to_fill if "destination" in line] == [
        "profiles/west/cluster.yaml"
    ]
    assert dict(second.to_add)["policies/supply.yaml"].endswith("- clusters:\n    - west\n  name: west\n")
    assert only_assumed(generate(repository))


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("prod", {"name": "prod"}),
        ("https://api.example.com:6443", {"server": "https://api.example.com:6443"}),
        ("yes", {"name": "yes"}),
    ],
)
def test_a_destination_that_is_given_is_written_as_it_is(repository, given, written):
    initialize(repository, "east", destination=given)

    assert cluster_of(repository, "east")["delivery"]["destination"] == written


@pytest.mark.parametrize(
    "taken", ["in-cluster", "https://kubernetes.default.svc/", "https://Kubernetes.default.svc:443"]
)
def test_a_destination_that_another_cluster_has_is_refused(repository, taken):
    initialize(repository, "east")
    with pytest.raises(UsageError, match=r"delivers the cluster east .* already"):
        initialize(repository, "west", destination=taken)
    assert not (repository / "profiles/west").exists()


def test_a_cluster_whose_name_is_that_of_another_destination_is_asked_for_its_own(repository):
    initialize(repository, "a", destination="west")
    with pytest.raises(UsageError, match="--destination"):
        initialize(repository, "west")
    initialize(repository, "west", destination="west-2")
    assert only_assumed(generate(repository))


@pytest.mark.parametrize(
    ("cluster", "more"),
    [
        ("east", {}),
        ("west", {"engine": "flux"}),
        (None, {}),
        ("west", {"destination": "https://u:p@x"}),
        ("west", {"destination": "a\nb"}),
    ],
)
def test_a_destination_without_a_new_cluster_or_that_is_none_is_refused(repository, cluster, more):
    initialize(repository, "east")
    with pytest.raises(UsageError, match="--destination"):
        initialize(repository, cluster, **{"destination": "x", **more})


def test_a_further_flux_cluster_needs_no_destination(repository):
    initialize(repository, "east")
    made = initialize(repository, "west", engine="flux")

    assert "destination" not in cluster_of(repository, "west")["delivery"]
    assert "policies/supply.yaml" not in dict(made.to_add)
