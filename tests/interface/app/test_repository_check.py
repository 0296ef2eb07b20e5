"""What delivery engines would apply of a repository is what is judged; what is not of the GPU stack is left alone."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import NoInputError
from poolsmith.interface.app.check import check_paths

KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
DRIVER = "apiVersion: nvidia.com/v1alpha1\nkind: NVIDIADriver\nmetadata: {name: a}\nspec: {driverType: gpu}\n"
FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n"
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart: {spec: {chart: gpu-operator, version: %s, sourceRef: {kind: HelmRepository, name: nvidia}}}
  values:
    driver: {version: "%s", upgradePolicy: {autoUpgrade: false}}
"""


@pytest.fixture
def judge(write_files):
    def run(files, **options):
        root = write_files(files)
        return check_paths(root, [root], **options)

    return run


def told(outcome):
    return [(item.name, str(item.primary.span)) for item in outcome.diagnostics if item.severity.value != "note"]


OVERLAY = """\
spec:
  path: ./gpu
  sourceRef: {kind: GitRepository, name: flux-system}
  patches:
  - patch: |
      apiVersion: nvidia.com/v1alpha1
      kind: NVIDIADriver
      metadata:
        name: %s
      spec: {image: driver}
"""
STOPS = {
    "two objects of one name, which Flux finds": (
        {
            "ks.yaml": FLUX % "a" + "spec: {interval: 1h, prune: true, path: ./gpu, "
            "sourceRef: {kind: GitRepository, name: flux-system}}\n",
            "gpu/one.yaml": DRIVER,
            "gpu/two.yaml": DRIVER,
        },
        ("build-refused", "gpu/two.yaml:3:12"),
    ),
    "two kustomizations in one folder": (
        dict.fromkeys(("kustomization.yaml", "kustomization.yml"), "resources: [driver.yaml]\n")
        | {"driver.yaml": DRIVER},
        ("build-refused", "kustomization.yaml:1:1"),
    ),
    "a field that is unknown": (
        {"kustomization.yaml": "resources: [driver.yaml]\nresource: [a]\n", "driver.yaml": DRIVER},
        ("unknown-object-field", "kustomization.yaml:2:1"),
    ),
    "a kustomization of no kind that kustomize has": (
        {"kustomization.yaml": "kind: Kustomisation\nresources: [driver.yaml]\n", "driver.yaml": DRIVER},
        ("build-refused", "kustomization.yaml:1:1"),
    ),
    "a base whose kustomization is empty": (
        {"kustomization.yaml": "resources: [gpu]\n", "gpu/kustomization.yaml": "# later\n", "gpu/driver.yaml": DRIVER},
        ("build-refused", "gpu/kustomization.yaml"),
    ),
    "a base whose kustomization is a list": (
        {"kustomization.yaml": "resources: [gpu]\n", "gpu/kustomization.yaml": "- a\n", "gpu/driver.yaml": DRIVER},
        ("build-refused", "gpu/kustomization.yaml"),
    ),
    "a patch of Flux for no object": (
        {
            "ks.yaml": FLUX % "a" + OVERLAY % "b",
            "gpu/kustomization.yaml": "resources: [a.yaml]\n",
            "gpu/a.yaml": DRIVER,
        },
        ("build-refused", "ks.yaml:8:5"),
    ),
    "a kustomization that is no YAML": (
        {"kustomization.yaml": "resources: [driver.yaml\n", "driver.yaml": DRIVER},
        ("yaml-syntax", "kustomization.yaml:1:12"),
    ),
}


@pytest.mark.parametrize("name", STOPS)
def test_where_kustomize_stops_is_told_once(judge, name):
    files, said = STOPS[name]

    assert [item for item in told(judge(files)) if item[0] != "schema-violation"] == [said]


def test_a_patch_into_which_flux_may_put_something_is_not_told(judge):
    files = {"ks.yaml": FLUX % "a" + OVERLAY % "gpu-${CLUSTER}", "gpu/a.yaml": DRIVER}

    assert not told(judge(files))


def test_a_kustomization_that_nobody_builds_may_be_empty(judge):
    assert not told(judge({"gpu/kustomization.yaml": "# later\n", "gpu/driver.yaml": DRIVER}))


