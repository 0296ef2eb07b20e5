"""Installations that no profile asks for, in a change: what becomes of them is told, and what keeps them is known."""

from __future__ import annotations

import pytest

from change.diff.projects import changes, project
from change.review.conftest import repository_of
from poolsmith.interface.app.generate import generate

__all__ = ["repository_of"]
_CHART = "chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: nvidia}}}"
RELEASE = f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
  {_CHART}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: gpu-operator
  namespace: argocd
spec:
  project: default
  source:
    repoURL: https://helm.ngc.nvidia.com/nvidia
    chart: gpu-operator
    targetRevision: v26.3.3
    helm: {valuesObject: {driver: {enabled: false}}}
  destination: {server: https://kubernetes.default.svc, namespace: gpu-operator}
"""
CHART = """\
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: gpu-operator, namespace: kube-system}
spec: {repo: "https://helm.ngc.nvidia.com/nvidia", chart: gpu-operator, version: v26.3.3, targetNamespace: gpu-operator}
"""
BUNDLE = """\
defaultNamespace: gpu-operator
helm:
  releaseName: gpu-operator
  repo: https://helm.ngc.nvidia.com/nvidia
  chart: gpu-operator
  version: v26.3.3
"""
SUBSCRIPTION = """\
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: gpu-operator-certified, namespace: nvidia-gpu-operator}
spec: {channel: v26.3, name: gpu-operator-certified, source: certified-operators, sourceNamespace: openshift-marketplace}
"""
POLICY = "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: gpu-cluster-policy}\nspec: {}\n"
TERRAFORM = """\
resource "helm_release" "gpu" {
  name       = "gpu-operator"
  namespace  = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  chart      = "gpu-operator"
  version    = "v26.3.3"
}
"""
HELMFILE = """\
repositories: [{name: nvidia, url: https://helm.ngc.nvidia.com/nvidia}]
releases:
  - {name: gpu-operator, namespace: gpu-operator, chart: nvidia/gpu-operator, version: v26.3.3}
"""
PLACES = {
    "apps/gpu.yaml": RELEASE,
    "argo/gpu.yaml": APPLICATION,
    "k3s/gpu.yaml": CHART,
    "fleet/gpu/fleet.yaml": BUNDLE,
    "olm/gpu.yaml": SUBSCRIPTION,
    "policy/gpu.yaml": POLICY,
    "terraform/gpu.tf": TERRAFORM,
    "helmfile.yaml": HELMFILE,
}
_HR, _APP, _K3S, _FLEET, _OLM, _POLICY, _TF, _HELMFILE = PLACES


@pytest.fixture
def told(repository_of):
    """Severity and words of what `diff` says of installations elsewhere, before and after a change of these files."""

    def findings(before, after):
        repository = repository_of(project("a"))
        assert generate(repository.root).written
        repository.write(before)
        repository.commit("base")
        repository.base = repository.git("rev-parse", "HEAD")
        for path in before.keys() - after.keys():
            repository.remove(path)
        repository.write(after)
        report = changes(repository)
        return [(str(item.severity), item.message) for item in report.new_findings if item.code == "PSM673"]

    return findings


@pytest.mark.parametrize(
    ("path", "severity", "says"),
    [
        (_HR, "warning", "Flux delivers `gpu-operator` by this, and the change takes it away: that uninstalls"),
        (_APP, "warning", "starts the chart's hook"),
        (_K3S, "warning", "runs `helm uninstall` by a job"),
        (_FLEET, "warning", "uninstalls the release of the bundle"),
        (_TF, "warning", "uninstalls it at the next `terraform apply`"),
        (_POLICY, "warning", "deletes all that the operator made of it"),
        (_OLM, "note", "leaves the operator as it is"),
        (_HELMFILE, "note", "leaves the release as it is"),
    ],
)
def test_what_goes_with_its_file_is_told(told, path, severity, says):
    ((found, message),) = told({path: PLACES[path]}, {})

    assert found == severity
    assert says in message


_ANNOTATED = {
    _HR: ("namespace: gpu-operator}", "namespace: gpu-operator, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}"),
    _K3S: ("namespace: kube-system}", "namespace: kube-system, annotations: {helmcharts.helm.cattle.io/unmanaged: 'true'}}"),
    _APP: ("  namespace: argocd", '  namespace: argocd\n  annotations: {argocd.argoproj.io/skip-reconcile: "true"}'),
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (_HR, "  interval: 1h", "  interval: 1h\n  suspend: true"),
        *((path, *words) for path, words in _ANNOTATED.items()),
        (_APP, "driver: {enabled: false}", "node-feature-discovery: {postDeleteCleanup: false}"),
        (_APP, "driver: {enabled: false}", "nfd: {enabled: false}"),
        (_FLEET, "defaultNamespace:", "keepResources: true\ndefaultNamespace:"),
    ],
)
def test_what_says_itself_that_it_stays_is_a_note(told, path, old, new):
    assert old in PLACES[path]
    ((severity, message),) = told({path: PLACES[path].replace(old, new)}, {})

    assert severity == "note"
    assert "its release stays" in message


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (_HR, "{name: gpu-operator,", "{name: nvidia,"),
        (_APP, "  name: gpu-operator", "  name: nvidia"),
        (_K3S, "{name: gpu-operator,", "{name: nvidia,"),
    ],
)
def test_another_name_is_an_error(told, path, old, new):
    ((severity, message),) = told({path: PLACES[path]}, {path: PLACES[path].replace(old, new)})

    assert severity == "error"
    assert f"`{path}` is to take its place" in message


def test_a_bundle_of_fleet_in_another_folder_is_another_bundle(told):
    ((severity, _),) = told({_FLEET: BUNDLE}, {"fleet/nvidia/fleet.yaml": BUNDLE})
    assert severity == "error"


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        (_HR, "  interval: 1h", "  interval: 1h\n  targetNamespace: nvidia", "uninstalls the release at once"),
        (_HR, "  interval: 1h", "  interval: 1h\n  releaseName: nvidia", "uninstalls the release at once"),
        (_APP, "svc, namespace: gpu-operator}", "svc, namespace: nvidia}", "applies all of it again"),
        (_K3S, "targetNamespace: gpu-operator", "targetNamespace: nvidia", "installs a second release"),
        (_FLEET, "releaseName: gpu-operator", "releaseName: nvidia", "uninstalls the first"),
        (_FLEET, "defaultNamespace: gpu-operator", "defaultNamespace: nvidia", "uninstalls the first"),
        (_TF, 'namespace  = "gpu-operator"', 'namespace  = "nvidia"', "destroys the release"),
        (_HELMFILE, "namespace: gpu-operator", "namespace: nvidia", "installs a second release"),
    ],
)
def test_another_release_is_an_error(told, path, old, new, says):
    assert old in PLACES[path]
    ((severity, message),) = told({path: PLACES[path]}, {path: PLACES[path].replace(old, new)})

    assert severity == "error"
    assert says in message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({_HR: RELEASE}, {"infra/gpu.yaml": RELEASE}),
        ({_HR: RELEASE}, {_HR: RELEASE.replace("v26.3.3", "v26.7.0")}),
        ({_HR: RELEASE}, {_HR: RELEASE, "readme.yaml": "a: 1\n"}),
        ({_TF: TERRAFORM}, {"terraform/operators.tf": TERRAFORM}),
        ({_APP: APPLICATION.replace("gpu-operator", "other")}, {}),
        ({"a.yaml": "{{ not: yaml"}, {}),
        ({_FLEET: BUNDLE}, {_FLEET: f"# ours\n{BUNDLE}"}),
    ],
    ids=["file moved", "upgrade", "beside", "resource moved", "another chart", "no YAML", "comment"],
)
def test_what_changes_nothing_of_it_is_quiet(told, before, after):
    assert told(before, after) == []
