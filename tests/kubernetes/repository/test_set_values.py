"""One value as tools hand it on to `--set`: the same for each of them, with indexes, escapes and lists.

The oracle is the real helm, which prints what a chart gets.
"""

import json
import subprocess

import pytest

from poolsmith.interface.app.check import check_paths
from poolsmith.kubernetes.repository.infrastructure_code import terraform_charts
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
from poolsmith.kubernetes.repository.set_values import set_layer
from poolsmith.kubernetes.repository.terraform_scope import TerraformScopes

SETTINGS = [
    ("driver.enabled", "false"),
    ("daemonsets.tolerations[0].key", "nvidia.com/gpu"),
    ("daemonsets.tolerations[0].operator", "Exists"),
    ("toolkit.env[1].value", "x"),
    (r"node\.kubernetes\.io/gpu", "yes"),
    ("a.list", "{p,q}"),
    ("a.none", "null"),
    ("a.number", "12"),
    ("a.fraction", "1.5"),
    ("a.zero", "007"),
    ("a.empty", ""),
    ("a.deep[0][1].x", "TRUE"),
]
FORMS = {
    "terraform": (
        "main.tf",
        (
            'resource "helm_release" "gpu" {{\n  name = "gpu"\n  chart = "gpu-operator"\n  version = "v26.3.3"\n'
            '  repository = "https://helm.ngc.nvidia.com/nvidia"\n  set {{\n    name = "{name}"\n    value = "{value}"\n  }}\n}}\n'
        ),
    ),
    "ansible": (
        "site.yml",
        (
            "- hosts: all\n  tasks:\n    - kubernetes.core.helm:\n        name: gpu\n        chart_ref: nvidia/gpu-operator\n"
            "        chart_version: v26.3.3\n        release_namespace: gpu\n"
            "        set_values: [{{value: '{name}={value}'}}]\n"
        ),
    ),
    "argo": (
        "app.yaml",
        (
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: gpu, namespace: argocd}}\nspec:\n"
            "  project: default\n  destination: {{server: https://kubernetes.default.svc, namespace: gpu}}\n  source:\n"
            "    repoURL: https://helm.ngc.nvidia.com/nvidia\n    chart: gpu-operator\n    targetRevision: v26.3.3\n"
            "    helm: {{parameters: [{{name: '{name}', value: '{value}'}}]}}\n"
        ),
    ),
    "k3s": (
        "gpu.yaml",
        (
            "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {{name: gpu-operator, namespace: kube-system}}\nspec:\n"
            "  repo: https://helm.ngc.nvidia.com/nvidia\n  chart: gpu-operator\n  version: v26.3.3\n"
            "  targetNamespace: gpu\n  set: {{'{name}': '{value}'}}\n"
        ),
    ),
    "helmfile": (
        "helmfile.yaml",
        (
            "releases:\n  - name: gpu\n    namespace: gpu\n    chart: nvidia/gpu-operator\n    version: v26.3.3\n"
            "    set: [{{name: '{name}', value: '{value}'}}]\n"
        ),
    ),
}


def installed(tmp_path, settings):
    text = "".join(f'  set {{\n    name = "{name}"\n    value = "{value}"\n  }}\n' for name, value in settings)
    head = (
        'resource "helm_release" "gpu" {\n  name = "gpu"\n  chart = "c"\n  repository = "https://charts.example.com"\n'
    )
    (tmp_path / "main.tf").write_text(f"{head}{text}}}\n".replace("\\", "\\\\"))
    files = RepositoryFiles(tmp_path, [tmp_path])
    (found,) = terraform_charts("main.tf", TerraformScopes(("main.tf",), files), files)
    return found


@pytest.mark.tool("helm")
def test_a_chart_gets_what_the_real_helm_gives_it(tmp_path):
    chart = tmp_path / "c"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 1.0.0\n")
    (chart / "templates" / "a.yaml").write_text("all: {{ .Values | toJson | quote }}\n")
    flags = [word for name, value in SETTINGS for word in ("--set", f"{name}={value}")]
    printed = subprocess.run(
        ["helm", "template", str(chart), *flags], capture_output=True, text=True, check=True
    ).stdout

    wanted = json.loads(json.loads(printed.partition("all: ")[2]))
    found = installed(tmp_path, SETTINGS)

    assert found.unknown == ()
    assert json.loads(json.dumps(found.values)) == wanted


def test_an_item_of_a_list_stands_where_its_own_setting_does(tmp_path):
    found = installed(tmp_path, SETTINGS)

    lines = [found.locate(("daemonsets", "tolerations", 0, key)).span.start.line for key in ("key", "operator")]

    assert lines == [11, 15]


@pytest.mark.parametrize("tool", FORMS)
@pytest.mark.parametrize(
    ("name", "value", "codes"),
    [
        ("daemonsets.tolerations[0].operator", "Exists", set()),
        ("operator.nodeSelektor", "a", {"PSM301"}),
        ("daemonsets.tolerations[101].key", "a", {"PSM585"}),
        ("daemonsets.tolerations[x].key", "a", {"PSM585"}),
    ],
)
def test_a_setting_is_judged_whoever_hands_it_on(tmp_path, tool, name, value, codes):
    file, text = FORMS[tool]
    (tmp_path / file).write_text(text.format(name=name, value=value))

    found = {item.code for item in check_paths(tmp_path, [tmp_path]).open}

    assert found & {"PSM301", "PSM585"} == codes


@pytest.mark.parametrize(
    ("value", "settings", "wanted"),
    [
        ("a,b", {"escapes_commas": True}, "a,b"),
        (r"a\,b", {"escapes_commas": True}, "a,b"),
        ("{a,b}", {"escapes_commas": True}, ["a", "b"]),
        ("a,b", {}, None),
        ("true", {"is_text": True}, "true"),
        ("7", {"is_text": True}, "7"),
        (True, {}, True),
        (["a"], {}, None),
        (None, {}, None),
        ("x" * 5_000, {}, None),
    ],
)
def test_a_value_is_what_its_tool_makes_of_it(value, settings, wanted):
    layer = set_layer(None, "", "a.b", value, **settings)

    assert (layer and layer.values) == wanted
