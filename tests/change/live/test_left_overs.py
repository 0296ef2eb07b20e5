"""What stays behind after a change or an uninstall is named; versions that are too far apart are told, once each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from change.live.drifts import MERGE, created, label, patched
from poolsmith.gpu.catalog.live_cluster import read_left_overs
from poolsmith.kubernetes.live.api_resources import NODES
from support.live_cluster import read, told

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NODE = "/api/v1/nodes/l40s-crio"
NS = "/api/v1/namespaces/gpu-operator"
DEPLOYMENT = "/apis/apps/v1/namespaces/gpu-operator/deployments/gpu-operator"
GROUP = "rbac.authorization.k8s.io"


def role(name):
    return {"apiVersion": f"{GROUP}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": []}


def binding(name):
    reference = {"apiGroup": GROUP, "kind": "ClusterRole", "name": name}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": reference,
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "gpu-operator"}],
    }


def account(name):
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "gpu-operator"}}


def hook(name, namespace, policy="Fail"):
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": "a.example.com",
                "clientConfig": {"service": {"namespace": namespace, "name": "webhook"}},
                "rules": [
                    {"apiGroups": ["x.example.com"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
                ],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "failurePolicy": policy,
            }
        ],
    }


def service(name):
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "gpu-operator"},
        "spec": {"ports": [{"port": 443}]},
    }


def slice_of(name, *, ready):
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{name}-x",
            "namespace": "gpu-operator",
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": ready}}],
        "ports": [{"port": 443}],
    }


SLICES = "/apis/discovery.k8s.io/v1/namespaces/gpu-operator/endpointslices"
CASES = {
    "a former driver mode": (
        [
            created(ROLES, role("nvidia-driver")),
            created(BINDINGS, binding("nvidia-driver")),
            created(f"{NS}/serviceaccounts", account("nvidia-driver")),
        ],
        ["1 ClusterRole of the operator (`nvidia-driver`)", "1 ClusterRoleBinding of", "1 ServiceAccount of"],
    ),
    "a driver of a pool that is gone": (
        [created(ROLES, role("nvidia-gpu-driver-old-ubuntu22.04"))],
        ["`nvidia-gpu-driver-old-ubuntu22.04`"],
    ),
    "a former sandbox era": (
        [
            created(ROLES, role("nvidia-kata-manager")),
            patched(NODE, label("nvidia.com/gpu.deploy.kata-manager", "true")),
        ],
        ["`nvidia-kata-manager`", "label `nvidia.com/gpu.deploy.kata-manager` of a former era of Kata"],
    ),
    "a former vGPU host": (
        [patched(NODE, label("nvidia.com/vgpu.config", "A10-12Q"))],
        ["label `nvidia.com/vgpu.config` of a former vGPU host on 1 node (`l40s-crio`)"],
    ),
    "a former confidential mode": (
        [patched(NODE, label("nvidia.com/cc.mode", "on"))],
        ["label `nvidia.com/cc.mode` of a former confidential mode"],
    ),
    "a former sharing": (
        [patched(NODE, label("nvidia.com/device-plugin.config", "old"))],
        ["label `nvidia.com/device-plugin.config` of a former sharing configuration"],
    ),
    "a webhook of a stack that is gone": (
        [created(HOOKS, hook("dra", "nvidia-dra-driver-gpu"))],
        ["`ValidatingWebhookConfiguration/dra`", "namespace `nvidia-dra-driver-gpu`", "each request", "is refused"],
    ),
    "a webhook without its service": (
        [created(HOOKS, hook("nfd", "gpu-operator", "Ignore"))],
        ["its service `webhook` in `gpu-operator` is not there; requests that it is for pass unseen"],
    ),
    "a webhook without a pod": (
        [
            created(HOOKS, hook("nfd", "gpu-operator")),
            created(f"{NS}/services", service("webhook")),
            created(SLICES, slice_of("webhook", ready=False)),
        ],
        ["no pod answers behind its service `webhook`"],
    ),
}
HARMLESS = {
    "a webhook that is answered": [
        created(HOOKS, hook("nfd", "gpu-operator")),
        created(f"{NS}/services", service("webhook")),
        created(SLICES, slice_of("webhook", ready=True)),
    ],
    "webhooks of others": [created(HOOKS, hook("others", "cert-manager"))],
    "roles of others": [created(ROLES, role("nvidia-network-operator")), created(ROLES, role("kata-deploy-role"))],
    "labels that change nothing": [
        patched(NODE, label("nvidia.com/cc.mode", "off")),
        patched(NODE, label("nvidia.com/mig.config.state", "success")),
        patched(NODE, label("topology.kubernetes.io/zone", "a")),
    ],
}


def after(prod, acts):
    undone = [act(prod.client) for act in acts]
    try:
        return prod.told()
    finally:
        for undo in reversed(undone):
            undo()


@pytest.mark.parametrize("name", CASES)
def test_what_stays_behind_is_named_and_nothing_else_is(prod, name):
    acts, said = CASES[name]
    found = after(prod, acts)

    assert all(any(word in text for text in found) for word in said), found
    assert all(text.startswith("PSM859") and any(word in text for word in said) for text in found), found


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_of_others_or_answered_is_not(prod, name):
    assert after(prod, HARMLESS[name]) == []


def test_another_release_is_one_finding(prod):
    old = {"app.kubernetes.io/version": "v25.10.1", "helm.sh/chart": "gpu-operator-v25.10.1"}
    image = [{"name": "gpu-operator", "image": "nvcr.io/nvidia/gpu-operator:v25.10.1"}]
    change = {"metadata": {"labels": old}, "spec": {"template": {"spec": {"containers": image}}}}
    patch = patched(DEPLOYMENT, change, "application/strategic-merge-patch+json")
    other = [
        patched(
            f"/apis/apps/v1/namespaces/gpu-operator/daemonsets/{name}",
            {"metadata": {"labels": {"app": "former"}}},
            MERGE,
        )
        for name in ("nvidia-dcgm-exporter", "nvidia-device-plugin-daemonset")
    ]
    (found,) = after(prod, [patch, *other, created(ROLES, role("nvidia-driver"))])

    assert found.startswith("PSM860 cluster `prod-eu` runs release v25.10.1 of the operator, and v26.3.3 is committed")
    assert "3 objects of the chart and the operator differ" in found


def test_one_edited_label_is_no_other_release(prod):
    (found,) = after(prod, [patched(DEPLOYMENT, label("app.kubernetes.io/version", "v25.10.1"))])

    assert found.startswith("PSM851")


@pytest.mark.parametrize(("kubelet", "said"), [("v1.99.0", "newer than the API server"), ("v1.2.0", "older than 1.")])
def test_a_kubelet_too_far_from_the_server_is_told(prod, kubelet, said):
    (found,) = after(prod, [patched(f"{NODE}/status", {"status": {"nodeInfo": {"kubeletVersion": kubelet}}})])

    assert found.startswith("PSM860 the kubelet of 1 node (`l40s-crio`)")
    assert said in found


def pod_of(daemon_set, image, node="l40s-crio"):
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "controller": True}
    owner |= {"name": daemon_set["metadata"]["name"], "uid": daemon_set["metadata"]["uid"]}
    template = daemon_set["spec"]["template"]
    containers = [{**item, "image": image} for item in template["spec"]["containers"]]
    metadata = {"namespace": "gpu-operator", "labels": template["metadata"]["labels"], "ownerReferences": [owner]}
    spec = {**template["spec"], "containers": containers, "nodeName": node}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{owner['name']}-old", **metadata}, "spec": spec}


PLUGIN, OLD_PLUGIN = "nvidia-device-plugin-daemonset", "nvcr.io/nvidia/k8s-device-plugin:v0.10.0"
OLD_DRIVER = "nvcr.io/nvidia/driver:v0.10.0"


def daemon_set_of(prod, name):
    """The device plugin's, or the one of the driver of the pool `l40s-crio`, whose name follows from a uid."""
    found = prod.client.listed("apps/v1", "DaemonSet", "gpu-operator")
    selected = {item["metadata"]["name"]: item["spec"]["template"]["spec"].get("nodeSelector", {}) for item in found}
    names = [key for key, selector in selected.items() if selector.get("example.com/gpu-pool") == "l40s-crio"]
    wanted = next(key for key in names if "gpu-driver" in key) if name == "driver" else name
    return prod.client.get("apps/v1", "DaemonSet", wanted, "gpu-operator").body


