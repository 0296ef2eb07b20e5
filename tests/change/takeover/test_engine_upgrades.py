"""An upgrade of an engine tells what it makes of the files here, and nothing where they mean the same to both versions."""

from __future__ import annotations

import pytest

from change.diff.projects import changes, cluster, project
from change.review.conftest import repository_of

__all__ = ["repository_of"]
_FLUX = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n  labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/version: v%s}\n"
_DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, namespace: y}\nspec: {template: {spec: {containers: [{name: a, image: '%s'}]}}}\n"
_INSTANCE = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\nspec: {distribution: {version: %s.x}}\n"
_ARGO = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: ['https://github.com/argoproj/argo-cd//manifests/cluster-install?ref=v%s']\n"
_ARGO_CHART = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: argocd, namespace: argocd}\nspec: {source: {repoURL: 'https://argoproj.github.io/argo-helm', chart: argo-cd, targetRevision: %s}}\n"
_WORKFLOW = "on: push\njobs:\n  build:\n    runs-on: ubuntu-24.04\n    steps:\n      - {uses: imranismail/setup-kustomize@v2, with: {kustomize-version: %s}}\n"
_RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  timeout: 30m
  chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: nvidia}}}
  install: {crds: CreateReplace, serverSideApply: false}
  upgrade: {crds: CreateReplace}
