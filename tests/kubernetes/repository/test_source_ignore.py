"""What Flux leaves out of its source is not applied; its twin, which it has, is.

`git check-ignore` is the oracle: go-git, which Flux uses, reads the same patterns.
"""

import subprocess

import pytest

from poolsmith.interface.app.check import check_paths
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
from poolsmith.kubernetes.repository.source_ignore import left_out_of

PATHS = [
    "a.yaml",
    "kubernetes/a.yaml",
    "kubernetes/apps/b.yaml",
    "docs/a.yaml",
    "old/x/a.yaml",
    "kubernetes/old/c.yaml",
]
PATTERNS = [
    "/*\n!/kubernetes\n",
    "old/\n",
    "/old\n",
    "*.yaml\n!a.yaml\n",
    "# docs\n\ndocs/**\n",
    "**/apps/b.yaml\n",
    "kubernetes/*/c.yaml\n",
    "kubernetes/**/c.yaml\n",
    "[!k]*\n",
    "!a.yaml\n",
    "a.yaml/\n",
    "b.*\n",
]


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("text", PATTERNS)
def test_the_last_pattern_that_fits_decides_as_in_git(tmp_path, text):
    git(tmp_path, "init", "-q")
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("a: b\n")
    (tmp_path / ".git/info/exclude").write_text(text)
    files = RepositoryFiles(tmp_path, [tmp_path])

    told = git(tmp_path, "check-ignore", "--no-index", *PATHS).stdout.split()

    assert [path for path in PATHS if left_out_of("", path, text, files)] == told


FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, url: https://git.example.com/ops/gpu, IGNORE}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""
OPERATOR = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: nvidia}}}
"""
PLUGIN = OPERATOR.replace("gpu-operator", "nvidia-device-plugin").replace("v26.3.3", "0.17.4")


@pytest.mark.parametrize(
    ("said", "ignored", "codes"),
    [
        ("suspend: false", "", ["PSM276"]),
        ("ignore: '/apps/old/'", "", []),
        ("suspend: false", "apps/old/\n", []),
        ("ignore: '!/apps/old/'", "apps/old/\n", ["PSM276"]),
    ],
)
def test_two_plugins_are_told_where_flux_has_both(tmp_path, said, ignored, codes):
    for path, text in {
        "clusters/a/flux.yaml": FLUX.replace("IGNORE", said),
        "apps/operator.yaml": OPERATOR,
        "apps/old/plugin.yaml": PLUGIN,
        ".sourceignore": ignored,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    assert [item.code for item in check_paths(tmp_path, [tmp_path]).open if item.code == "PSM276"] == codes
