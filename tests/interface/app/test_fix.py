"""`check --fix`: each certain edit as a before and after pair, and what is never written."""

from __future__ import annotations

import subprocess

import pytest

from poolsmith.core.diagnostics.certain_edits import certain_edit
from poolsmith.interface.app.check import check_paths
from poolsmith.interface.app.fix import fixes, shown_fixes, write_fixes
from support.git_repository import commit_all

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
    ("a value at the top", "    kernelModuleType: open  # kept\n", "    driver: {kernelModuleType: open}  # kept\n"),
    ("a value at the top, quoted", "    'kernelModuleType': \"open\"\n", '    driver: {kernelModuleType: "open"}\n'),
    (
        "a value one level up",
        "    driver:\n      autoUpgrade: true\n",
        "    driver:\n      upgradePolicy: {autoUpgrade: true}\n",
    ),
    ("a number for a text, in braces", "    driver: {version: 0580}\n", '    driver: {version: "0580"}\n'),
    ("dots in braces", "    driver: {manager.version: v1}\n", "    driver: {manager: {version: v1}}\n"),
    ("windows", "    driver: {versoin: 580.105.08}\r\n", "    driver: {version: 580.105.08}\r\n"),
]
UNCERTAIN = [
    ("a word far away", "    driver: {something: 580.105.08}\n"),
    ("a value beside its block", "    kernelModuleType: open\n    driver: {version: 580.105.08}\n"),
    ("a value of several places", "    repository: registry.example.com\n"),
    ("a value in a block elsewhere", "    toolkit:\n      kernelModuleType: open\n"),
    ("a mapping at the top", "    upgradePolicy:\n      autoUpgrade: true\n"),
    ("dots beside the block", "    driver.enabled: true\n    driver: {version: 580.105.08}\n"),
    ("dots before a mapping", "    driver.manager:\n      env: []\n"),
]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Files by path, committed; the project's root is where the command runs."""

    def make(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(text.encode())
        commit_all(tmp_path)
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


NAMING = RELEASE.format(values="    devicePlugin: {config: {name: shares, default: any}}\n")
SHARES = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: shares, namespace: {namespace}}}
data: {{any: "version: v1\\nsharing: {{timeSlicing: {{resources: [{{name: nvidia.com/gpu, replicas: 2}}]}}}}\\n"}}
"""
HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
LISTS = [
    # name, the list before, and after
    ("a block", "resources:\n  - release.yaml\n", "resources:\n  - release.yaml\n  - shares.yaml\n"),
    ("no indentation", "resources:\n- release.yaml\n", "resources:\n- release.yaml\n- shares.yaml\n"),
    (
        "a comment, and what follows",
        "resources:\n  - 'release.yaml'  # kept\nnamespace: gpu\n",
        "resources:\n  - 'release.yaml'  # kept\n  - shares.yaml\nnamespace: gpu\n",
    ),
    ("a flow", "resources: [release.yaml]\n", "resources: [release.yaml, shares.yaml]\n"),
    ("no end of the line", "resources:\n  - release.yaml", "resources:\n  - release.yaml\n  - shares.yaml"),
    ("windows", "resources:\r\n  - release.yaml\r\n", "resources:\r\n  - release.yaml\r\n  - shares.yaml\r\n"),
    (
        "a slip of the pen",
        "resources:\n  - share.yaml\n  - release.yaml\n",
        "resources:\n  - shares.yaml\n  - release.yaml\n",
    ),
    ("with its folder", "resources: [./relaese.yaml, shares.yaml]\n", "resources: [./release.yaml, shares.yaml]\n"),
]


@pytest.mark.parametrize(("before", "after"), [pair[1:] for pair in LISTS], ids=[pair[0] for pair in LISTS])
def test_a_file_that_is_needed_is_listed(repository, before, after):
    files = {"app/release.yaml": NAMING, "app/shares.yaml": SHARES.format(namespace="gpu")}
    root = repository({**files, "app/kustomization.yaml": HEAD + before})
    wrong = found(root)
    write_fixes(root, fixes(root, wrong))

    assert (root / "app/kustomization.yaml").read_bytes().decode() == HEAD + after
    assert {item.code for item in wrong} & {"PSM750", "PSM513"}
    assert not {item.code for item in found(root)} & {"PSM750", "PSM513"}


UNLISTED = {
    "a Secret, which somebody else may apply": {
        "app/release.yaml": RELEASE.format(values="    driver: {licensingConfig: {secretName: shares}}\n"),
        "app/shares.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: shares, namespace: gpu}\n",
    },
    "two files with one name": {
        "app/shares.yaml": SHARES.format(namespace="gpu"),
        "app/shares-of-lab.yaml": SHARES.format(namespace="gpu"),
    },
    "another namespace": {"app/shares.yaml": SHARES.format(namespace="other")},
    "another folder": {"app/extra/shares.yaml": SHARES.format(namespace="gpu")},
    "encrypted": {"app/shares.yaml": SHARES.format(namespace="gpu") + "sops: {version: 3.9.0}\n"},
    "a file that another kustomization lists": {
        "app/shares.yaml": SHARES.format(namespace="gpu"),
        "lab/kustomization.yaml": HEAD + "resources: [../app/shares.yaml]\n",
    },
}


@pytest.mark.parametrize("name", UNLISTED)
def test_a_file_that_may_not_be_meant_is_not_listed(repository, name):
    root = repository(
        {
            "app/release.yaml": NAMING,
            "app/kustomization.yaml": HEAD + "resources: [release.yaml]\n",
            **UNLISTED[name],
        }
    )

    assert not fixes(root, found(root, ".")).texts


WRONG = RELEASE.format(values=PAIRS[0][1])
APART = [
    ("not tracked", "git has not this text"),
    ("edited", "git has not this text"),
    ("a link", "symbolic link"),
    ("a template", "none of its edits"),
    ("generated", "a tool writes it"),
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
        commit_all(root, "y")
    else:
        generated = "---\n# Code generated by a tool; DO NOT EDIT.\n" + WRONG
        texts = {"not tracked": WRONG, "a template": WRONG + "# {{ x }}\n", "generated": generated}
        target.write_text(texts[kind])
        if kind != "not tracked":
            commit_all(root, "y")
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


def test_quotes_go_around_the_value_and_not_around_its_key(repository):
    text = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu}
spec:
  interval: 1h
  releaseName: 580
  chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: n}}}
"""
    root = repository({"app/release.yaml": text})

    ((old, new),) = fixes(root, found(root)).texts.values()

    assert new == old.replace("releaseName: 580", 'releaseName: "580"').replace("name: n}", 'name: "n"}')


