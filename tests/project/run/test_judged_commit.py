"""A pull request is judged by the blobs of its commit, whatever git makes of them where they are checked out."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest

from pull_requests.fleet import TODAY, Fleet
from support.circles import DEEP
from support.git_repository import git

CLUSTER = "edge"
SOURCES = f"output/clusters/{CLUSTER}/delivery/sources.yaml"
POOL = f"profiles/{CLUSTER}/l4.yaml"
VALUES = f"output/clusters/{CLUSTER}/platform/values/gpu-operator.yaml"
BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: anybody}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: Group, name: "system:authenticated", apiGroup: rbac.authorization.k8s.io}]
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("judged") / "fleet", [CLUSTER])


def staged(root, path, text):
    """A blob that is in git's index and nowhere on disk."""
    blob = git(root, "hash-object", "-w", "--no-filters", "--stdin", input=text)
    git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")


# What the commit has: by path, the text of a blob. An empty table is a commit that changes nothing.
BLOBS = {
    "another object": {SOURCES: BINDING},
    "a privileged value": {VALUES: "driver: {enabled: true}\n"},
    "a profile": {POOL: "apiVersion: poolsmith/v1\nkind: NodePool\nmetadata: {name: l4}\nspec: {}\n"},
    "an encoding": {POOL: "apiVersion: poolsmith/v1\u2028kind: NodePool\n"},
    "a file that nothing generates": {f"output/clusters/{CLUSTER}/delivery/more.yaml": BINDING},
    "nothing": {},
}


def hidden_by_index(root, _paths):
    """The good files stay on disk; nobody compares."""


def hidden_as_unchanged(root, paths):
    for path in paths:
        git(root, "update-index", "--assume-unchanged", path)


def hidden_by_sparseness(root, paths):
    for path in paths:
        git(root, "update-index", "--skip-worktree", path)


def hidden_by_a_filter(root, paths):
    attributes = root / ".git/info/attributes"
    attributes.write_text("".join(f"{path} filter=good\n" for path in paths))
    git(root, "config", "filter.good.clean", "git cat-file blob HEAD~1:%f")
    git(root, "config", "filter.good.smudge", "git cat-file blob HEAD~1:%f")


def hidden_by_an_encoding(root, paths):
    (root / ".git/info/attributes").write_text("".join(f"{path} working-tree-encoding=UTF-16\n" for path in paths))


def hidden_by_a_replacement(root, _paths):
    git(root, "replace", "-f", "HEAD", "HEAD~1")


def hidden_by_idents(root, paths):
    (root / ".git/info/attributes").write_text("".join(f"{path} ident eol=crlf text\n" for path in paths))


HIDDEN = [
    hidden_by_index,
    hidden_as_unchanged,
    hidden_by_sparseness,
    hidden_by_a_filter,
    hidden_by_an_encoding,
    hidden_by_a_replacement,
    hidden_by_idents,
]


def errors(run_cli, root, base):
    arguments = ["check", "--policies-from", base, "--format", "json", "--today", TODAY, "--jobs", "1"]
    result = run_cli(arguments, cwd=root)
    body = json.loads(result.out)
    return [
        (item["code"], item["primary"]["path"], item["primary"]["line"], item["message"])
        for item in body["diagnostics"]
        if item["code"] != "PSM663"
    ], body


@pytest.fixture
def proposed(fleet, tmp_path):
    """Make the commit of these blobs, whose checkout looks like the base."""

    def make(blobs, hidden=()):
        root = tmp_path / "fleet"
        shutil.copytree(fleet.root, root, symlinks=True)
        for path, text in blobs.items():
            staged(root, path, text)
        git(root, "commit", "-q", "--allow-empty", "-m", "change")
        for hide in hidden:
            hide(root, list(blobs))
        return root

    return make


def bare_copy(root, tmp_path):
    """The commit with its blobs on disk as they are: no attribute, filter or flag of the index is left."""
    copy = tmp_path / "copy"
    git(tmp_path, "--no-replace-objects", "clone", "-q", "--no-checkout", str(root), str(copy))
    git(copy, "config", "core.attributesFile", "/dev/null")
    git(copy, "read-tree", "HEAD")
    for path in git(copy, "ls-files", "-z").split("\0"):
        if path:
            target = copy / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(git_bytes(copy, path))
    return copy


def git_bytes(root, path):
    command = ["git", "--no-replace-objects", "cat-file", "blob", f"HEAD:{path}"]
    return subprocess.run(command, cwd=root, check=True, capture_output=True).stdout


