"""docs/versions.md against what the sample's output holds: each feature is used, and nothing used goes unnamed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from poolsmith.gpu.catalog.engines import differences, engine_facts

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/versions.md").read_text("utf-8")
ROWS = re.findall(r"^\| (`.+?) \| (Argo CD|Flux|Kubernetes) \| ([\d.]+)", PAGE, re.MULTILINE)
FEATURES = {
    ("Argo CD", "2.6"): re.compile(r"^ *- \"?\$values/", re.MULTILINE),
    ("Argo CD", "2.10"): re.compile(r"compare-options: ServerSideDiff=true$", re.MULTILINE),
    ("Flux", "2.3"): re.compile(r"^apiVersion: helm\.toolkit\.fluxcd\.io/v2\n", re.MULTILINE),
    ("Flux", "2.5"): re.compile(r"^ *healthCheckExprs:$", re.MULTILINE),
    ("Flux", "2.7"): re.compile(r"^ *name: RetryOnFailure$", re.MULTILINE),
    ("Kubernetes", "1.30"): re.compile(
        r"^apiVersion: admissionregistration\.k8s\.io/v1\nkind: ValidatingAdmissionPolicy\n", re.MULTILINE
    ),
}
KNOWN = {
    "admissionregistration.k8s.io/v1": "Kubernetes 1.30",
    "argoproj.io/v1alpha1": "any Argo CD",
    "confidentialcontainers.org/v1beta1": "comes with its own operator",
    "helm.toolkit.fluxcd.io/v2": "Flux 2.3",
    "source.toolkit.fluxcd.io/v1": "Flux 2.3",
    "kustomize.toolkit.fluxcd.io/v1": "Flux 2.0",
    "kustomize.config.k8s.io/v1beta1": "read by kustomize, applied by nobody",
    "nfd.k8s-sigs.io/v1alpha1": "comes with the operator's chart",
    "nvidia.com/v1alpha1": "comes with the operator's chart",
    "apps/v1": "any Kubernetes",
    "batch/v1": "any Kubernetes",
    "rbac.authorization.k8s.io/v1": "any Kubernetes",
    "v1": "any Kubernetes",
}
"""API versions of what is applied, and what brings them."""


@pytest.fixture(scope="module")
def applied():
    folders = [folder for name in ("delivery", "platform", "pools", "units") for folder in _folders(name)]
    files = [path for folder in (*folders, ROOT / "output/fleet") for path in folder.rglob("*.yaml")]
    return "\n".join(path.read_text("utf-8") for path in files)


def _folders(name):
    return (ROOT / "output/clusters").glob(f"*/{name}")


def test_each_row_has_a_feature_and_each_feature_a_row():
    assert {(engine, version) for _, engine, version in ROWS} == set(FEATURES)


@pytest.mark.parametrize("feature", FEATURES, ids=" ".join)
def test_the_output_has_the_feature(applied, feature):
    assert FEATURES[feature].search(applied), f"no sample cluster needs {feature}: take the row out"


def test_every_api_version_of_the_output_is_known(applied):
    used = set(re.findall(r"^apiVersion: (\S+)$", applied, re.MULTILINE)) - {"poolsmith/v1"}
    assert used <= set(KNOWN), "say in docs/versions.md which version brings it"


def test_the_sentence_names_the_highest_of_each_table_column():
    for engine in ("Argo CD", "Flux"):
        versions = [version for name, version in FEATURES if name == engine]
        highest = max(versions, key=lambda version: [int(part) for part in version.split(".")])
        assert f"**{engine} {highest}**" in PAGE


def test_the_table_of_differences_is_that_of_the_catalog(assert_table):
    lines = ["| engine | from | what it does | source |", "| --- | --- | --- | --- |"]
    for row in differences():
        name = engine_facts(row.get("engine") or row["tool"])["name"]
        lines.append(f"| {name} | {row['since']} | {row['says']} | {row['source']} |")

    assert_table(ROOT / "docs/versions.md", "engines-differ", lines)


def test_what_generated_output_needs_at_least_is_what_the_page_says():
    named = {version for name, version in FEATURES if name in ("Argo CD", "Flux")}

    assert {engine_facts(engine)["least"]["version"] for engine in ("flux", "argocd")} <= named
