"""One text, in every place where people write it: it is told once, at its line, and its sound twin is not."""

from __future__ import annotations

import time

import pytest
import yaml

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import one_edit
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.metrics_list import is_metrics_list, metric_mistakes
from poolsmith.interface.app import check_paths

LAYOUTS = "version: v1\nmig-configs:\n  half:\n    - {devices: all, mig-enabled: true, mig-devices: {1g.10gb: COUNT}}\n"
PLUGIN = "version: v1\nsharing:\n  timeSlicing:\n    resources: [{name: nvidia.com/gpu, replicas: COUNT}]\n"
WORKER = "core: {sleepInterval: 60s}\nsources:\n  pci:\n    FIELD: [vendor]\n"
METRICS = "# all\nDCGM_FI_DEV_GPU_TEMP, gauge, Temperature\nDCGM_FI_DEV_NAME, gauge, Power\n"
TOML = '# all\nversion = NUMBER\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\n  runtime_type = "io.containerd.runc.v2"\n'
LEVEL = """\
version = 2
[plugins."io.containerd.grpc.v1.cri".containerdHERE]
  default_runtime_name = "nvidia"
"""
MODES = '[nvidia-container-runtime]\nlog-level = "info"\nmode = "MODE"\n'
CDI = """\
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
  - name: "0"
    FIELD: {deviceNodes: [{path: /dev/nvidia0, hostPath: /dev/nvidia0}]}
"""
TEXTS = {
    "PSM540": (LAYOUTS.replace("COUNT", "9"), LAYOUTS.replace("COUNT", "7")),
    "PSM541": (PLUGIN.replace("COUNT", "1"), PLUGIN.replace("COUNT", "2")),
    "PSM333": (WORKER.replace("FIELD", "deviceLabelField"), WORKER.replace("FIELD", "deviceLabelFields")),
    "PSM339": (TOML.replace("NUMBER", "3"), TOML.replace("NUMBER", "2")),
    "PSM339 level": (LEVEL.replace("HERE", ".runtimes.nvidia"), LEVEL.replace("HERE", "")),
    "PSM339 mode": (MODES.replace("MODE", "jit"), MODES.replace("MODE", "jit-cdi")),
    "PSM339 cdi": (CDI.replace("FIELD", "containerEdit"), CDI.replace("FIELD", "containerEdits")),
    "PSM334": (METRICS.replace("NAME", "POWER_USE"), METRICS.replace("NAME", "POWER_USAGE")),
}

WORDS = {
    "PSM540": "mig-devices",
    "PSM541": "replicas",
    "PSM333": "deviceLabelField",
    "PSM334": "POWER_USE",
    "PSM339": "grpc.v1.cri",
    "PSM339 level": "default_runtime_name",
    "PSM339 mode": "mode",
    "PSM339 cdi": "containerEdit",
}
CODES = {name.split()[0] for name in TEXTS}


def indented(text, by):
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def config_map(text):
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: any-name, namespace: gpus}\ndata:\n  any: |\n"
    return {"cm.yaml": head + indented(text, 4)}


def patch_of_a_component(text):
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml}]\n"
    patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: device-plugin-config}\ndata:\n  any: |\n"
    return {"c/kustomization.yaml": component, "c/p.yaml": patch + indented(text, 4)}


def inline_patch(text):
    inner = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nvidia-config}\ndata:\n  nfd-worker.conf: |\n"
        + indented(text, 4)
    )
    head = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n# nvidia\npatches:\n  - patch: |\n"
    return {"c/kustomization.yaml": head + indented(inner, 6)}


def values_of_a_release(text):
    head = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: gpu-operator, namespace: gpus}\nspec:\n"
        "  interval: 1h\n  chart: {spec: {chart: gpu-operator, sourceRef: {kind: HelmRepository, name: v}}}\n  values:\n"
        "    extraObjects:\n      - text: |\n"
    )
    return {"r.yaml": head + indented(text, 10)}


def values_content(text):
    head = (
        "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: gpu-operator, namespace: kube-system}\nspec:\n"
        "  chart: gpu-operator\n  version: v25.10.1\n  valuesContent: |-\n    extraObjects:\n      - text: |\n"
    )
    return {"h.yaml": head + indented(text, 10)}


