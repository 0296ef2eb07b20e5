"""Where configurations of the device plugin stand: values, a ConfigMap beside them, the plugin's own chart, profiles."""

from __future__ import annotations

import json

import pytest

from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.interface.app import check_paths

NAMES = ("device-plugin-config", "misplaced-sharing", "plugin-configuration")
GOOD = "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n"
WRONG = {
    "no replicas": "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu}]}}\n",
    "replicas misspelt": "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replica: 4}]}}\n",
    "one replica": "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}}\n",
    "none": "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 0}]}}\n",
    "no resources": "version: v1\nsharing: {timeSlicing: {}}\n",
    "no name": "version: v1\nsharing: {mps: {resources: [{replicas: 2}]}}\n",
    "version": "version: v2\n",
}
TAGS = [tag for tag in value_paths().tags if tag >= "v24.6"]


def of_values(**config):
    return {"devicePlugin": {"config": {"name": "sharing", **config}}}


def config_map(data, namespace="gpu-operator"):
    metadata = {"name": "sharing", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def of_chart(**config):
    chart = {"chart": "nvidia-device-plugin", "version": "0.17.1", "sourceRef": {"kind": "HelmRepository", "name": "n"}}
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "plugin", "namespace": "gpu-operator"},
        "spec": {"interval": "1h", "chart": {"spec": chart}, "values": {"config": config}},
    }


@pytest.fixture
def told(tmp_path):
    def judge(values, *objects, release="v26.7.0"):
        (tmp_path / "values.yaml").write_text(json.dumps(values))
        for index, item in enumerate(objects):
            (tmp_path / f"{index}.yaml").write_text(json.dumps(item))
        found = check_paths(tmp_path, [tmp_path], release=release, everything=True).diagnostics
        return [item.message for item in found if item.name in NAMES]

    return judge


@pytest.mark.rows(16, "each release and each mistake")
@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_each_release_has_a_plugin_that_stops_there(told, tag, text):
    assert len(told(of_values(create=True, data={"any": text, "good": GOOD}), release=tag)) == 1


@pytest.mark.parametrize("tag", TAGS)
def test_what_it_takes_is_not_told(told, tag):
    assert told(of_values(create=True, default="any", data={"any": GOOD}), release=tag) == []


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_config_map_that_values_name(told, text):
    assert len(told(of_values(), config_map({"any": text}))) == 1
    assert told(of_values(), config_map({"any": GOOD})) == []


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_the_plugins_own_chart(told, text):
    values = {"devicePlugin": {"enabled": False}}

    assert len(told(values, of_chart(map={"any": text}))) == 1
    assert told(values, of_chart(map={"any": GOOD}, default="any")) == []


@pytest.mark.parametrize(
    ("values", "objects"),
    [
        (of_values(create=True, default="other", data={"any": GOOD}), ()),
        (of_values(default="other"), (config_map({"any": GOOD}),)),
        (of_values(create=True, data={}), ()),
        ({"devicePlugin": {"enabled": False}}, (of_chart(map={"any": GOOD}, default="other"),)),
        (
            {
                **of_values(create=True, data={"any": "sharing: {mps: {resources: [{name: gpu, replicas: 2}]}}"}),
                "mig": {"strategy": "mixed"},
            },
            (),
        ),
        ({"devicePlugin": {"config": {"default": "x"}}}, ()),  # templates/clusterpolicy.yaml: nothing without a name
    ],
)
def test_defaults_that_are_nowhere_and_strategies_that_exclude_each_other(told, values, objects):
    assert len(told(values, *objects)) == 1


@pytest.mark.parametrize(
    ("values", "objects"),
    [
        (of_values(default="other"), ()),
        (of_values(default="other"), (config_map({"any": GOOD}) | {"metadata": {"name": "another"}},)),
        (of_values(create=True, default="any", data={"any": "replicas: ${REPLICAS}"}), ()),
        ({"devicePlugin": {"enabled": False, "config": {"name": "sharing", "default": "x", "create": True}}}, ()),
    ],
)
def test_what_nobody_can_tell_is_not_told(told, values, objects):
    assert told(values, *objects) == []


def flags(**given):
    return json.dumps({"version": "v1", "flags": given})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (flags(renameByDefault=True), 1),
        (flags(failRequestsGreaterThanOne=True), 1),
        ("version: v1\nrenameByDefault: true\n", 1),
        ("version: v1\nsharing: {renameByDefault: true}\n", 1),
        ("version: v1\nsharing: {mps: {resources: [{name: gpu, replicas: 2, renameByDefault: true}]}}\n", 1),
        ("version: v1\nsharing: {timeSlicing: {renameByDefault: true, resources: [{name: gpu, replicas: 2}]}}\n", 0),
        (flags(migStrategy="single"), 0),
    ],
)
def test_what_the_plugin_passes_over_is_told_wherever_it_stands(told, text, found):
    of_operator = of_values(create=True, default="any", data={"any": text})

    assert len(told(of_operator)) == found
    assert len(told({"devicePlugin": {"enabled": False}}, of_chart(map={"any": text}))) == found


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: plugin, namespace: argocd}
spec:
  project: gpu
  source:
    repoURL: https://nvidia.github.io/k8s-device-plugin
    chart: nvidia-device-plugin
    targetRevision: 0.17.1
    helm:
      values: |
        config:
          map:
            any: |
              version: v1
              sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}}
  destination: {server: https://kubernetes.default.svc, namespace: gpu}
"""


def test_values_in_a_text_are_told_once_at_their_line(tmp_path):
    (tmp_path / "a.yaml").write_text(APPLICATION)
    found = check_paths(tmp_path, [tmp_path], everything=True).diagnostics

    assert [item.primary.span.start.line for item in found if item.name in NAMES] == [16]


def test_the_plugins_own_chart_needs_no_operator_beside_it(told):
    assert len(told({}, of_chart(name="sharing"), config_map({"any": WRONG["one replica"]}))) == 1
    assert len(told({}, of_chart(name="another"), config_map({"any": WRONG["one replica"]}))) == 1  # by its shape
