"""What is too much to be looked at is said and counted: a pull request does not hide a mistake behind a crowd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from poolsmith.interface.app import check_paths

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome

UNIT = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: app{0}, namespace: flux-system}}
spec:
  interval: 5m
  path: ./{1}
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
  targetNamespace: {2}
"""
RELEASE = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator}
spec:
  interval: 1h
  chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: nvidia}}}
  values: {mig: {strategy: single}}
"""
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{}]\n"
DRIVER = """apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {{name: driver{0}}}
spec: {{driverType: gpu, repository: nvcr.io/nvidia, image: driver, version: "580.95.05", nodeSelector: {{pool: p{0}}}}}
"""


def checked(root: Path, texts: dict[str, str]) -> Outcome:
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    for path, text in texts.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return check_paths(root, [root], release="v26.3.3")


def delivered(root: Path, number: int, folder: str, namespace: str = "gpu{}") -> Outcome:
    units = [UNIT.format(index, folder, namespace.format(index)) for index in range(number)]
    own = "units.yaml, release.yaml" if folder == "own" else "units.yaml"
    texts = {"own/units.yaml": "---\n".join(units), "own/kustomization.yaml": KUSTOMIZATION.format(own)}
    texts[f"{folder}/release.yaml"] = RELEASE
    return checked(root, {f"{folder}/kustomization.yaml": KUSTOMIZATION.format("release.yaml")} | texts)


def not_judged(outcome: Outcome) -> list[str]:
    return [item.message for item in outcome.diagnostics if item.name == "not-judged"]


@pytest.mark.parametrize("number", [8, 9])
def test_installations_in_many_namespaces(tmp_path, number):
    outcome = delivered(tmp_path, number, "apps")

    told = [f"this is not judged: {number - 8} of its installations are left out, as they are many"]
    assert not_judged(outcome) == (told if number > 8 else [])
    assert len(outcome.coverage.unjudged) == (number > 8)


def test_one_installation_that_many_units_apply_is_one(tmp_path):
    assert not_judged(delivered(tmp_path, 20, "apps", "gpu")) == []


@pytest.mark.parametrize("number", [4, 12])
def test_units_that_change_the_folder_in_which_they_stand(tmp_path, number):
    told = [item for item in delivered(tmp_path, number, "own").skipped if "one of many that stand in" in item.reason]

    assert bool(told) is (number > 8)


@pytest.mark.parametrize("number", [40, 43])
def test_driver_objects(tmp_path, number):
    outcome = checked(tmp_path, {"drivers.yaml": "---\n".join(map(DRIVER.format, range(number)))})

    told = [item.what for item in outcome.skipped if "not predicted" in item.reason]
    assert told == ([f"{number - 40} resources or kinds of nodes"] if number > 40 else [])


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ("driver: {imagePullPolicy: Sometimes}", "operator-words"),
        ("driver: {upgradePolicy: {maxUnavailable: 25 percent}}", "operator-words"),
    ],
)
def test_lines_before_a_mistake(tmp_path, wrong, name):
    labels = "".join(f"    key{index}: value\n" for index in range(1000))
    outcome = checked(tmp_path, {"values.yaml": f"daemonsets:\n  labels:\n{labels}{wrong}\n"})

    assert name in {item.name for item in outcome.diagnostics}


HELM_RELEASE = """resource "helm_release" "gpu" {
  chart      = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  version    = "v26.3.3"
  set {
    name  = "driver.enabldd"
    value = "false"
  }
}
"""
COMMAND = "helm install gpu nvidia/gpu-operator --version v26.3.3 --set driver.enabldd=false"
VALUES = "driver: {enabldd: false}\n"
HIDDEN = {
    "a long number of Terraform": ("main.tf", f"{HELM_RELEASE}locals {{ a = {'9' * 5_000} }}\n", "not-judged"),
    "brackets of Terraform": ("main.tf", f"{HELM_RELEASE}locals {{ a = {'(' * 300}1{')' * 300} }}\n", "not-judged"),
    "an open text of Terraform": ("main.tf", f'{HELM_RELEASE}locals {{ a = "\n}}\n', "not-judged"),
    "Terraform that is not UTF-8": ("main.tf", f"{HELM_RELEASE}# f\xfcr\n", "not-utf8"),
    "Terraform with a byte order mark": ("main.tf", f"\xef\xbb\xbf{HELM_RELEASE}", "unknown-value"),
    "a script that is not UTF-8": ("install.sh", f"# f\xfcr\n{COMMAND}\n", "unknown-value"),
    "indexes of a setting": ("install.sh", f"{COMMAND} --set a{'[0]' * 700}=b\n", "unknown-value"),
    "more indexes of a setting": ("install.sh", f"{COMMAND} --set a{'[0]' * 7_000}=b\n", "unknown-value"),
    "brackets in values": ("values.yaml", f"{VALUES}a: {'[' * 900}{']' * 900}\n", "input-limit"),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_what_nobody_can_read_hides_no_mistake(tmp_path, case):
    path, text, name = HIDDEN[case]
    (tmp_path / path).write_bytes(text.encode("latin-1"))

    outcome = check_paths(tmp_path, [tmp_path / path], release="v26.3.3")

    assert name in {item.name for item in outcome.diagnostics}


def test_terraform_of_other_things_may_be_broken(tmp_path):
    texts = {"main.tf": 'resource "x" "y" {\n', "values.yaml": "driver: {enabled: false}\n"}

    assert [item.name for item in checked(tmp_path, texts).diagnostics] == []
