"""What the operator's own tests render for a GPUCluster is what the expansion says, object for object.

Normalised, because the operator's own files are not copied: scripts of more than 160 characters are markers with their
length. The label of the state and the owner are left out of ours: the
operator puts them on after rendering, and its own tests do not show them.
"""

from __future__ import annotations

import copy

import pytest
import yaml

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts import store
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import STATE_LABEL, expand_gpu_cluster
from poolsmith.gpu.catalog.operands import read_operands
from poolsmith.gpu.importing.custom_resource_entry import gpu_cluster_entry

RELEASE = "v26.7.0"
GOLDEN = f"gpu-operator/{RELEASE}/golden-driver"
LONG_TEXT = 160
ENVIRONMENT = {
    "VALIDATOR_IMAGE": "nvcr.io/nvidia/gpu-operator-validator:test",
    "DCGM_IMAGE": "nvcr.io/nvidia/cloud-native/dcgm:test",
    "DCGM_EXPORTER_IMAGE": "nvcr.io/nvidia/k8s/dcgm-exporter:test",
}
SAMPLE = {
    "draDriver": {
        "repository": "nvcr.io/nvidia",
        "image": "k8s-dra-driver-gpu",
        "version": "v0.1.0",
        "imagePullPolicy": "IfNotPresent",
        "featureGates": {"MPSSupport": True, "AdminAccess": False},
    },
    "daemonsets": {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "priorityClassName": "system-node-critical",
    },
    "hostPaths": {"driverInstallDir": "/run/nvidia/driver", "kubeletRootDir": "/var/lib/kubelet"},
}
GPUS = {
    "env": [{"name": "GPUS_EXTRA", "value": "1"}],
    "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
    "healthcheck": {"port": 52000},
}
COMPUTE_DOMAINS = {
    "enabled": True,
    "controller": {"env": [{"name": "CD_CONTROLLER_EXTRA", "value": "1"}]},
    "kubeletPlugin": {
        "env": [{"name": "CD_PLUGIN_EXTRA", "value": "1"}],
        "resources": {"limits": {"cpu": "300m", "memory": "512Mi"}, "requests": {"cpu": "200m", "memory": "64Mi"}},
    },
}
CASES = {
    "dra-driver-gpus-only": ("state-dra-driver", {}),
    "dra-driver-full-spec": (
        "state-dra-driver",
        {"draDriver": {"gpus": {"kubeletPlugin": GPUS}, "computeDomains": COMPUTE_DOMAINS}},
    ),
    "dra-driver-passthrough-support": (
        "state-dra-driver",
        {"draDriver": {"featureGates": {"PassthroughSupport": True}}},
    ),
    "dra-validation": ("state-dra-validation", {}),
    "dcgm": ("state-dcgm", {"dcgm": {"enabled": True}}),
    "dcgm-exporter-embedded": ("state-dcgm-exporter", {"dcgmExporter": {}}),
    "dcgm-exporter-pod-metadata": ("state-dcgm-exporter", {"dcgmExporter": {"enablePodLabels": True}}),
    "dcgm-exporter-remote-engine": ("state-dcgm-exporter", {"dcgm": {"enabled": True}, "dcgmExporter": {}}),
}


@pytest.fixture
def golden(upstream, name):
    text = (upstream(GOLDEN) / f"gpucluster-{name}.yaml").read_text("utf-8")
    return {key_of(item): normalised(item) for item in yaml.safe_load_all(text) if item}


@pytest.mark.parametrize("name", CASES)
def test_the_objects_that_the_operators_own_test_renders(golden, name):
    state, more = CASES[name]

    assert created(merged(SAMPLE, more), state) == golden


def test_every_rendered_case_is_compared(upstream):
    found = {path.stem.removeprefix("gpucluster-") for path in upstream(GOLDEN).glob("gpucluster-*.yaml")}

    assert found == set(CASES)


def test_the_entry_in_the_catalog_is_made_from_these_files(upstream):
    overlay = store.read_yaml("gpu_cluster/overlay.yaml")
    files = {path.name: path.read_bytes() for path in upstream(GOLDEN).glob("gpucluster-*.yaml")}
    entry = store.read_json(f"gpu_cluster/{RELEASE}.json")

    assert gpu_cluster_entry(release=RELEASE, source=entry["source"], files=files, overlay=overlay) == entry


def test_a_rendered_selector_without_a_compact_form_is_refused(upstream):
    overlay = store.read_yaml("gpu_cluster/overlay.yaml")
    files = {path.name: path.read_bytes() for path in upstream(GOLDEN).glob("gpucluster-*.yaml")}
    name = "gpucluster-dra-driver-gpus-only.yaml"
    files[name] = files[name].replace(b"device.driver ==", b"device.driver !=")

    with pytest.raises(PoolsmithError, match=r"selector of DeviceClass gpu\.nvidia\.com"):
        gpu_cluster_entry(release=RELEASE, source="", files=files, overlay=overlay)


def created(spec, state):
    """What one state makes of a spec, by kind and name, without what is put on after rendering."""
    entry = read_operands(RELEASE)
    context = Context(entry=entry, policy=None, nodes=(), runtime="containerd", namespace="test-operator")
    resource = {"apiVersion": "nvidia.com/v1alpha1", "kind": "GPUCluster", "metadata": {"name": "gpu-cluster"}}
    expansion = expand_gpu_cluster(
        context,
        resource | {"spec": spec},
        (),
        api_versions={"resource.k8s.io/v1/DeviceClass"},
        operator_environment=ENVIRONMENT,
    )
    assert not expansion.unknown
    found = {}
    for item in expansion.objects:
        if item["metadata"]["labels"].pop(STATE_LABEL) != state:
            continue
        if not item["metadata"]["labels"]:
            del item["metadata"]["labels"]
        del item["metadata"]["ownerReferences"]
        found[key_of(item)] = with_markers(item) if item["kind"] in ("DaemonSet", "Deployment") else item
    return found


def key_of(item):
    return f"{item['kind']}/{item['metadata']['name']}"


def normalised(item):
    return with_markers(item) if item["kind"] in ("DaemonSet", "Deployment") else item


def with_markers(value):
    if isinstance(value, dict):
        return {key: with_markers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_markers(item) for item in value]
    return marker(value) if isinstance(value, str) and len(value) > LONG_TEXT else value


def marker(text):
    return f"<script {len(text)} chars>"


def merged(base, more):
    """Both specs; blocks are merged, all else is the second's."""
    result = copy.deepcopy(base)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result
