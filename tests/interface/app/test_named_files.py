"""Single files, as a hook names them: the release is that of what stands near, and nothing else is told."""

from __future__ import annotations

import json
import os

import pytest

ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gpu, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: gpu-operator}
  sources:
    - repoURL: https://helm.ngc.nvidia.com/nvidia
      chart: gpu-operator
      targetRevision: v25.3.4
      helm: {valueFiles: [$values/values/gpu.yaml]}
    - {repoURL: "https://git.example.com/a.git", ref: values}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: operator}
  values: {driver: {VALUE: true}}
"""
SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: operator, namespace: gpu-operator}
spec: {interval: 1h, url: "oci://registry.example.com/charts/gpu-operator", ref: {tag: v25.3.4}}
"""
GENERATOR = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [release.yaml, source.yaml]
configMapGenerator: [{name: gpu-values, namespace: gpu-operator, files: [values.yaml]}]
generatorOptions: {disableNameSuffixHash: true}
"""
CHART = """\
apiVersion: v2
name: umbrella
version: 0.1.0
dependencies:
  - {name: gpu-operator, version: v25.3.4, repository: "https://helm.ngc.nvidia.com/nvidia", alias: gpus}
"""
FLEET = """\
defaultNamespace: gpu-operator
helm: {chart: gpu-operator, repo: "https://helm.ngc.nvidia.com/nvidia", version: v25.3.4, valuesFiles: [gpu.yaml]}
"""
INFLATED = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
helmCharts:
  - {name: gpu-operator, repo: "https://helm.ngc.nvidia.com/nvidia", version: v25.3.4, valuesFile: gpu.yaml}
"""
PLAIN = "driver:\n  VALUE: true\n"
LAYOUTS = {
    "an Application beside": ("values/gpu.yaml", PLAIN, {"apps/gpu.yaml": ARGO}),
    "an OCIRepository beside": ("gpu/release.yaml", RELEASE, {"gpu/source.yaml": SOURCE}),
    "an OCIRepository in another folder": ("apps/gpu/release.yaml", RELEASE, {"apps/sources/source.yaml": SOURCE}),
    "an OCIRepository in the same file": ("gpu/release.yaml", f"{RELEASE}---\n{SOURCE}", {}),
    "a generated ConfigMap": (
        "gpu/values.yaml",
        PLAIN,
        {
            "gpu/kustomization.yaml": GENERATOR,
            "gpu/release.yaml": RELEASE.replace(
                "values: {driver: {VALUE: true}}", "valuesFrom: [{kind: ConfigMap, name: gpu-values}]"
            ),
            "gpu/source.yaml": SOURCE,
        },
    ),
    "an umbrella chart": ("chart/values.yaml", "gpus:\n  driver: {VALUE: true}\n", {"chart/Chart.yaml": CHART}),
    "a fleet.yaml": ("gpu/gpu.yaml", PLAIN, {"gpu/fleet.yaml": FLEET}),
    "helmCharts": ("gpu/gpu.yaml", PLAIN, {"gpu/kustomization.yaml": INFLATED}),
    "a pinned version beside": (
        "gpu/values-prod.yaml",
        f"{PLAIN}toolkit: {{enabled: true}}\n",
        {"gpu/kustomization.yaml": INFLATED},
    ),
}


@pytest.fixture
def repository(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


@pytest.fixture
def hook(run_cli, tmp_path):
    def run(*arguments):
        done = run_cli(["check", "--hook", "--format", "json", "--kubernetes", "1.34", *arguments], tmp_path)
        return done.code, json.loads(done.out) if done.code < 2 else done.err

    return run


def errors(report):
    return [(item["code"], item["primary"]["path"]) for item in report["diagnostics"] if item["severity"] == "error"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_stands_near_says_the_release(repository, hook, layout):
    path, text, others = LAYOUTS[layout]
    repository({**others, path: text.replace("VALUE", "enabledd")})
    code, report = hook(path)
    assert (code, errors(report)) == (1, [("PSM301", path)])
    assert "v25.3.4" in report["diagnostics"][0]["message"]
    repository({path: text.replace("VALUE", "enabled")})
    code, report = hook(path)
    assert (code, errors(report)) == (0, [])


def test_of_several_files_each_has_its_own_release(repository, hook):
    repository(
        {
            "old/fleet.yaml": FLEET.replace("v25.3.4", "v24.9.2"),
            "old/gpu.yaml": PLAIN.replace("VALUE", "enabledd"),
            "new/fleet.yaml": FLEET,
            "new/gpu.yaml": PLAIN.replace("VALUE", "enabledd"),
        }
    )
    _, report = hook("old/gpu.yaml", "new/gpu.yaml")
    said = {item["primary"]["path"]: item["message"] for item in report["diagnostics"]}

    assert "v24.9.2" in said["old/gpu.yaml"]
    assert "v25.3.4" in said["new/gpu.yaml"]


def test_nothing_is_told_of_files_that_are_only_read(repository, hook):
    repository({"gpu/fleet.yaml": FLEET, "gpu/gpu.yaml": PLAIN.replace("VALUE", "enabledd")})
    repository({"gpu/policy.yaml": "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: 3\n"})
    code, report = hook("gpu/fleet.yaml")
    assert (code, report["diagnostics"]) == (0, [])
    code, report = hook("gpu/gpu.yaml")
    assert errors(report) == [("PSM301", "gpu/gpu.yaml")]


def test_values_of_an_unknown_release_are_judged_by_all(repository, hook):
    repository({"gpu.yaml": "driver: {enabledd: true}\ntoolkit: {enabled: true}\ndevicePlugin: {enabled: true}\n"})
    code, report = hook("gpu.yaml")

    assert (code, errors(report)) == (1, [("PSM301", "gpu.yaml")])
    code, report = hook("gpu.yaml", "--release", "v25.3.4")
    assert errors(report) == [("PSM301", "gpu.yaml")]


def test_what_has_nothing_to_do_with_gpus_is_counted(repository, run_cli):
    root = repository({"a.yaml": "a: [", "b.yaml": "apiVersion: v1\nkind: Pod\nspec: 3\n"})
    done = run_cli(["check", "--hook", "a.yaml", "b.yaml"], root)

    assert done.code == 0
    assert "0 of 2 files may have to do with GPUs" in done.out


def test_a_patch_is_no_object(repository, hook):
    patch = "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: {driver: {enabled: true}}\n"
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: [{path: patch.yaml}]\n"
    repository({"gpu/kustomization.yaml": kustomization, "gpu/patch.yaml": patch})
    code, report = hook("gpu/patch.yaml")

    assert (code, errors(report)) == (0, [])


def test_what_a_parent_may_patch_in_is_not_missed(repository, hook):
    text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
    text += "metadata: {name: gpu-operator, namespace: flux-system}\nspec: {path: ./apps/gpu, interval: WHEN}\n"
    repository({"apps/gpu-operator/ks.yaml": text.replace("WHEN", "1h")})
    code, report = hook("apps/gpu-operator/ks.yaml")
    assert (code, errors(report)) == (0, [])


def test_a_patch_of_a_component_is_no_object(repository, hook):
    patch = "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: cluster-policy}\nspec: {driver: {}}\n"
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: patch.yaml}]\n"
    values = RELEASE.replace("VALUE", "enabled")
    files = {"gpu/kustomization.yaml": component, "gpu/patch.yaml": patch, "gpu/a.yaml": f"{values}---\n{SOURCE}"}
    repository(files)
    code, report = hook("gpu/patch.yaml")

    assert (code, report["diagnostics"]) == (0, [])