def test_a_kustomization_of_others_that_is_no_yaml_is_theirs(judge):
    files = {"gpu/driver.yaml": DRIVER, "web/kustomization.yaml": "resources: [a.yaml\n", "web/a.yaml": "kind: A\n"}

    assert not told(judge(files))


def test_a_line_at_which_kustomize_stops_is_told(judge):
    patches = "resources: [driver.yaml]\npatches: [{path: patch.yaml}]\n"
    patch = DRIVER.replace("name: a", "name: b")
    found = judge({"kustomization.yaml": KUSTOMIZATION + patches, "driver.yaml": DRIVER, "patch.yaml": patch})

    assert [name for name, _ in told(found)] == ["build-refused"]


def test_nothing_is_told_where_something_unknown_may_have_been_meant(judge):
    patches = "resources: [driver.yaml, 'https://example.com/more']\npatches: [{path: patch.yaml}]\n"
    patch = DRIVER.replace("name: a", "name: b")
    found = judge({"kustomization.yaml": KUSTOMIZATION + patches, "driver.yaml": DRIVER, "patch.yaml": patch})

    assert told(found) == []
    assert any("https://example.com/more" in item.reason for item in found.skipped)


def test_variables_and_patches_of_a_parent_reach_the_release(judge):
    top = FLUX % "cluster" + (
        "spec:\n  interval: 1h\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n  path: ./apps\n"
        "  postBuild: {substitute: {release: v26.3.3}}\n"
        "  patches:\n    - target: {kind: HelmRelease}\n      patch: |\n        - op: add\n"
        "          path: /spec/values/mgi\n          value: {}\n"
    )
    release = RELEASE % ('"${release}"', "${branch:=580.126.20}")
    found = judge({"clusters/prod/apps.yaml": top, "apps/gpu.yaml": release})

    assert told(found) == [("unknown-value", "clusters/prod/apps.yaml:15:11")]
    assert any("v26.3.3" in fact for fact in found.facts)


def test_an_unknown_variable_is_no_mistake(judge):
    assert told(judge({"gpu.yaml": RELEASE % ("v26.3.3", "${DRIVER}")})) == []


def test_a_repository_without_the_stack_says_so(judge):
    files = {"web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {x: 1}\n"}

    with pytest.raises(NoInputError, match="nothing of the GPU stack"):
        judge(files)
    assert told(judge(files, everything=True)) != []


def test_values_whose_release_nobody_says_are_judged_by_all(judge):
    found = judge({"gpu/values.yaml": "driver: {enabled: true}\ntoolkit: {enabled: true}\n"})

    assert told(found) == []
    assert found.coverage.line == "judged 1 of 1 GPU configuration"
    assert found.not_evaluated > 0


def test_templates_ciphers_and_other_languages_are_counted(judge):
    cipher = (
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {x: 'ENC[1]'}\nsops: {mac: x, version: 3}\n"
    )
    found = judge(
        {
            "gpu.yaml": RELEASE % ("v26.3.3", "580.126.20"),
            "chart/Chart.yaml": "apiVersion: v2\nname: mine\nversion: 1.0.0\n",
            "chart/templates/a.yaml": "{{ if .Values.a }}\na: {{ b }}\n{{ end }}\n",
            "secret.yaml": cipher,
            "a.cue": "a: 1\n",
        }
    )

    assert told(found) == []
    reasons = {item.reason for item in found.skipped}
    assert {"templates of Helm charts", "encrypted by SOPS", "CUE"} <= reasons


@pytest.mark.parametrize("name", ["install.sh", "Makefile", "main.tf"])
@pytest.mark.parametrize(("chart", "is_told"), [("nvidia/gpu-operator", True), ("web/shop", False)])
def test_a_script_that_is_too_long_to_read_is_told(judge, name, chart, is_told):
    files = {name: "# long\n" * 160_000 + f"helm install a {chart}\n", "driver.yaml": DRIVER}
    found = [item for item in told(judge(files)) if item[0] == "input-limit"]

    assert found == [("input-limit", name)] * is_told
