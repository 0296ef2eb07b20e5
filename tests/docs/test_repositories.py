"""The tables of docs/repositories.md: by whom the version of each deliverer is judged, and what is known of each text."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from poolsmith.core.facts import store
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.guard.rules.texts import (
    discovery_configurations,
    feature_rules,
    metrics_lists,
    mig_layouts,
    plugin_configurations,
    runtime_configurations,
)
from poolsmith.guard.rules.texts.registry import TEXT_RULES
from poolsmith.guard.rules.texts.stack_text import Shape
from poolsmith.interface.app import check_paths

PAGE = Path(__file__).parents[2] / "docs/repositories.md"
PINNED, RANGE = "v25.10.1", "'>=25.3.0'"
CHART = "chart: gpu-operator"
DELIVERERS = {
    # who installs the chart: a file of it, how it leaves the version out, and how another tool puts it in
    "Flux, `HelmRelease`": (
        "r.yaml",
        (
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: a}\nspec:\n  chart:\n"
            "    spec:\n      chart: gpu-operator\n      version: VERSION\n      sourceRef: {kind: HelmRepository, name: v}\n"
            "  values: {driver: {enabled: false}}\n"
        ),
        RANGE,
        '"${V}"',
    ),
    "Argo CD, `Application`": (
        "a.yaml",
        (
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: a}\nspec:\n"
            "  destination: {namespace: a, server: https://kubernetes.default.svc}\n  project: default\n  source:\n"
            "    repoURL: https://helm.ngc.nvidia.com/nvidia\n    chart: gpu-operator\n    targetRevision: VERSION\n"
            "    helm: {valuesObject: {driver: {enabled: false}}}\n"
        ),
        RANGE,
        "'{{ v }}'",
    ),
    "Argo CD, `ApplicationSet`": (
        "s.yaml",
        (
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a, namespace: a}\nspec:\n"
            "  generators: [{list: {elements: [{n: a}]}}]\n  template:\n    metadata: {name: a}\n    spec:\n"
            "      destination: {namespace: a, server: https://kubernetes.default.svc}\n      project: default\n      source:\n"
            "        repoURL: https://helm.ngc.nvidia.com/nvidia\n        chart: gpu-operator\n"
            "        targetRevision: VERSION\n        helm: {valuesObject: {driver: {enabled: false}}}\n"
        ),
        RANGE,
        "'{{ v }}'",
    ),
    "k3s and RKE2, `HelmChart`": (
        "h.yaml",
        (
            "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: a, namespace: kube-system}\nspec:\n"
            "  repo: https://helm.ngc.nvidia.com/nvidia\n  chart: gpu-operator\n  version: VERSION\n"
            "  valuesContent: |-\n    driver: {enabled: false}\n"
        ),
        RANGE,
        "'{{ v }}'",
    ),
    "Cluster API, `HelmChartProxy`": (
        "p.yaml",
        (
            "apiVersion: addons.cluster.x-k8s.io/v1alpha1\nkind: HelmChartProxy\nmetadata: {name: a, namespace: a}\nspec:\n"
            "  repoURL: https://helm.ngc.nvidia.com/nvidia\n  chartName: gpu-operator\n  version: VERSION\n"
            "  valuesTemplate: |\n    driver: {enabled: false}\n"
        ),
        RANGE,
        '"${V}"',
    ),
    "kustomize, `helmCharts`": (
        "kustomization.yaml",
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nhelmCharts:\n  - name: gpu-operator\n"
            "    repo: https://helm.ngc.nvidia.com/nvidia\n    version: VERSION\n"
            "    valuesInline: {driver: {enabled: false}}\n"
        ),
        RANGE,
        '"${V}"',
    ),
    "Helm, a chart around it": (
        "Chart.yaml",
        (
            "apiVersion: v2\nname: a\nversion: 0.1.0\ndependencies:\n  - name: gpu-operator\n    version: VERSION\n"
            "    repository: https://helm.ngc.nvidia.com/nvidia\n"
        ),
        RANGE,
        '"${V}"',
    ),
    "Fleet, `fleet.yaml`": (
        "fleet.yaml",
        (
            "defaultNamespace: a\nhelm:\n  repo: https://helm.ngc.nvidia.com/nvidia\n  chart: gpu-operator\n"
            "  version: VERSION\n  values: {driver: {enabled: false}}\n"
        ),
        RANGE,
        '"${ .ClusterLabels.v }"',
    ),
    "Helmfile": (
        "helmfile.yaml",
        (
            "releases:\n  - name: a\n    namespace: a\n    chart: nvidia/gpu-operator\n    version: VERSION\n"
            "    values:\n      - driver: {enabled: false}\n"
        ),
        RANGE,
        "'{{ .Values.v }}'",
    ),
    "Terraform, `helm_release`": (
        "main.tf",
        (
            'resource "helm_release" "a" {\n  name = "a"\n  repository = "https://helm.ngc.nvidia.com/nvidia"\n'
            '  chart = "gpu-operator"\n  version = VERSION\n  values = ["driver: {enabled: false}"]\n}\n'
        ),
        '">=25.3.0"',
        "var.v",
    ),
    "Pulumi, a project in YAML": (
        "Pulumi.yaml",
        (
            "name: a\nruntime: yaml\nresources:\n  gpu:\n    type: kubernetes:helm.sh/v3:Release\n    properties:\n"
            "      chart: gpu-operator\n      version: VERSION\n"
            "      repositoryOpts: {repo: https://helm.ngc.nvidia.com/nvidia}\n      values: {driver: {enabled: false}}\n"
        ),
        RANGE,
        '"${v}"',
    ),
    "`helm` in a script": (
        "install.sh",
        (
            "helm repo add nvidia https://helm.ngc.nvidia.com/nvidia\n"
            "helm install a nvidia/gpu-operator --version VERSION --set driver.enabled=false\n"
        ),
        RANGE,
        '"$1"',
    ),
    "Ansible, `kubernetes.core.helm`": (
        "play.yml",
        (
            "- hosts: all\n  tasks:\n    - name: a\n      kubernetes.core.helm:\n        name: a\n"
            "        chart_ref: nvidia/gpu-operator\n        chart_version: VERSION\n        release_namespace: a\n"
            "        release_values: {driver: {enabled: false}}\n"
        ),
        RANGE,
        '"{{ v }}"',
    ),
}
TEXT_PLACES = {
    mig_layouts: (Shape.MIG_LAYOUTS, "the GPUs of the catalog", None),
    plugin_configurations: (Shape.PLUGIN, "the structure of the plugin's code", "devicePlugin"),
    discovery_configurations: (Shape.WORKER, "fields, sources, lists; the master's too", "discovery"),
    feature_rules: (Shape.RULES, "expressions, features, what the master may write", "discovery"),
    metrics_lists: (Shape.METRICS, "fields of DCGM, types, columns", "metrics"),
    runtime_configurations: (Shape.CONTAINERD, "names by its version; NVIDIA's runtime, CDI specifications too", None),
}


def judged(folder, path, text):
    """By which releases the chart that a file installs is judged, as the run says it."""
    folder.mkdir()
    (folder / path).write_text(text, "utf-8")
    if path == "Chart.yaml":
        (folder / "values.yaml").write_text("gpu-operator: {driver: {enabled: false}}\n", "utf-8")
    outcome = check_paths(folder, [folder])
    facts = " ".join(outcome.facts)
    (found,) = re.findall(r"values were checked against (.*?) \((\w+)", facts)
    return found


def deliverer_rows(folder):
    rows = []
    for number, (name, (path, text, floating, unknown)) in enumerate(DELIVERERS.items()):
        pinned = f'"{PINNED}"' if path.endswith(".tf") else PINNED
        told = [
            judged(folder / f"{number}-{at}", path, text.replace("VERSION", version))
            for at, version in enumerate((pinned, floating, unknown))
        ]
        rows.append((name, *(f"{tag} ({tier})" if tier != "none" else tag for tag, tier in told)))
    return rows


def chart_rows():
    for chart in (OPERATOR_CHART, *sorted(set(CHART_OF.values()))):
        tags = value_paths(chart).tags
        names = sorted(name for name, known in CHART_OF.items() if known == chart and name != chart)
        yield f"`{chart}`", ", ".join(f"`{name}`" for name in names), f"{tags[0]} to {tags[-1]}", str(len(tags))


def text_rows():
    for rule in TEXT_RULES:
        shape, what, inputs = TEXT_PLACES[rule]
        tags = [tag for tag in operand_inputs(inputs).tags if tag != "next"] if inputs else []
        yield shape.value, what, f"{tags[0]} to {tags[-1]}" if tags else "", f"`{rule.RULE.code}`"


def table(header, rows):
    lines = [header, tuple("---" for _ in header), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


@pytest.fixture
def tables(tmp_path):
    return {
        "deliverers": table(("who installs it", "one version", "a range", "put in later"), deliverer_rows(tmp_path)),
        "charts": table(("chart", "also called", "releases that are known", "of them"), chart_rows()),
        "texts": table(("text", "what is judged", "versions that are known", "rule"), text_rows()),
    }


@pytest.mark.parametrize("name", ["deliverers", "charts", "texts"])
def test_the_tables_are_those_of_the_code(tables, name):
    page = PAGE.read_text("utf-8")
    before, begin, rest = page.partition(f"<!-- {name}:begin -->\n")
    shown, end, after = rest.partition(f"<!-- {name}:end -->")
    assert begin, f"docs/repositories.md has no place for the table of {name}"
    assert end, f"docs/repositories.md has no end of the table of {name}"
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        PAGE.write_text(before + begin + tables[name] + end + after, "utf-8")
        return
    assert shown == tables[name], "run `UPDATE_DOCS=1 python -m pytest tests/docs/test_repositories.py`"


def test_each_deliverer_tells_three_tiers(tmp_path):
    for _, pinned, floating, unknown in deliverer_rows(tmp_path):
        assert (pinned, floating) == (f"{PINNED} (pinned)", f"{value_paths().tags[-1]} (floating)")
        assert unknown == "all known releases"


def test_each_form_of_a_deliverer_is_named():
    page = PAGE.read_text("utf-8")

    assert [form["shown"] for form in store.table("chart_forms.yaml")["forms"] if form["shown"] not in page] == []