PLACES = (config_map, patch_of_a_component, inline_patch, values_of_a_release, values_content)


@pytest.fixture
def told(tmp_path):
    def run(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, "utf-8")
        return check_paths(tmp_path, [tmp_path], everything=True).diagnostics

    return run


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("code", TEXTS)
def test_a_text_is_told_once_and_at_its_line_wherever_it_stands(told, code, place):
    wrong, _ = TEXTS[code]
    files = place(wrong)
    (item,) = [item for item in told(files) if item.code in CODES]

    line = files[item.primary.span.path].splitlines()[item.primary.span.start.line - 1]
    assert (item.code, WORDS[code] in line) == (code.split()[0], True)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("code", TEXTS)
def test_its_sound_twin_is_not(told, code, place):
    assert [item for item in told(place(TEXTS[code][1])) if item.code in CODES] == []


@pytest.mark.parametrize("code", ["PSM540", "PSM541", "PSM333"])
def test_a_plain_file_is_one(told, code):
    wrong, sound = TEXTS[code]

    assert [item.code for item in told({"nvidia.yaml": wrong}) if item.code in CODES] == [code.split()[0]]
    assert [item.code for item in told({"nvidia.yaml": sound}) if item.code in CODES] == []


OTHERS = (
    "version: v1\nflags:\n  enable-feature: true\n",
    "core:\n  threads: 4\nsources:\n  syslog: {port: 514}\n",
    "version: 2\nresources: {limits: {cpu: 1}}\n",
    "name, type, DCGM_FI_DEV_GPU_TEMP\na, b, c\nd, e, f\n",
)


@pytest.mark.parametrize("text", OTHERS)
def test_texts_of_others_are_none_of_these(told, text):
    assert [item for item in told(config_map(text)) if item.code in CODES] == []


def test_a_text_that_is_filled_in_later_is_let_alone(told):
    assert [item for item in told(config_map(PLUGIN.replace("COUNT", "${REPLICAS}"))) if item.code in CODES] == []


def test_deep_and_long_texts_end(told):
    deep = "{a: " * 400 + "1" + "}" * 400
    files = config_map(f"version: v1\nsharing: {deep}\nmig-configs: {deep}\n")
    files |= {
        "b.yaml": yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "nvidia"},
                "data": {"x": "DCGM_FI_DEV_GPU_TEMP, gauge, x\n" * 20_000, "y": "sharing: {}\n" * 20_000},
            }
        )
    }
    start = time.perf_counter()
    told(files)

    assert time.perf_counter() - start < 20


def test_a_profile_that_no_gpu_has_leads_to_the_nearest(told):
    (item,) = told(config_map(LAYOUTS.replace("1g.10gb: COUNT", "1g.25gb: 7")))

    assert (item.code, item.severity) == ("PSM540", Severity.WARNING)
    assert "`1g.23gb` (B200" in item.help


@pytest.mark.parametrize(
    ("names", "is_told"),
    [("'0x233010DE'", True), ("'0x290110DE'", False), ("'0x233010DE', '0x290110DE'", False), ("'0xFFFF10DE'", False)],
)
def test_a_layout_is_held_against_the_gpus_of_its_filter(told, names, is_told):
    layout = LAYOUTS.replace("1g.10gb: COUNT", "1g.23gb: 7")
    found = told(config_map(layout.replace("devices: all", f"devices: all, device-filter: [{names}]")))

    assert [item.severity for item in found] == [Severity.WARNING] * is_told
    assert all("no GPU of the filter has `1g.23gb` (H100 SXM5 80GB)" in item.message for item in found)


def test_a_metric_is_known_from_its_version_on():
    newest = operand_inputs("metrics").tags[-2]  # behind it stands what is no release yet
    inputs = operand_inputs("metrics")
    late = next(name for name in sorted(inputs.names) if inputs.reading(name)[0] == newest)
    text = f"{late}, gauge, new\n"

    assert is_metrics_list(text)
    assert [item.message for item in metric_mistakes(text, newest)] == []
    (item,) = metric_mistakes(text, "3.3.5-3.4.0-ubuntu22.04")
    assert f"it is read from {newest} on" in item.message
    assert one_edit("gauge", "guage")


