"""The hooks by the real pre-commit, installed from this checkout without an index: what a user meets at a commit."""

from __future__ import annotations

import copy
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.wheelhouse import wheelhouse
from tools.locked_packages import locked_packages

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = "lab-t4"
DRIVER = f"output/clusters/{CLUSTER}/platform/values/gpu-operator.yaml"
TODAY = "2026-11-20"
IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
pytestmark = pytest.mark.tool("pre-commit")


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A folder of the whole run, for one worker at a time: what is installed there, is installed once."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "pre-commit"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder, lock


@pytest.fixture(scope="session")
def installed(shared):
    """What pre-commit and pip are told, and the tool's repository with its commit. Packages come from one folder."""
    folder, lock = shared
    names = [package.name for package in locked_packages(ROOT / "requirements-run.lock")]
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GIT", "PIP_", "GITHUB"))
    }
    environment = {
        **inherited,
        "HOME": str(folder),
        "PRE_COMMIT_HOME": str(folder / "store"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_COMPILE": "1",
        "PIP_FIND_LINKS": str(folder / "wheels"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "VIRTUALENV_NO_PERIODIC_UPDATE": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "POOLSMITH_CACHE_DIR": "",
    }
    tool = folder / "poolsmith"
    if not tool.is_dir():
        wheelhouse(folder / "wheels", [name for name in names if _is_here(name)])
        _make_tool(tool, environment)
    commit = run(tool, environment, "git", "rev-parse", "HEAD").stdout.strip()
    trial = folder / "trial"
    if not trial.is_dir():
        trial.mkdir()
        run(trial, environment, "git", "init", "--quiet")
        config = f"repos: [{{repo: {tool}, rev: {commit}, hooks: [{{id: poolsmith-generate}}]}}]\n"
        (trial / ".pre-commit-config.yaml").write_text(config)
        run(trial, environment, "pre-commit", "install-hooks")
    fcntl.flock(lock, fcntl.LOCK_UN)
    return environment, (tool, commit)


def _is_here(name):
    from importlib import metadata

    try:
        return metadata.distribution(name) is not None
    except metadata.PackageNotFoundError:
        return False


def _make_tool(folder, environment):
    """This checkout, as a repository that a configuration can name."""
    shutil.copytree(ROOT / "generator", folder / "generator", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder / name)
    run(folder, environment, "git", "init", "--quiet", "--initial-branch", "main")
    run(folder, environment, "git", "add", "--all")
    run(folder, environment, "git", *IDENTITY, "commit", "--quiet", "-m", "tool")


def run(folder, environment, *words, code=0):
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    done.said = done.stdout + done.stderr
    assert code is None or done.returncode == code, done.said
    return done


class Project:
    """A repository with one cluster and both hooks installed; `below` is the project's folder in it."""

    def __init__(self, folder, offline, tool, below=""):
        self.top, self.folder, self.environment, self.below = folder, folder / below, offline, below
        for name in (f"profiles/{CLUSTER}", "profiles/_bases", "profiles/_schemas", "policies"):
            shutil.copytree(ROOT / name, self.folder / name)
        for path in (self.folder / "profiles/_bases").glob("*.yaml"):
            if path.name.split(".")[0] not in "".join(
                item.read_text() for item in (self.folder / f"profiles/{CLUSTER}").glob("*.yaml")
            ):
                path.unlink()
        self.generate()
        where, commit = tool
        root = ["--root", below] if below else []
        self.write(
            ".pre-commit-config.yaml",
            "default_install_hook_types: [pre-commit, pre-merge-commit]\n"
            f"repos:\n  - repo: {where}\n    rev: {commit}\n    hooks:\n"
            f"      - id: poolsmith-generate\n        args: {root}\n"
            f"      - id: poolsmith-check\n        args: {[*root, '--today', TODAY]}\n",
            top=True,
        )
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "project")
        self.run("pre-commit", "install")

    def run(self, *words, code=0):
        return run(self.top, self.environment, *words, code=code)

    def git(self, *words, code=0):
        return self.run("git", *IDENTITY, *words, code=code)

    def generate(self):
        command = [sys.executable, "-m", "poolsmith", "generate", "--root", str(self.folder)]
        run(ROOT, {**self.environment, "PYTHONPATH": str(ROOT / "generator")}, *command)

    def commit(self, *paths, code=0, skip=""):
        self.git("add", "--all", *(paths or ("profiles", "policies", "output")))
        environment = {**self.environment, "SKIP": skip}
        return run(self.top, environment, "git", *IDENTITY, "commit", "-m", "change", code=code)

    def path(self, name):
        return self.folder / name

    def write(self, name, text, *, top=False):
        path = (self.top if top else self.folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name, old, new):
        text = self.path(name).read_text()
        assert old in text
        self.path(name).write_text(text.replace(old, new))

    def status(self):
        return self.git("status", "--porcelain").stdout


@pytest.fixture(scope="session")
def template(tmp_path_factory, installed):
    return Project(tmp_path_factory.mktemp("template") / "project", *installed)


@pytest.fixture
def project(template, tmp_path):
    shutil.copytree(template.top, tmp_path / "project", symlinks=True)
    again = copy.copy(template)
    again.top = again.folder = tmp_path / "project"
    return again


PROFILE = f"profiles/{CLUSTER}/t4.yaml"
CHANGE = ("version: 550.90.07", "version: 550.127.08")


def results(done):
    """What pre-commit says of each hook."""
    lines = [line for line in done.said.splitlines() if line.startswith(("generate GPU", "check GPU"))]
    return {line.split()[0]: line.rpartition(".")[2] for line in lines}


@pytest.mark.deep("commits with hooks; a changed profile stays")
def test_a_clean_project_passes_as_a_whole_and_nothing_changes(project):
    done = project.run("pre-commit", "run", "--all-files")

    assert results(done) == {"generate": "Passed", "check": "Passed"}
    assert project.status() == ""


@pytest.mark.deep("commits with hooks; deleted output stays")
def test_a_commit_that_only_deletes_is_judged_too(project):
    """pre-commit looks for files that are still there, and would skip every hook with a pattern."""
    project.git("rm", "--quiet", DRIVER)
    done = project.git("commit", "-m", "without", code=1)

    assert results(done)["generate"] == "Failed"
    assert "git add output" in done.said


@pytest.mark.deep("commits with hooks")
def test_other_files_are_no_matter(project):
    project.write("notes.md", "x\n")

    assert results(project.commit("notes.md")) == {"generate": "Passed", "check": "Passed"}


@pytest.mark.real("commits with hooks, installed by pre-commit in fourteen seconds")
def test_a_changed_profile_fails_once_and_says_what_to_add(project):
    project.edit(PROFILE, *CHANGE)
    done = project.commit(PROFILE, code=1)

    assert results(done)["generate"] == "Failed"
    assert "the output was generated again: look at it, run `git add output`, and commit again" in done.said
    assert f" M {DRIVER}" in project.status() or "output/clusters" in project.status()
    assert results(project.commit()) == {"generate": "Passed", "check": "Passed"}
    assert project.status() == ""


@pytest.mark.real("commits with hooks; a changed profile stays")
def test_a_profile_with_a_mistake_names_its_line_and_writes_nothing(project):
    project.edit(PROFILE, "  driver:\n", "  drivver:\n")
    done = project.commit(code=1)

    assert results(done) == {"generate": "Failed", "check": "Failed"}
    assert f"{PROFILE}:" in done.said
    assert "did you mean `driver`?" in done.said
    assert "nothing was written" in done.said
    assert "git add" not in done.said
    assert project.git("diff", "--name-only").stdout == ""


@pytest.mark.deep("commits with hooks; tests/interface/app has hand edits")
def test_a_hand_edit_of_the_output_is_taken_back_and_told(project):
    project.write(DRIVER, project.path(DRIVER).read_text() + "sandboxWorkloads:\n  enabled: true\n")
    done = project.commit(code=1)

    assert results(done)["generate"] == "Failed"
    assert "git add output" in done.said
    assert "sandboxWorkloads" not in project.path(DRIVER).read_text()
    project.git("add", "--all")
    assert project.git("diff", "--cached", "--name-only").stdout == ""


@pytest.mark.real("commits with hooks")
def test_deleted_output_comes_back(project):
    shutil.rmtree(project.path(f"output/clusters/{CLUSTER}/platform"))
    done = project.commit(code=1)

    assert results(done)["generate"] == "Failed"
    assert "git add output" in done.said
    assert project.path(DRIVER).is_file()
    project.git("add", "--all")
    assert project.git("diff", "--cached", "--name-only").stdout == ""


@pytest.mark.deep("commits with hooks; deleted output stays")
def test_a_renamed_pool_takes_its_old_folder_along(project):
    old, new = f"output/clusters/{CLUSTER}/pools/t4", f"output/clusters/{CLUSTER}/pools/tesla"
    had = project.path(old).is_dir()
    project.git("mv", PROFILE, f"profiles/{CLUSTER}/tesla.yaml")
    project.edit(f"profiles/{CLUSTER}/tesla.yaml", "name: t4", "name: tesla")
    done = project.commit("profiles", code=1)

    assert results(done)["generate"] == "Failed"
    assert not project.path(old).exists()
    assert project.path(new).is_dir() is had
    assert results(project.commit()) == {"generate": "Passed", "check": "Passed"}
    tracked = project.git("ls-files", "output").stdout
    assert "/t4" not in tracked.replace(CLUSTER, "")


@pytest.mark.deep("commits with hooks; a changed profile stays")
def test_a_new_cluster_cannot_be_committed_without_its_new_files(project):
    for path in list(project.path(f"profiles/{CLUSTER}").glob("*.yaml")):
        text = path.read_text().replace(f"name: {CLUSTER}", "name: second")
        text = text.replace("    engine: argocd\n", "    engine: argocd\n    destination: {name: second}\n")
        project.write(f"profiles/second/{path.name}", text)
    project.generate()
    project.git("add", "--update")
    done = project.commit("profiles", "output/fleet", code=1)

    assert results(done)["generate"] == "Failed"
    assert "generated files are not in git, such as output/clusters/second/" in done.said
    assert "run `git add output`, and commit again" in done.said
    project.commit(skip="poolsmith-check")  # nobody has granted it anything yet
    assert project.status() == ""


@pytest.mark.deep("commits with hooks; a new cluster stays")
def test_the_first_commit_of_a_project_needs_its_output(project):
    project.git("rm", "-r", "--quiet", "output")
    project.git("commit", "--quiet", "--no-verify", "-m", "without")
    project.edit(PROFILE, *CHANGE)
    done = project.commit("profiles", code=1)

    assert results(done)["generate"] == "Failed"
    assert "git add output" in done.said
    assert results(project.commit()) == {"generate": "Passed", "check": "Passed"}


@pytest.mark.deep("commits with hooks")
def test_output_that_git_ignores_is_told(project):
    project.git("rm", "-r", "--quiet", "--cached", "output")
    project.write(".gitignore", "output/\n")
    done = project.commit(".gitignore", "profiles", "policies", code=1)

    assert "generated files are not in git" in done.said


@pytest.mark.real("commits with hooks; a changed profile stays")
def test_what_is_not_staged_stays_out_and_is_kept(project):
    project.edit(PROFILE, *CHANGE)
    project.commit(PROFILE, code=1)
    project.git("add", "--all")
    project.edit(PROFILE, "count: 1", "count: 3")
    before = project.path(PROFILE).read_text()
    done = project.git("commit", "-m", "the staged half")

    assert results(done) == {"generate": "Passed", "check": "Passed"}
    assert project.path(PROFILE).read_text() == before
    assert project.status() == f" M {PROFILE}\n"


@pytest.mark.deep("commits with hooks; what is not staged stays")
def test_a_staged_half_without_its_output_fails_and_loses_nothing(project):
    project.edit(PROFILE, *CHANGE)
    project.git("add", PROFILE)
    project.edit(PROFILE, "count: 1", "count: 3")
    before = project.path(PROFILE).read_text()
    done = project.git("commit", "-m", "half", code=1)

    assert results(done)["generate"] == "Failed"
    assert "git add output" in done.said
    assert project.path(PROFILE).read_text() == before


@pytest.mark.deep("commits with hooks")
def test_all_at_once_with_commit_all(project):
    """`git commit --all` gives the hooks an index of its own."""
    project.edit(PROFILE, *CHANGE)
    project.generate()
    done = project.git("commit", "--all", "-m", "all")

    assert results(done) == {"generate": "Passed", "check": "Passed"}
    assert project.status() == ""


@pytest.mark.deep("a commit of many files with hooks")
def test_several_files_are_one_run(project):
    project.edit(PROFILE, *CHANGE)
    project.edit(f"profiles/{CLUSTER}/cluster.yaml", "spec:\n", "spec:\n  # looked at\n")
    project.write("policies/notes.md", "x\n")
    done = project.commit(code=1)

    assert done.said.count("generate GPU manifests") == 1
    assert results(project.commit()) == {"generate": "Passed", "check": "Passed"}


@pytest.mark.deep("a dozen commits with hooks")
def test_a_project_in_a_folder_of_the_repository(tmp_path, installed):
    project = Project(tmp_path / "project", *installed, below="fleets/lab")
    assert set(results(project.run("pre-commit", "run", "--all-files")).values()) == {"Passed"}
    project.edit(PROFILE, *CHANGE)
    done = project.commit("fleets/lab/profiles", code=1)

    assert "run `git add fleets/lab/output`, and commit again" in done.said
    project.git("add", "fleets/lab/output")
    assert results(project.git("commit", "--all", "-m", "again")) == {"generate": "Passed", "check": "Passed"}


@pytest.mark.deep("a dozen commits with hooks")
def test_merges_are_judged_too(project):
    """Each side is sound; what git makes of both is not what the profiles generate."""
    project.git("switch", "--quiet", "--create", "side")
    project.edit(PROFILE, *CHANGE)
    project.generate()
    project.commit()
    project.git("switch", "--quiet", "main")
    project.edit(f"profiles/{CLUSTER}/cluster.yaml", "spec:\n", "spec:\n  # looked at\n")
    project.generate()
    project.commit()
    merged = project.git("merge", "--no-edit", "side", code=None)
    if merged.returncode:
        if "CONFLICT" in merged.said:
            project.git("checkout", "--quiet", "--ours", "output")
            project.git("add", "--all")
            done = project.git("commit", "--no-edit", code=1)
        else:
            done = merged
        assert results(done)["generate"] == "Failed"
        assert "git add output" in done.said
        project.git("add", "--all")
        assert results(project.git("commit", "--no-edit"))["generate"] == "Passed"
    assert project.path(PROFILE).read_text().count(CHANGE[1]) == 1
    assert set(results(project.run("pre-commit", "run", "--all-files")).values()) == {"Passed"}


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart:
    spec: {chart: gpu-operator, version: v25.3.4, sourceRef: {kind: HelmRepository, name: nvidia}}
  valuesFrom: [{kind: ConfigMap, name: gpu-values}]
"""
KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [release.yaml]
configMapGenerator: [{name: gpu-values, namespace: gpu-operator, files: [values.yaml]}]
generatorOptions: {disableNameSuffixHash: true}
"""


@pytest.fixture(params=[False, True], ids=["parallel", "serial"])
def somebody(request, tmp_path, installed):
    """A repository without a project of ours; its hook takes what a commit has."""
    environment, (tool, commit) = installed
    folder = tmp_path / "somebody"
    folder.mkdir()
    files = {
        ".pre-commit-config.yaml": f"repos: [{{repo: {tool}, rev: {commit}, "
        f"hooks: [{{id: poolsmith-lint, require_serial: {str(request.param).lower()}}}]}}]\n",
        "apps/gpu/release.yaml": RELEASE,
        "apps/gpu/kustomization.yaml": KUSTOMIZATION,
        "apps/gpu/values.yaml": "driver:\n  enabled: false\n",
        "apps/web/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
    }

    def git(*words, code=0):
        return run(folder, environment, "git", *IDENTITY, *words, code=code)

    def write(name, text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        git("add", "--all")

    git("init", "--quiet", "--initial-branch", "main")
    for name, text in files.items():
        write(name, text)
    git("commit", "--quiet", "-m", "start")
    run(folder, environment, "pre-commit", "install")
    return write, git, lambda *words: run(folder, environment, "pre-commit", "run", *words, code=None)


@pytest.mark.deep("pre-commit with hooks, twice")
@pytest.mark.rows(1, "hooks of a commit, twice")
def test_the_hook_for_anybody_takes_a_commits_files_and_finds_their_release(somebody):
    write, git, pre_commit = somebody
    assert pre_commit("--all-files").returncode == 0
    write("apps/web/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, labels: {a: b}}\n")
    assert "Passed" in git("commit", "-m", "others").said
    write("apps/gpu/values.yaml", "driver:\n  enabledd: false\n")
    done = git("commit", "-m", "misspelt", code=1)
    assert "apps/gpu/values.yaml:2:3: error PSM301 unknown-value: the chart of v25.3.4" in done.said
    write("apps/gpu/values.yaml", "driver:\n  enabled: true\n")
    assert "Passed" in git("commit", "-m", "mended").said
    git("rm", "--quiet", "apps/gpu/values.yaml")
    assert "Skipped" in git("commit", "-m", "deleted").said


@pytest.mark.deep("a whole run, 3.7 s; its parts have tests of their own")
@pytest.mark.real("a commit with hooks")
def test_a_file_with_the_name_of_a_flag_is_a_file(somebody):
    write, git, _ = somebody
    write("--fail-on=note.yaml", "nvidia: [\n")

    assert "--fail-on=note.yaml:" in git("commit", "-m", "flag", code=1).said