"""
_HOOKS = _RELEASE + "  postRenderers: [{kustomize: {patches: [{patch: 'a: b'}]}}]\n"
_NO_HOOKS = _HOOKS + "  postRenderStrategy: nohooks\n"
_UMBRELLA = {
    "charts/gpu/Chart.yaml": "apiVersion: v2\nname: gpu\nversion: 1.0.0\ndependencies: [{name: gpu-operator, version: v26.7.0, repository: 'https://helm.ngc.nvidia.com/nvidia'}]\n",
    "charts/gpu/values.yaml": "gpu-operator: {operator: {tolerations: null}}\n",
}
_INFLATED = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: gpu-operator\nhelmCharts:\n  - {name: gpu-operator, repo: 'https://helm.ngc.nvidia.com/nvidia', releaseName: gpu, namespace: gpu-operator, version: %s, includeCRDs: true}\n"
_VARIABLE = {
    "flux/apps.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {interval: 1h, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substitute: {a: b}}}\n",
    "apps/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [gpu.yaml]\n",
    "apps/gpu.yaml": _RELEASE.replace("v26.3.3", "'${release}'"),
}


@pytest.fixture
def told(repository_of):
    """Severity, place and words of what `diff` says of another version of an engine in a file."""

    def findings(path, before, after, rest):
        repository = repository_of(project("a"))
        repository.write({path: before, **rest})
        repository.commit("base")
        repository.base = repository.git("rev-parse", "HEAD")
        repository.write({path: after})
        report = changes(repository)
        return [
            (str(item.severity), str(item.primary.span.path), item.message, item.related)
            for item in report.new_findings
            if item.code == "PSM939"
        ]

    return findings


@pytest.mark.parametrize(
    ("path", "before", "after", "rest", "severity", "says"),
    [
        ("flux-system/gotk-components.yaml", _FLUX % "2.8.6", _FLUX % "2.9.1", {"apps/gpu.yaml": _HOOKS}, "warning", "Flux 2.9 in place of 2.8: from Flux 2.9 on"),
        ("flux.yaml", _INSTANCE % "2.8", _INSTANCE % "2.9", {"apps/gpu.yaml": _HOOKS}, "warning", "hooks"),
        ("flux.yaml", _FLUX % "2.4.0", _FLUX % "2.9.1", {"apps/gpu.yaml": _HOOKS}, "warning", "Flux 2.9 in place of 2.4"),
        ("argo.yaml", _ARGO % "2.14.2", _ARGO % "3.5.1", _UMBRELLA, "warning", "Argo CD 3.5 in place of 2.14"),
        ("f.yaml", _DEPLOYMENT % "ghcr.io/fluxcd/helm-controller:v1.5.3", _DEPLOYMENT % "ghcr.io/fluxcd/helm-controller:v1.6.0", {"apps/gpu.yaml": _HOOKS}, "warning", "hooks"),
        ("flux.yaml", _FLUX % "2.9.1", _FLUX % "2.8.6", {"apps/gpu.yaml": _HOOKS}, "note", "ends this"),
        ("flux.yaml", _FLUX % "2.7.0", _FLUX % "2.8.0", {"apps/gpu.yaml": _RELEASE.replace(", serverSideApply: false", "")}, "note", "installed anew"),
        ("flux.yaml", _FLUX % "2.8.0", _FLUX % "2.9.0", _VARIABLE, "error", "refuses all"),
        ("flux.yaml", _FLUX % "2.7.5", _FLUX % "2.8.1", {"apps/gpu.yaml": _RELEASE.replace("/v2", "/v2beta2")}, "error", "no longer served"),
        ("argo/kustomization.yaml", _ARGO % "3.4.2", _ARGO % "3.5.1", _UMBRELLA, "warning", "Helm 4 renders it"),
        ("argo.yaml", _ARGO_CHART % "9.3.0", _ARGO_CHART % "10.1.1", {"gpu.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: gpu, namespace: argocd}\nspec:\n  project: default\n  source: {repoURL: 'https://helm.ngc.nvidia.com/nvidia', chart: gpu-operator, targetRevision: v26.3.3, helm: {valuesObject: {operator: {cleanupCRD: true}}}}\n  destination: {server: 'https://kubernetes.default.svc', namespace: gpu-operator}\n"}, "warning", "deletes the definitions"),
        (".github/workflows/render.yaml", _WORKFLOW % "5.7.0", _WORKFLOW % "5.8.1", {"gpu/kustomization.yaml": _INFLATED % "v25.3.4"}, "warning", "kustomize 5.8 in place of 5.7"),
    ],
)  # fmt: skip
def test_what_an_upgrade_does_to_files_that_stay_is_told(told, path, before, after, rest, severity, says):
    found = told(path, before, after, rest)

    assert [item[0] for item in found if says in item[2]] == [severity], found
    assert all(item[1] in rest and item[3][0].span.path == path for item in found)


@pytest.mark.parametrize(
    ("path", "before", "after", "rest"),
    [
        ("flux.yaml", _FLUX % "2.8.6", _FLUX % "2.9.1", {"apps/gpu.yaml": _RELEASE}),
        ("flux.yaml", _FLUX % "2.8.6", _FLUX % "2.9.1", {"apps/gpu.yaml": _NO_HOOKS}),
        ("flux.yaml", _FLUX % "2.8.6", _FLUX % "2.8.7", {"apps/gpu.yaml": _HOOKS}),
        ("flux.yaml", _FLUX % "2.4.6", _FLUX % "2.6.1", {"apps/gpu.yaml": _HOOKS}),
        ("flux.yaml", _FLUX % "2.8.6", _FLUX % "2.99.1", {"apps/gpu.yaml": _HOOKS}),
        ("flux.yaml", _FLUX % "latest", _FLUX % "2.9.1", {"apps/gpu.yaml": _HOOKS}),
        ("argo/kustomization.yaml", _ARGO % "3.3.1", _ARGO % "3.4.2", _UMBRELLA),
        ("argo/kustomization.yaml", _ARGO % "3.4.2", _ARGO % "3.5.1", {"apps/gpu.yaml": _HOOKS}),
        (".github/workflows/render.yaml", _WORKFLOW % "5.7.0", _WORKFLOW % "5.8.1", {"gpu/kustomization.yaml": _INFLATED % "v25.10.1"}),
        ("flux.yaml", "kind: Namespace\nmetadata: {labels: [1, {2: 3}]}\n", _FLUX % "2.9.1", {"apps/gpu.yaml": _HOOKS}),
        ("flux.yaml", _FLUX % "2.8.1", "kind: Kustomization\nresources: {a: b}\njobs: [1]\nspec: {chart: []}\n", {"apps/gpu.yaml": _HOOKS}),
        ("render.yaml", _WORKFLOW % "5.7.0", "jobs: {a: {steps: [1, {uses: 1, run: [2], with: 3}]}, 7: x}\n", {}),
        ("flux.yaml", _FLUX % "2.8.1", "kind: [\n", {"apps/gpu.yaml": _HOOKS}),
    ],
)  # fmt: skip
def test_nothing_is_told_where_both_versions_do_the_same(told, path, before, after, rest):
    assert told(path, before, after, rest) == []


def test_two_clusters_have_their_own_version(told):
    """Only the files of the one that is upgraded become something else."""
    one = _VARIABLE["flux/apps.yaml"].replace("./apps", "./clusters/one/apps")
    rest = {
        "clusters/one/flux/apps.yaml": one,
        "clusters/two/flux/apps.yaml": one.replace("/one/", "/two/"),
        "clusters/two/flux/gotk.yaml": _FLUX % "2.8.1",
    }
    rest |= {f"clusters/{name}/apps/{file}": _VARIABLE[f"apps/{file}"] for name in ("one", "two") for file in ("gpu.yaml", "kustomization.yaml")}  # fmt: skip
    found = told("clusters/one/flux/gotk.yaml", _FLUX % "2.8.1", _FLUX % "2.9.1", rest)

    assert {item[1] for item in found} == {"clusters/one/apps/gpu.yaml"}


def _of_cluster(name):
    """Of a cluster with a Kustomization of Flux whose variable nothing defines."""
    unit = _VARIABLE["flux/apps.yaml"].replace("./apps", f"./clusters/{name}/apps")
    files = {f"clusters/{name}/{path}": text for path, text in _VARIABLE.items() if path.startswith("apps/")}
    return files | {f"clusters/{name}/flux/apps.yaml": unit}


def _findings(repository_of, before, after, gone=()):
    repository = repository_of(project("a"))
    repository.write(before)
    repository.commit("base")
    repository.base = repository.git("rev-parse", "HEAD")
    for path in gone:
        repository.git("rm", "-q", path)
    repository.write(after)
    found = [item for item in changes(repository).new_findings if item.code == "PSM939"]
    return {(str(item.severity), str(item.primary.span.path), item.message.partition(":")[0]) for item in found}


def test_clusters_that_leave_different_versions_at_once_are_told_each(repository_of):
    one, two = "clusters/one/flux/gotk.yaml", "clusters/two/flux/gotk.yaml"
    before = {**_of_cluster("one"), **_of_cluster("two"), one: _FLUX % "2.7.5", two: _FLUX % "2.8.1"}

    assert _findings(repository_of, before, {one: _FLUX % "2.9.1", two: _FLUX % "2.9.1"}) == {
        ("error", "clusters/one/apps/gpu.yaml", "Flux 2.9 in place of 2.7"),
        ("error", "clusters/two/apps/gpu.yaml", "Flux 2.9 in place of 2.8"),
    }


def test_a_file_that_is_renamed_and_upgraded_is_an_upgrade(repository_of):
    old, new = "clusters/one/flux/gotk.yaml", "clusters/one/flux-system/gotk-components.yaml"
    found = _findings(repository_of, {**_of_cluster("one"), old: _FLUX % "2.8.1"}, {new: _FLUX % "2.9.1"}, [old])

    assert found == {("error", "clusters/one/apps/gpu.yaml", "Flux 2.9 in place of 2.8")}


def test_a_new_cluster_upgrades_nothing(repository_of):
    one, two = "clusters/one/flux/gotk.yaml", "clusters/two/flux/gotk.yaml"
    before = {**_of_cluster("one"), one: _FLUX % "2.8.1"}

    assert _findings(repository_of, before, {**_of_cluster("two"), two: _FLUX % "2.9.1"}) == set()


def test_of_two_engines_that_are_upgraded_at_once_each_has_its_own(repository_of):
    before = {"apps/gpu.yaml": _HOOKS, **_UMBRELLA, "flux.yaml": _FLUX % "2.8.6", "argo/kustomization.yaml": _ARGO % "3.3.1"}  # fmt: skip
    after = {"flux.yaml": _FLUX % "2.9.1", "argo/kustomization.yaml": _ARGO % "3.4.2"}

    assert _findings(repository_of, before, after) == {("warning", "apps/gpu.yaml", "Flux 2.9 in place of 2.8")}


def test_a_name_of_strangers_lowers_no_severity(repository_of):
    """What ends is a note; words in a message, which strangers may write, say nothing of that."""
    sly = _VARIABLE | {"apps/gpu.yaml": _RELEASE.replace("{name: gpu-operator,", "{name: 'a ends this: b',")}
    sly["apps/gpu.yaml"] = sly["apps/gpu.yaml"].replace("v26.3.3", "'${release}'")
    found = _findings(repository_of, {**sly, "flux.yaml": _FLUX % "2.8.0"}, {"flux.yaml": _FLUX % "2.9.0"})

    assert {item[0] for item in found} == {"error"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [("2.7", "2.8", ["note"]), ("2.8", "2.9", []), ("2.8.1", "2.8.6", []), (None, "2.9", []), ("2.8", "99.1", [])],
)
def test_an_upgrade_in_a_profile_is_told_at_its_line(repository_of, before, after, said):
    def text(version):
        return cluster().replace("engine: flux", f'engine: flux, version: "{version}"') if version else cluster()

    file = "profiles/lab/cluster.yaml"
    repository = repository_of({**project("a"), file: text(before)})
    repository.write({file: text(after)})

    found = [item for item in changes(repository).new_findings if item.code == "PSM939"]

    assert [str(item.severity) for item in found] == said, [item.message for item in found]
    assert {item.primary.span.path for item in found} <= {file}