@pytest.mark.parametrize("more", [["--policies-from", "HEAD"], ["--judge", "index"]])
def test_who_judges_writes_nothing(repository, run_cli, more):
    root = repository({"profiles/lab/cluster.yaml": "kind: Cluster\n"})
    result = run_cli(["check", "--root", root, "--fix", *more])

    assert result.code == 2
    assert "not for who judges" in result.err


HOSTILE = {
    "carriage returns": (WRONG.replace("\n", "\r\n"), True),
    "a byte order mark": ("\ufeff" + WRONG, True),
    "a comment that only quotes the sentence": (WRONG + "# they say: do not edit\n", True),
    "a key twice": (WRONG + "    driver: {enabled: true}\n    driver: {enabled: true}\n", False),
    "a misspelt key twice": (RELEASE.format(values="    driver:\n      enabld: false\n      enabld: true\n"), False),
    "what Terraform writes": ("# This file is managed by Terraform\n" + WRONG, False),
    "what Ansible writes": ("# Ansible managed: a.j2\n" + WRONG, False),
    "breaks of lines that are none": ("# \u2028 \x85\n" + WRONG, True),
    "tabs behind a key": (RELEASE.format(values="    driver:\t# c\n      enabeld:\tfalse\n"), True),
    "two documents": ("apiVersion: v1\nkind: Namespace\nmetadata: {name: gpu}\n---\n" + WRONG, True),
    "an anchor": (RELEASE.format(values="    toolkit: &t {enabeld: true}\n    gfd: *t\n"), True),
    "braces": (RELEASE.format(values="    {driver: {enabeld: false}}\n"), True),
}


@pytest.mark.parametrize(("text", "is_written"), HOSTILE.values(), ids=HOSTILE)
def test_a_file_of_any_form_changes_by_the_edited_words_alone(repository, text, is_written):
    root = repository({"app/release.yaml": text})

    written = fixes(root, found(root)).texts

    assert bool(written) is is_written
    for old, new in written.values():
        lines = zip(old.splitlines(keepends=True), new.splitlines(keepends=True), strict=True)
        changed = [(before, after) for before, after in lines if before != after]
        assert len(changed) == 1
        assert len(changed[0][0]) == len(changed[0][1])