@pytest.mark.parametrize(
    ("name", "image", "state", "count"),
    [
        (PLUGIN, OLD_PLUGIN, None, 2),
        (PLUGIN, OLD_PLUGIN, "pod-restart-required", 2),  # nothing but drivers waits for the upgrade of a driver
        (PLUGIN, "nvcr.io/nvidia/k8s-device-plugin@sha256:" + "0" * 64, None, 0),
        ("driver", OLD_DRIVER, None, 1),
        ("driver", OLD_DRIVER, "upgrade-done", 1),
        ("driver", OLD_DRIVER, "pod-restart-required", 0),
    ],
)
def test_a_pod_behind_its_daemon_set_is_told_unless_its_driver_is_upgraded(prod, name, image, state, count):
    acts = [created(f"{NS}/pods", pod_of(daemon_set_of(prod, name), image))]
    acts += [patched(NODE, label("nvidia.com/gpu-driver-upgrade-state", state))] if state else []
    found = after(prod, acts)

    assert len(found) == count  # containers of the pod
    assert all("is still `v0.10.0` on 1 node (`l40s-crio`)" in text for text in found)


def test_without_an_operator_what_it_wrote_on_nodes_is_left(prod):
    snapshot = read(prod.scenario, prod.cluster)
    bare = replace_plan(prod.cluster)
    found = told(bare, snapshot)

    nodes = len(snapshot.items(NODES))
    assert any(f"labels `nvidia.com/gpu.deploy.*` of the operator on {nodes} nodes" in text for text in found)


def replace_plan(cluster):
    from poolsmith.change.verify.live_view import ClusterView

    plan = replace(cluster.plan, chart=None)
    return ClusterView(plan, cluster.prediction, cluster.loaded, (), cluster.gpus)


def test_facts_are_read():
    facts = read_left_overs()

    assert facts.is_of_operator("nvidia-gpu-driver-x")
    assert not facts.is_of_operator("nvidia-dra-driver-gpu-x")
    assert (facts.oldest_kubelet(34), facts.oldest_kubelet(27)) == (31, 25)
