"""What the operator's own tests render for an NVIDIADriver is what we say, object for object.

The tests hand names, images and pools to the templates, and so do these. Normalised, all of it in `_ours` and `_golden`:
- the name of the DaemonSet and of the account, which the tests choose instead of computing them;
- the label of the state and the owner, which the operator puts on after rendering;
- the value of DRIVER_CONFIG_DIGEST, which no one can know offline;
- scripts of more than 160 characters, and the text of ConfigMaps, which are markers with their length;
- readOnly on mounts of licence files, which the operator sets and its tests do not.
Cases of OpenShift are left out: drivers there are not modelled.
"""

from __future__ import annotations

import json

import pytest
import yaml

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts import store
from poolsmith.fleet.operands.custom_resources import NvidiaDriver
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.nvidia_driver.conflicts import Conflicts
from poolsmith.fleet.operands.nvidia_driver.driver_containers import Images
from poolsmith.fleet.operands.nvidia_driver.driver_daemon_set import Files, daemon_set, files_of
from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool, DriverRequest, account_name, daemon_set_name
from poolsmith.fleet.operands.nvidia_driver.nvidia_driver_expansion import permissions, scripts
from poolsmith.gpu.catalog.operands import read_nvidia_drivers, read_operands
from poolsmith.gpu.importing.custom_resource_entry import nvidia_driver_entry

TAGS = store.names("nvidia_driver")
NAMESPACE = "test-operator"
DIGEST = "DRIVER_CONFIG_DIGEST"
LONG_TEXT = 160
ACCOUNT = "nvidia-gpu-driver-ubuntu22.04"
RESOURCES = {"limits": {"cpu": "500m", "memory": "300Mi"}, "requests": {"cpu": "200m", "memory": "100Mi"}}
PROBE = {
    "initialDelaySeconds": 60,
    "timeoutSeconds": 60,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 120,
}
MODULE = {"enabled": True, "imagePullSecrets": ["ngc-secrets"]}
LICENSING = {"name": "licensing-config-configmap", "nlsEnabled": True}
FOO_BAR = [{"name": "FOO", "value": "foo"}, {"name": "BAR", "value": "bar"}]
FULL = {
    "labels": {"custom-label-1": "custom-value-1", "custom-label-2": "custom-value-2"},
    "annotations": {"custom-annotation-1": "custom-value-1", "custom-annotation-2": "custom-value-2"},
    "args": ["--foo", "--bar"],
    "env": FOO_BAR,
    "useOpenKernelModules": True,
    "kernelModuleType": "open",
    "imagePullPolicy": "Always",
    "imagePullSecrets": ["secret-a", "secret-b"],
    "manager": {"imagePullPolicy": "Always", "imagePullSecrets": ["manager-secret"], "env": FOO_BAR},
    "priorityClassName": "custom-priority-class-name",
    "tolerations": [{"key": "foo", "operator": "Equal", "value": "bar", "effect": "NoSchedule"}],
    "resources": {"limits": {"cpu": "0.5", "memory": "204800Ki"}},
}
TEST_FILES = Files(
    mounts=[
        {"name": "test-cm", "mountPath": "/opt/config/test-file", "readOnly": True, "subPath": "test-file"},
        {"name": "test-host-path", "mountPath": "/opt/config/test-host-path"},
        {"name": "test-host-path-ro", "mountPath": "/opt/config/test-host-path-ro", "readOnly": True},
    ],
    volumes=[
        {"name": "test-cm", "configMap": {"name": "test-cm", "items": [{"key": "test-file", "path": "test-file"}]}},
        *(
            {"name": name, "hostPath": {"path": f"/opt/config/{name}", "type": "DirectoryOrCreate"}}
            for name in ("test-host-path", "test-host-path-ro")
        ),
    ],
)
CASES = {
    "minimal": {},
    "additional-configs": {},
    "full-spec": FULL,
    "gds": {"gds": MODULE},
    "gdrcopy": {"gdrcopy": MODULE},
    "rdma": {"rdma": {"enabled": True}},
    "rdma-hostmofed": {"rdma": {"enabled": True, "useHostMofed": True}},
    "precompiled": {"usePrecompiled": True},
    "vgpu-host-manager": {"driverType": "vgpu-host-manager"},
    "vgpu-licensing": {"licensingConfig": LICENSING},
    "vgpu-licensing-secret": {"licensingConfig": {"secretName": "licensing-config-secret", "nlsEnabled": True}},
    "secret-env": {"secretEnv": "test-secret-env", "gds": {"enabled": True}, "gdrcopy": {"enabled": True}},
    "hostnetwork": {"hostNetwork": True},
}
WITH_TEST_FILES = ("additional-configs", "gds", "gdrcopy", "rdma", "rdma-hostmofed")


def _cases(folder):
    names = (path.stem.removeprefix("driver-") for path in sorted(folder.glob("driver-*.yaml")))
    return [name for name in names if "openshift" not in name]


@pytest.fixture
def folder(upstream, tag):
    return upstream(f"gpu-operator/{tag}") / "golden-driver"


