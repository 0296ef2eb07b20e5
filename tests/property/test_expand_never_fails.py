"""Whatever resources the API server takes, and whatever labels nodes carry: expanding ends with an answer."""

from __future__ import annotations

import copy
import json
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolsmith.core.sources.pod_template import pod_template_of
from poolsmith.fleet.operands.chart.chart_projection import project
from poolsmith.fleet.operands.expansion import ClusterState, Node, in_order
from poolsmith.fleet.operands.operator_expansion import expand
from poolsmith.fleet.operands.pulled_images import images_of
from poolsmith.gpu.api_server import judge
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.gpu.catalog.projections import read_crds, read_projection
from support.circles import DEEP

NFD = "feature.node.kubernetes.io/"
LABELS = {
    f"{NFD}pci-10de.present": ("true", "false"),
    f"{NFD}system-os_release.ID": ("ubuntu", "rhel", "rocky", "sles", "own", ""),
    f"{NFD}system-os_release.VERSION_ID": ("22.04", "9.4", "10", "rolling", ""),
    f"{NFD}system-os_release.VERSION_ID.major": ("22", "9", ""),
    f"{NFD}kernel-version.full": ("5.15.0-91-generic", "5.14.0-427.el9_4.x86_64", ""),
    "nvidia.com/gpu.present": ("true", "false"),
    "nvidia.com/gpu.workload.config": ("container", "vm-passthrough", "vm-vgpu", "own"),
    "nvidia.com/gpu.deploy.operands": ("true", "false"),
    "nvidia.com/gpu.deploy.driver": ("false", "pre-installed", ""),
    "nvidia.com/mig.capable": ("true", "false"),
    "pool": ("a", "b"),
}
RUNTIMES = ("containerd://1.7.24", "cri-o://1.31.3", "docker://26.1.4", "rkt://1", "")
TEXTS = ("", "a", "nvcr.io/nvidia", "sha256:abc", "v2.17.5", "/a/b.toml", "22.04", "RUNTIME_CONFIG", "x" * 200)


@cache
def values_of(release, kind):
    """What the definition allows as a spec, but for its patterns and rules."""
    return strategy(read_crds(release)[kind].schema["properties"]["spec"])


def strategy(schema):
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return st.sampled_from([1, "25%", ""])
    match schema.get("type"):
        case "string":
            return st.sampled_from(TEXTS)
        case "integer":
            return st.sampled_from([0, 1, 300, schema.get("minimum", -1)])
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(strategy(schema.get("items", {})), max_size=2)
        case "object":
            fields = {key: strategy(below) for key, below in schema.get("properties", {}).items()}
            required = {key: fields.pop(key) for key in schema.get("required", ())}
            if fields or required:
                return st.fixed_dictionaries(required, optional=fields)
            return st.dictionaries(st.sampled_from(("a", "nvidia.com/gpu")), st.sampled_from(TEXTS), max_size=2)
    return st.none()


@cache
def chart_spec(release):
    return project(read_projection(release), read_chart("gpu-operator", release).defaults, {}).objects[0]["spec"]


@st.composite
def policies(draw, release):
    """The chart's own with a few components as they fall."""
    spec = copy.deepcopy(chart_spec(release))
    fields = read_crds(release)["ClusterPolicy"].schema["properties"]["spec"]["properties"]
    for key in draw(st.lists(st.sampled_from(sorted(fields)), max_size=3, unique=True)):
        value = draw(strategy(fields[key]))
        kept = isinstance(value, dict) and isinstance(spec.get(key), dict) and draw(st.booleans())
        spec[key] = {**spec[key], **value} if kept else value
    return resource(release, "ClusterPolicy", draw(st.sampled_from(("cluster-policy", "other"))), spec)


@st.composite
def others(draw, release):
    kind = draw(st.sampled_from([kind for kind in ("NVIDIADriver", "GPUCluster") if kind in read_crds(release)]))
    name = "gpu-cluster" if kind == "GPUCluster" else draw(st.sampled_from("ab"))
    return resource(release, kind, name, draw(values_of(release, kind)))


def resource(release, kind, name, spec):
    return {"apiVersion": read_crds(release)[kind].api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def nodes():
    labels = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in LABELS.items()})
    node = st.builds(Node, name=st.sampled_from("abc"), labels=labels, runtime=st.sampled_from(RUNTIMES))
    return st.lists(node, max_size=3, unique_by=lambda node: node.name).map(tuple)


@pytest.mark.rows(2, "releases of one line are expanded by the same data")
@pytest.mark.parametrize("release", operand_releases())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=600 if DEEP else 25)
@given(data=st.data())
def test_any_cluster_is_expanded(release, data):
    resources = data.draw(st.lists(policies(release) | others(release), min_size=1, max_size=3))
    judged = [judge(item, release) for item in resources]
    taken = tuple(item.stored for item in judged if not item.violations)
    state = ClusterState(
        nodes=data.draw(nodes()),
        resources=taken,
        os_release=data.draw(st.sampled_from((None, {}, {"ID": "rhel", "VERSION_ID": "9.4"}))),
        service_monitors=data.draw(st.booleans()),
        api_versions=frozenset(data.draw(st.lists(st.just("resource.k8s.io/v1/DeviceClass"), max_size=1))),
    )
    before = json.dumps(taken)
    expansion = expand(release, state)

    assert json.dumps(taken) == before, "the resources are as they were"
    assert expansion.objects == in_order(json.loads(json.dumps(expansion.objects)))
    assert set(expansion.node_labels) <= {node.name for node in state.nodes}
    assert all(": " in error for error in expansion.errors)
    assert all(list(images_of(item)) for item in expansion.objects if pod_template_of(item) is not None)
