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
TEXTS = {
    "PSM540": (LAYOUTS.replace("COUNT", "9"), LAYOUTS.replace("COUNT", "7")),
    "PSM541": (PLUGIN.replace("COUNT", "1"), PLUGIN.replace("COUNT", "2")),
    "PSM333": (WORKER.replace("FIELD", "deviceLabelField"), WORKER.replace("FIELD", "deviceLabelFields")),
    "PSM334": (METRICS.replace("NAME", "POWER_USE"), METRICS.replace("NAME", "POWER_USAGE")),
}


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
    (item,) = [item for item in told(files) if item.code in TEXTS]

    word = {"PSM540": "mig-devices", "PSM541": "replicas", "PSM333": "deviceLabelField", "PSM334": "POWER_USE"}[code]
    line = files[item.primary.span.path].splitlines()[item.primary.span.start.line - 1]
    assert (item.code, word in line) == (code, True)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("code", TEXTS)
def test_its_sound_twin_is_not(told, code, place):
    assert [item for item in told(place(TEXTS[code][1])) if item.code in TEXTS] == []


@pytest.mark.parametrize("code", ["PSM540", "PSM541", "PSM333"])
def test_a_plain_file_is_one(told, code):
    wrong, sound = TEXTS[code]

    assert [item.code for item in told({"nvidia.yaml": wrong}) if item.code in TEXTS] == [code]
    assert [item.code for item in told({"nvidia.yaml": sound}) if item.code in TEXTS] == []


OTHERS = (
    "version: v1\nflags:\n  enable-feature: true\n",
    "core:\n  threads: 4\nsources:\n  syslog: {port: 514}\n",
    "version: 2\nresources: {limits: {cpu: 1}}\n",
    "name, type, DCGM_FI_DEV_GPU_TEMP\na, b, c\nd, e, f\n",
)


@pytest.mark.parametrize("text", OTHERS)
def test_texts_of_others_are_none_of_these(told, text):
    assert [item for item in told(config_map(text)) if item.code in TEXTS] == []


def test_a_text_that_is_filled_in_later_is_let_alone(told):
    assert [item for item in told(config_map(PLUGIN.replace("COUNT", "${REPLICAS}"))) if item.code in TEXTS] == []


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
