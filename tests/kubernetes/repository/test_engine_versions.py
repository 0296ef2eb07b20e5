"""The version of an engine is read where files install it, and is unknown where they say several, or nothing."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.repository.engine_versions import EngineVersions, said_versions
from poolsmith.kubernetes.repository.manifest_files import parse_documents

FLUX = "kind: Namespace\nmetadata: {labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/version: %s}}\n"
INSTANCE = "kind: FluxInstance\nspec: {distribution: {version: %s}}\n"
RESOURCE = "kind: Kustomization\nresources: [%s]\n"
CHART = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {source: {chart: argo-cd, targetRevision: %s}}\n"
SOURCES = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {sources: [{ref: a}, {chart: argo-cd, targetRevision: %s}]}\n"
BY_REFERENCE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
spec: {chartRef: {kind: OCIRepository, name: argo}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: argo}
spec: {url: oci://ghcr.io/argoproj/argo-helm/argo-cd, ref: {tag: %s}}
"""
STEPS = "jobs: {build: {steps: [{%s}]}}\n"
IMAGE = "kind: Deployment\nspec: {template: {spec: {containers: [{image: '%s'}]}}}\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (FLUX % "v2.9.1", {"flux": "2.9"}),
        (FLUX % "latest", {}),
        (FLUX % "2.9", {}),  # a number, as no label may be
        (FLUX % "'2.9'", {"flux": "2.9"}),
        (INSTANCE % "2.8.x", {"flux": "2.8"}),
        (INSTANCE % "2.x", {}),
        (RESOURCE % "https://raw.githubusercontent.com/argoproj/argo-cd/v3.4.2/manifests/install.yaml", {"argocd": "3.4"}),
        (RESOURCE % "github.com/argoproj/argo-cd//manifests/cluster-install?ref=v3.5.1", {"argocd": "3.5"}),
        (RESOURCE % "https://raw.githubusercontent.com/argoproj/argo-cd/stable/manifests/install.yaml", {}),
        (IMAGE % "quay.io/argoproj/argocd:v3.3.14", {"argocd": "3.3"}),
        (IMAGE % "quay.io/argoproj/argocd@sha256:00", {}),
        (f"{FLUX % 'v2.9.1'}---\n{FLUX % 'v2.8.6'}", {}),
        (f"{FLUX % 'v2.9.1'}---\n{FLUX % 'v2.9.4'}---\n{IMAGE % 'quay.io/argoproj/argocd:v3.3.1'}", {"flux": "2.9", "argocd": "3.3"}),
        (RESOURCE % "https://github.com/fluxcd/flux2/releases/download/v2.8.3/install.yaml", {"flux": "2.8"}),
        (RESOURCE % "github.com/fluxcd/flux2//manifests/install?ref=v2.9.0", {"flux": "2.9"}),
        (IMAGE % "registry.example.com/fluxcd/helm-controller:v1.5.3", {"flux": "2.8"}),
        (IMAGE % "registry.example.com/fluxcd/helm-controller:v1.99.0", {}),
        (IMAGE % "k3s-io/helm-controller:v1.5.3", {}),
        (CHART % "9.5.11", {"argocd": "3.3"}),
        (CHART % "10.1.1", {"argocd": "3.4"}),
        (CHART % "'>=9'", {}),
        (SOURCES % "10.1.1", {"argocd": "3.4"}),
        (BY_REFERENCE % "9.5.11", {"argocd": "3.3"}),
        (CHART % "7.8.0", {}),
        (STEPS % "with: {kustomize-version: 5.7.1}, uses: imranismail/setup-kustomize@v2", {"kustomize": "5.7"}),
        (STEPS % "run: 'curl -s https://example.com/install_kustomize.sh | bash -s 5.8.1'", {"kustomize": "5.8"}),
        (STEPS % "run: './install_kustomize.sh 5.8.1 /usr/bin'", {"kustomize": "5.8"}),
        ("[1, 2]\n", {}),
        ("kind: Kustomization\nresources: {a: b}\nmetadata: []\n", {}),
        (RESOURCE % ("argoproj/argo-cd" * 100_000), {}),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_is_installed(text, found):
    documents, _ = parse_documents("a.yaml", text.encode())

    assert EngineVersions(said_versions(documents)).of() == found
