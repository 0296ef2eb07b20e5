"""`check --fix`: each certain edit as a before and after pair, and what is never written."""

from __future__ import annotations

import subprocess

import pytest

from poolsmith.core.diagnostics.certain_edits import certain_edit
from poolsmith.interface.app.check import check_paths
from poolsmith.interface.app.fix import fixes, shown_fixes, write_fixes

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu}}
spec:
  interval: 1h
  chart: {{spec: {{chart: gpu-operator, version: v26.3.3, sourceRef: {{kind: HelmRepository, name: vendor}}}}}}
  values:
{values}"""
PAIRS = [
    # name, values before, values after
    ("a misspelt key", "    driver: {versoin: 580.105.08}  # kept\n", "    driver: {version: 580.105.08}  # kept\n"),
    ("a key in another case", "    migmanager: {enabled: false}\n", "    migManager: {enabled: false}\n"),
    ("a quoted key", "    'dcgmExportr': {enabled: false}\n", "    'dcgmExporter': {enabled: false}\n"),
    ("dots", "    driver.enabled: false\n", "    driver: {enabled: false}\n"),
    ("dots, and a comment", "    toolkit.version: 'v1.18.1' # b\n", "    toolkit: {version: 'v1.18.1'} # b\n"),
    ("a word", "    driver: {kernelModuleType: opne}\n", "    driver: {kernelModuleType: open}\n"),
    ("a quoted word", '    mig: {strategy: "mixd"}\n', '    mig: {strategy: "mixed"}\n'),
    ("several", "    migg: {strategy: mixd}\n", "    mig: {strategy: mixd}\n"),
    ("windows", "    driver: {versoin: 580.105.08}\r\n", "    driver: {version: 580.105.08}\r\n"),
]
UNCERTAIN = [
    ("a word far away", "    driver: {something: 580.105.08}\n"),
    ("dots beside the block", "    driver.enabled: true\n    driver: {version: 580.105.08}\n"),
    ("dots before a mapping", "    driver.manager:\n      env: []\n"),
]


def git(root, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", root, *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Files by path, committed; the project's root is where the command runs."""

    def make(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(text.encode())
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return make


def found(root, path="app"):
    return check_paths(root, (root / path,), everything=False).diagnostics


@pytest.mark.parametrize(("values", "after"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS])
def test_a_certain_edit_is_written_and_nothing_else(repository, values, after):
    root = repository({"app/release.yaml": RELEASE.format(values=values)})
    before = found(root)
    write_fixes(root, fixes(root, before))

    assert (root / "app/release.yaml").read_bytes().decode() == RELEASE.format(values=after)
    mended = {item.fingerprint for item in before if certain_edit(item) is not None}
    assert mended
    assert mended.isdisjoint(item.fingerprint for item in found(root))


@pytest.mark.parametrize("values", [values for _, values in UNCERTAIN], ids=[name for name, _ in UNCERTAIN])
def test_what_is_not_certain_stays(repository, values):
    root = repository({"app/release.yaml": RELEASE.format(values=values)})
    diagnostics = found(root)

    assert diagnostics
    assert not fixes(root, diagnostics).texts


WRONG = RELEASE.format(values=PAIRS[0][1])
APART = [
    ("not tracked", "git has not this text"),
    ("edited", "git has not this text"),
    ("a link", "symbolic link"),
    ("a template", "none of its edits"),
]


@pytest.mark.parametrize(("kind", "why"), APART, ids=[kind for kind, _ in APART])
def test_what_is_not_touched_is_named(repository, kind, why):
    root = repository({"app/other.yaml": WRONG if kind == "edited" else "a: b\n", "real/r.yaml": WRONG})
    target = root / "app/release.yaml"
    if kind == "edited":
        target = root / "app/other.yaml"
        target.write_text(WRONG + "# edited\n")
    elif kind == "a link":
        target.symlink_to(root / "real/r.yaml")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "y")
    else:
        target.write_text(WRONG if kind == "not tracked" else WRONG + "# {{ x }}\n")
        if kind == "a template":
            git(root, "add", "-A")
            git(root, "commit", "-qm", "y")
    wrong = [item for item in found(root) if certain_edit(item) is not None]
    result = fixes(root, wrong)

    assert not result.texts
    assert all(why in line for line in result.left), result.left
    if kind in ("not tracked", "edited"):
        assert fixes(root, wrong, dirty=True).texts


def test_the_patch_can_be_applied(repository):
    root = repository({"app/release.yaml": WRONG})
    patch = "".join(shown_fixes(fixes(root, found(root))))
    subprocess.run(["git", "-C", root, "apply", "-"], input=patch.encode(), check=True)

    assert (root / "app/release.yaml").read_text() == RELEASE.format(values=PAIRS[0][2])


def test_a_profile_is_fixed_and_checked_again(repository, run_cli):
    cluster = (
        "apiVersion: poolsmith/v1\nkind: Cluster\nmetadata: {name: lab}\nspec:\n"
        "  kubernetes: {version: 1.33, distribution: kubeadm}\n  stack: {relase: v26.3.3}\n"
        '  delivery: {engine: fluxx, repoURL: "https://git.example.com/gpu.git"}\n'
    )
    root = repository({"profiles/lab/cluster.yaml": cluster})
    result = run_cli(["check", "--root", root, "--fix"])
    text = (root / "profiles/lab/cluster.yaml").read_text()

    assert 'version: "1.33"' in text
    assert "{release: v26.3.3}" in text
    assert "engine: flux," in text
    assert "fixed: 3 edits in 1 file" in result.out


@pytest.mark.parametrize("more", [["--policies-from", "HEAD"], ["--judge", "index"]])
def test_who_judges_writes_nothing(repository, run_cli, more):
    root = repository({"profiles/lab/cluster.yaml": "kind: Cluster\n"})
    result = run_cli(["check", "--root", root, "--fix", *more])

    assert result.code == 2
    assert "not for who judges" in result.err