def test_folders_and_what_is_not_there_are_refused(repository, hook):
    repository({"gpu/a.yaml": ""})
    for path in ("gpu", "nowhere.yaml"):
        code, said = hook(path)
        assert (code, "--hook takes files" in said) == (2, True)


def test_pipes_links_and_huge_neighbours_stop_nobody(repository, hook):
    root = repository({"gpu/fleet.yaml": FLEET, "gpu/gpu.yaml": PLAIN.replace("VALUE", "enabledd")})
    os.mkfifo(root / "gpu/pipe.yaml")
    (root / "gpu/loop.yaml").symlink_to("loop.yaml")
    (root / "gpu/out.yaml").symlink_to("/etc/hostname")
    (root / "gpu/huge.yaml").write_text("gpu-operator HelmRelease gpu.yaml\n" * 100_000)
    code, report = hook("gpu/gpu.yaml")

    assert (code, errors(report)) == (1, [("PSM301", "gpu/gpu.yaml")])


def test_a_baseline_holds_for_single_files(repository, hook, run_cli):
    root = repository({"gpu/fleet.yaml": FLEET, "gpu/gpu.yaml": PLAIN.replace("VALUE", "enabledd")})
    assert run_cli(["check", ".", "--write-baseline"], root).code == 0
    code, report = hook("gpu/gpu.yaml")

    assert (code, report["summary"]["waived"]) == (0, 1)


@pytest.mark.parametrize("kind", ["a link", "a link to a folder", "a folder that is a link", "a link to a link"])
def test_a_hook_follows_no_link_out_of_the_repository(tmp_path, run_cli, kind):
    """A commit names the paths: its author must not choose what a report shows of the machine."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/nvidia.yaml").write_text("password: very-secret-thing\nkind: [nvidia\n")
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    if kind == "a folder that is a link":
        (root / "sub").symlink_to("../outside")
        name = "sub/nvidia.yaml"
    else:
        (root / "b.yaml").symlink_to("../outside" if kind == "a link to a folder" else "../outside/nvidia.yaml")
        (root / "a.yaml").symlink_to("b.yaml")
        name = "a.yaml" if kind == "a link to a link" else "b.yaml"

    done = run_cli(["check", "--hook", "--format", "json", name], root)

    assert done.code == 1
    assert [item["name"] for item in done.diagnostics] == ["link-out-of-tree"]
    assert "secret-thing" not in done.out + done.err


def test_a_hook_follows_a_link_inside(tmp_path, run_cli):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.yaml").write_text("kind: [nvidia\n")
    (tmp_path / "b.yaml").symlink_to("a.yaml")

    done = run_cli(["check", "--hook", "--format", "json", "b.yaml"], tmp_path)

    assert "link-out-of-tree" not in [item["name"] for item in done.diagnostics]


def test_a_link_that_is_named_by_hand_is_told_before_what_is_in_it(tmp_path, run_cli):
    (tmp_path / "a.yaml").write_text("kind: [nvidia\n")
    (tmp_path / "b.yaml").symlink_to("a.yaml")

    done = run_cli(["check", "b.yaml"], tmp_path)

    assert f"`b.yaml` is a link to `{tmp_path.resolve() / 'a.yaml'}`" in done.err
    assert "link" not in run_cli(["check", "a.yaml"], tmp_path).err