RULE = (
    "apiVersion: nfd.k8s-sigs.io/v1alpha1\nkind: NodeFeatureRule\nmetadata: {name: a}\nspec:\n  rules:\n    - name: a\n"
    "      matchFeatures:\n        - {feature: pci.device, matchExpressions: {vendor: {op: Exists}}}\n"
)
SETS = (
    # what a rule sets, and whether the master drops it: kubernetes-sigs/node-feature-discovery@v0.19.0, test/e2e/data,
    # nodefeaturerule-3-updated.yaml, -4.yaml and -5.yaml, with what node_feature_discovery_test.go expects of a node
    ("taints: [{key: kubernetes.io/denied-1, effect: NoSchedule}]", True),
    ("taints: [{key: node.kubernetes.io/denied-2, effect: NoSchedule}]", True),
    ("taints: [{key: unprefixed-taint, effect: NoSchedule}]", True),
    ("taints: [{key: feature.node.kubernetes.io/fake-special-cpu, effect: NoExecute}]", False),
    ("taints: [{key: vendor.io/foo, effect: NoExecute}]", False),
    ("extendedResources: {bad.kubernetes.io/malo: '999'}", True),
    ("extendedResources: {nons: '123'}", False),
    ("extendedResources: {vendor.feature.node.kubernetes.io/static: '123'}", False),
    ("annotations: {kubernetes.io/feature: denied}", True),
    ("annotations: {subns.kubernetes.io/blah: denied}", True),
    ("annotations: {nfd.node.kubernetes.io/xyz: denied}", True),
    ("annotations: {defaultns-annotation: foo, custom.vendor.io/feature: blah}", False),
    ("labels: {vendor.feature.node.kubernetes.io/a: '1', profile.node.kubernetes.io/b: '1', c: '1'}", False),
    ("labels: {node-role.kubernetes.io/gpu: ''}", True),
)


@pytest.mark.parametrize(("sets", "is_dropped"), SETS)
def test_what_the_master_drops_of_a_rule_is_told(told, sets, is_dropped):
    found = [item for item in told({"r.yaml": f"{RULE}      {sets}\n"}) if item.code == "PSM336"]

    assert [item.severity for item in found] == [Severity.WARNING] * is_dropped


EXPRESSIONS = (
    # which expressions fail: the same code, pkg/apis/nfd/nodefeaturerule/expression_test.go
    ("{op: Exists}", None),
    ("{op: Exists, value: ['1']}", "takes no value"),
    ("{op: IsTrue, value: ['1']}", "takes no value"),
    ("{op: In, value: ['val-1', 'val-2']}", None),
    ("{op: In}", "needs a value"),
    ("{op: NotIn, value: []}", "needs a value"),
    ("{op: InRegexp, value: ['val-[0-9]$', 'al-[1-9]']}", None),
    ("{op: Gt, value: ['2']}", None),
    ("{op: Gt, value: ['3.0']}", "whole numbers"),
    ("{op: Lt, value: ['2', '3']}", "exactly one value"),
    ("{op: GtLt, value: ['1', '10']}", None),
    ("{op: GtLt, value: ['1']}", "exactly two values"),
    ("{op: GtLt, value: ['10', '1']}", "smaller number first"),
    ("{op: Ge, type: version, value: ['v1.2']}", None),
)


@pytest.mark.parametrize(("expression", "why"), EXPRESSIONS)
def test_an_expression_that_fails_is_an_error(told, expression, why):
    text = RULE.replace("pci.device", "kernel.version").replace("{op: Exists}", expression)
    found = [item for item in told({"r.yaml": text}) if item.code == "PSM336"]

    assert [(why in item.message, item.severity) for item in found] == [(True, Severity.ERROR)] * (why is not None)


FEATURES = (
    ("pci.devices", True),
    ("PCI.Device", False),
    ("kernel.loadedmodules", True),
    ("cpu.sgx", False),
    ("vendor.domain", False),
    ("rule.matched", False),
    ("local.lable", True),
)