def cases():
    rows = [(blobs, (hide,)) for blobs in BLOBS for hide in HIDDEN]
    chance = random.Random(35)
    rows += [(chance.choice(list(BLOBS)), tuple(chance.sample(HIDDEN, 3))) for _ in range(40 if DEEP else 0)]
    return rows


@pytest.mark.rows(3, "a repository, its copy and two checks each")
@pytest.mark.parametrize(
    ("blobs", "hidden"), cases(), ids=lambda item: item if isinstance(item, str) else "+".join(h.__name__ for h in item)
)
def test_the_verdict_is_that_of_the_blobs(fleet, proposed, run_cli, tmp_path, blobs, hidden):
    root = proposed(BLOBS[blobs], hidden)
    found, body = errors(run_cli, root, fleet.base)
    wanted, _ = errors(run_cli, bare_copy(root, tmp_path), fleet.base)

    assert found == wanted
    assert body["judged"].startswith(f"the commit {git(root, '--no-replace-objects', 'rev-parse', 'HEAD')[:12]} (HEAD)")
    assert bool([item for item in found if item[0] != "PSM661"]) or blobs == "nothing"


def test_an_edit_that_is_not_committed_is_an_error_at_its_file(fleet, proposed, run_cli):
    root = proposed({})
    (root / POOL).write_text((root / POOL).read_text() + "# edited\n")
    arguments = ["check", "--policies-from", fleet.base, "--today", TODAY, "--jobs", "1"]

    result = run_cli(arguments, cwd=root)

    assert result.code == 1
    assert result.out.startswith("judged: the commit ")
    assert f"{POOL}: error PSM663 checked-out-otherwise" in result.out
    assert run_cli([*arguments, "--judge", "work-tree"], cwd=root).out.startswith("judged: the work tree\n")


def test_the_index_is_what_the_next_commit_would_have(fleet, proposed, run_cli):
    root = proposed({})
    staged(root, SOURCES, BINDING)
    arguments = ["check", "--today", TODAY, "--jobs", "1"]

    by_index = run_cli([*arguments, "--judge", "index"], cwd=root)
    by_hand = run_cli([*arguments, "--judge", "work-tree"], cwd=root)

    assert (by_index.code, by_hand.code) == (1, 0)
    assert by_index.out.startswith("judged: the index (what the next commit would have)\n")
    assert SOURCES in by_index.out


def test_a_pipeline_judges_the_commit_by_itself(fleet, proposed, run_cli, monkeypatch):
    root = proposed({SOURCES: BINDING})
    monkeypatch.setenv("CI", "true")

    assert run_cli(["check", "--today", TODAY, "--jobs", "1"], cwd=root).code == 1
    monkeypatch.delenv("CI")
    assert run_cli(["check", "--today", TODAY, "--jobs", "1"], cwd=root).code == 0


def test_files_that_git_does_not_track_are_counted_and_not_judged(fleet, proposed, run_cli):
    root = proposed({})
    (root / f"profiles/{CLUSTER}/new.yaml").write_text("kind: Nothing\n")

    result = run_cli(["check", "--judge", "commit", "--today", TODAY, "--jobs", "1"], cwd=root)

    assert "; 1 file of the work tree that git does not track are not judged" in result.out
    assert result.code == 0


@pytest.mark.parametrize(
    ("path", "said"),
    [("profiles/edge/.git/x.yaml", "is no path that can be checked out"), ("profiles/../x.yaml", "no path")],
)
def test_a_tree_that_no_git_would_write_is_refused(fleet, proposed, run_cli, path, said):
    root = proposed({})
    blob = git(root, "hash-object", "-w", "--stdin", input="a: 1\n")
    folder, name = path.rsplit("/", 1)
    inner = git(root, "mktree", input=f"100644 blob {blob}\t{name}\n")
    for part in reversed(folder.split("/")):
        if part == "profiles":
            break
        inner = git(root, "mktree", input=f"040000 tree {inner}\t{part}\n")
    tree = git(root, "mktree", input=f"040000 tree {inner}\tprofiles\n")
    commit = git(root, "commit-tree", tree, "-p", fleet.base, input="odd")
    git(root, "update-ref", "HEAD", commit)

    result = run_cli(["check", "--judge", "commit"], cwd=root)

    assert (result.code, said in result.err) == (2, True)