@pytest.mark.rows(3, "one release of each line")
@pytest.mark.parametrize("tag", TAGS)
def test_objects_of_a_pool_are_those_that_the_operator_expects(folder, tag):
    different = {}
    for case in _cases(folder):
        golden, ours = _golden(folder, case), _ours(tag, case, CASES[case])
        lines = [
            f"{key}\n  golden {json.dumps(golden.get(key), sort_keys=True)}\n  ours   {json.dumps(ours.get(key), sort_keys=True)}"
            for key in sorted(golden.keys() | ours.keys())
            if golden.get(key) != ours.get(key)
        ]
        if lines:
            different[case] = lines

    assert different == {}


@pytest.mark.parametrize("tag", TAGS)
def test_an_entry_is_made_from_the_objects_that_the_operator_expects(folder, tag):
    files = {case: (folder / f"driver-{case}.yaml").read_bytes() for case in _cases(folder)}
    source = f"NVIDIA/gpu-operator@{tag}:internal/state/testdata/golden"
    overlay = store.read_yaml("nvidia_driver/overlay.yaml")
    entry = nvidia_driver_entry(release=tag, source=source, files=files, overlay=overlay)

    assert list(_flat(store.read_json(f"nvidia_driver/{tag}.json"))) == list(_flat(entry)), "in the same order, too"


def test_a_case_without_its_container_is_told():
    service = {"kind": "Service", "metadata": {"name": "a"}, "spec": {}}
    files = dict.fromkeys(("minimal", "vgpu-host-manager", "rdma", "gds", "gdrcopy"), json.dumps(service).encode())

    with pytest.raises(PoolsmithError, match="0 objects of kind DaemonSet"):
        nvidia_driver_entry(release="v1.0.0", source="", files=files, overlay={"behaviour": {}})


def _golden(folder, case):
    documents = yaml.safe_load_all((folder / f"driver-{case}.yaml").read_text("utf-8"))
    return {f"{item['kind']}/{item['metadata']['name']}": _normal(item) for item in documents if item}


def _ours(tag, case, spec):
    entry = read_nvidia_drivers(tag)
    spec = {"driverType": "gpu", "startupProbe": PROBE, **spec}
    if len(entry.behaviour["withResources"]) > 1:
        spec["resources"] = {**RESOURCES, **spec.get("resources", {})}
    driver = NvidiaDriver({"metadata": {"name": "name"}, "spec": spec})
    kernel = "5.4.0-150-generic" if driver.precompiled else ""
    pool = DriverPool(
        os_id="ubuntu",
        os_tag="ubuntu22.04",
        node_selector={"example.com/foo": "foo", "example.com/bar": "bar"} if case == "full-spec" else {},
        kernel=kernel,
        kernel_name=kernel,
    )
    context = Context(entry=read_operands(tag), policy=None, nodes=(), runtime="containerd", namespace=NAMESPACE)
    conflicts = Conflicts((driver,), context.nodes)
    request = DriverRequest(context=context, entry=entry, drivers=(driver,), conflicts=conflicts)
    files = TEST_FILES if case in WITH_TEST_FILES else files_of(driver, pool, request)
    pods = daemon_set(driver, pool, _images(driver), files, entry=entry, namespace=NAMESPACE)
    account = account_name(driver, pool)
    title = "vgpu-manager" if driver.manages_vgpus else "gpu-driver"
    names = {
        account: f"nvidia-{title}-ubuntu22.04",
        daemon_set_name(driver, pool): f"nvidia-{title}-ubuntu22.04-{'646cdfdb96' if kernel else '7c6d7bd86b'}",
    }
    made = _renamed([*permissions(account, entry, NAMESPACE), *scripts(pods, entry, NAMESPACE), pods], names)
    return {f"{item['kind']}/{item['metadata']['name']}": _normal(item) for item in made}


def _images(driver):
    image = "nvcr.io/nvidia/driver:535-5.4.0-150-generic-ubuntu22.04" if driver.precompiled else ""
    name = "vgpu-manager" if driver.manages_vgpus else "driver"
    return Images(
        driver=image or f"nvcr.io/nvidia/{name}:525.85.03-ubuntu22.04",
        manager="nvcr.io/nvidia/cloud-native/k8s-driver-manager:devel",
        gds="nvcr.io/nvidia/cloud-native/nvidia-fs:2.16.1",
        gdrcopy="nvcr.io/nvidia/cloud-native/gdrdrv:v2.4.1",
    )


def _renamed(value, names):
    if isinstance(value, dict):
        return {key: _renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if isinstance(value, str) and value.rpartition("/")[2] in names:
        return value.removesuffix(value.rpartition("/")[2]) + names[value.rpartition("/")[2]]
    return value


def _normal(value):
    if isinstance(value, dict):
        if value.get("name") == DIGEST:
            return {"name": DIGEST}
        if value.get("name") == "licensing-config" and "mountPath" in value:
            value = {key: item for key, item in value.items() if key != "readOnly"}
        if value.get("kind") == "ConfigMap":
            texts = value["data"].items()
            sizes = {key: text if text.startswith("<") else f"<{len(text)} chars>" for key, text in texts}
            value = {**value, "data": sizes}
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return f"<script {len(value)} chars>" if isinstance(value, str) and len(value) > LONG_TEXT else value


def _flat(value, path=()):
    """Every leaf with its path, in order."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _flat(item, (*path, key))
    yield path, value if not isinstance(value, dict | list) else type(value)
