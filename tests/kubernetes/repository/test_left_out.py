"""What Argo CD has been told to leave out is of no release that stands near it; its twin, which it applies, is.

Source: argo-cd docs/operator-manual/applicationset/Generators-Git.md (`exclude`), docs/user-guide/directory.md (`include`
and `exclude`).
"""

import pytest

from poolsmith.interface.app.check import check_paths

OURS, ANOTHER = "https://git.example.com/ops/argo", "https://git.example.com/ops/other"
OPERATOR = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: operator, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: gpu-operator}
  source:
    repoURL: https://helm.ngc.nvidia.com/nvidia
    chart: gpu-operator
    targetRevision: v26.3.3
    helm:
      valuesObject: {driver: {nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}}
"""
DRIVER = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: default}
spec: {driverType: gpu, repository: nvcr.io/nvidia, image: driver, version: "470.82.01"}
"""
VALUES = "driver: {version: 550.163.01}\ntoolkit: {enabled: true}\n"


def directories(listed, repository=OURS):
    return f"git: {{repoURL: {repository}, revision: main, directories: {listed}}}"


def matrix(listed):
    return f"matrix: {{generators: [{{list: {{elements: [{{a: b}}]}}}}, {{{directories(listed)}}}]}}"


def application_set(generator):
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: addons, namespace: argocd}}
spec:
  generators:
    - {generator}
  template:
    metadata: {{name: '{{{{path.basename}}}}'}}
    spec:
      project: default
      destination: {{server: https://kubernetes.default.svc, namespace: gpu-operator}}
      source: {{repoURL: {OURS}, targetRevision: main, path: '{{{{path}}}}'}}
"""


def application(directory):
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: addons, namespace: argocd}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: gpu-operator}}
  source: {{repoURL: {OURS}, targetRevision: main, path: addons, directory: {directory}}}
"""


ALL, BUT_OLD = "[{path: addons/*}]", "[{path: addons/*}, {path: addons/old, exclude: true}]"
APPLIED = {
    "a set": application_set(directories(ALL)),
    "a set that excludes another folder": application_set(
        directories("[{path: addons/*}, {path: addons/new, exclude: true}]")
    ),
    "a matrix": application_set(matrix(ALL)),
    "a source": application("{recurse: true}"),
    "a source that excludes another file": application("{recurse: true, exclude: 'new/*'}"),
}
LEFT_OUT = {
    "a set": application_set(directories(BUT_OLD)),
    "a set, by a pattern": application_set(directories("[{path: addons/*}, {path: '*/old', exclude: true}]")),
    "a matrix": application_set(matrix(BUT_OLD)),
    "a source": application("{recurse: true, exclude: 'old/*'}"),
    "a source that includes others": application("{recurse: true, include: 'new/*'}"),
}


def codes(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    outcome = check_paths(root, [root])
    return {item.code for item in outcome.open if item.primary.span.path.startswith("addons/old/")}


def repository(delivering):
    return {
        "sets/addons.yaml": delivering,
        "sets/operator.yaml": OPERATOR,
        "addons/old/driver.yaml": DRIVER,
        "addons/new/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: gpu-operator}\n",
    }


@pytest.mark.parametrize("name", APPLIED)
def test_what_is_applied_is_judged_by_the_release_beside_it(name, tmp_path):
    assert "PSM293" in codes(tmp_path, repository(APPLIED[name]))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_judged_by_no_release(name, tmp_path):
    assert "PSM293" not in codes(tmp_path, repository(LEFT_OUT[name]))


def test_a_kustomization_that_is_left_out_too(tmp_path):
    listed = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [driver.yaml]\n"
    files = {**repository(LEFT_OUT["a set"]), "addons/old/kustomization.yaml": listed}

    assert "PSM293" not in codes(tmp_path, files)


@pytest.mark.parametrize(("listed", "found"), [(BUT_OLD, False), (ALL, True)])
def test_values_in_a_folder_that_is_left_out(listed, found, tmp_path):
    """Only where it is applied does the release of the folder above say what they mean."""
    files = {
        "addons/operator.yaml": OPERATOR,
        "sets/addons.yaml": application_set(directories(listed)),
        "addons/old/values.yaml": VALUES,
        "addons/new/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: gpu-operator}\n",
    }

    assert ("PSM293" in codes(tmp_path, files)) is found