@pytest.mark.parametrize(("feature", "is_told"), FEATURES)
def test_a_feature_that_no_source_finds_is_told(told, feature, is_told):
    found = told({"r.yaml": RULE.replace("pci.device", feature)})

    assert [item.code for item in found if item.code == "PSM336"] == ["PSM336"] * is_told


def test_a_namespace_that_the_master_may_write_is_none_that_it_drops(told):
    rule = f"{RULE}      labels: {{node-role.kubernetes.io/gpu: ''}}\n"
    values = "master:\n  extraLabelNs: [node-role.kubernetes.io]\nworker: {tolerations: []}\n"

    assert [item.code for item in told({"r.yaml": rule, "nfd.yaml": values})] == []


def test_rules_of_the_source_custom_are_judged_as_rules(told):
    custom = "sources:\n  custom:\n    - name: a\n      matchFeatures:\n"
    custom += "        - {feature: pci.device, matchExpressions: {vendor: {op: In}}}\n"
    found = [item for item in told(config_map(custom)) if item.code == "PSM333"]

    assert ["`In` needs a value" in item.message for item in found] == [True]


COMMANDS = (
    # image, command, arguments, and what is wrong: the `Name` of the flags in the code of the tag
    ("k8s-device-plugin:v0.17.1", "", "['--fail-on-init-error=false', '--mig-strategy', 'mixed']", ""),
    ("k8s-device-plugin:v0.17.1", "", "['--fail-on-init-eror=false']", "did you mean `--fail-on-init-error`"),
    ("k8s-device-plugin:v0.14.5", "[nvidia-device-plugin]", "['--imex-required']", "from v0.17.0 on"),
    ("k8s-device-plugin:v0.17.1", "[gpu-feature-discovery]", "['--oneshot', '--sleep-interval=60s']", ""),
    ("k8s-device-plugin:v0.17.1", "[gpu-feature-discovery]", "['--pass-device-specs']", "does not define"),
    ("k8s-device-plugin:v0.17.1", "[config-manager]", "['--any']", ""),
    ("k8s-device-plugin:v0.17.1", "[sh, -c]", "['x --any']", ""),
    ("dcgm-exporter:4.2.3-4.1.3-ubuntu22.04", "", "[-f, /etc/a.csv, --kubernetes]", ""),
    ("dcgm-exporter:4.2.3-4.1.3-ubuntu22.04", "", "['-f /etc/a.csv']", "one word"),
    ("dcgm-exporter:3.1.8-3.1.5-ubuntu22.04", "", "[--dump-enabled]", "from 4.2.3-4.2.0 on"),
    ("dcgm-exporter:latest", "", "[--collector, /etc/a.csv]", "no dcgm-exporter that is known"),
    ("dcgm-exporter:latest", "", "['--collectors={{ .Values.x }}', '${FLAG}']", ""),
    ("other:v0.17.1", "", "[--any]", ""),
)


@pytest.mark.parametrize(("image", "command", "arguments", "why"), COMMANDS)
def test_a_flag_that_the_version_does_not_define_is_told(told, image, command, arguments, why):
    command = f"command: {command}, " if command else ""
    container = f"{{name: a, image: 'nvcr.io/nvidia/{image}', {command}args: {arguments}}}"
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: b}}\nspec:\n  containers:\n    - {container}\n"
    found = [f"{item.message}; {item.help}" for item in told({"p.yaml": pod}) if item.code == "PSM544"]

    assert [why in text for text in found] == [True] * bool(why)


HOSTILE_TOML = (
    "[plugins]\na = " + "9" * 6_000 + "\n",
    "[plugins]\na = " + "[" * 5_000 + "\n",
    '[plugins]\n"io.containerd.grpc.v1.cri" = 3\nx = 1\n',
    'version = true\n[plugins."io.containerd.grpc.v1.cri".containerd]\nruntimes = 3\n',
    "nvidia-container-runtime = 3\n[nvidia-container-cli]\n",
)


@pytest.mark.parametrize("text", HOSTILE_TOML)
def test_toml_of_any_form_stops_nobody(told, text):
    assert [item.message for item in told(config_map(text)) if "internal" in item.message] == []
