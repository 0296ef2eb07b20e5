"""Thirty-odd things that happen to clusters: what is done to the server, and what has to be said of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
NS = "/namespaces/gpu-operator"
DAEMON_SETS = f"/apis/apps/v1{NS}/daemonsets"
PLUGIN = f"{DAEMON_SETS}/nvidia-device-plugin-daemonset"
OPERATOR = f"/apis/apps/v1{NS}/deployments/gpu-operator"
POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/poolsmith-privileges"
BINDING = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/poolsmith-privileges"
NODE = "/api/v1/nodes/l40s-crio"
_TEMPLATE = "/spec/template/spec"


NODES_WITH_DRIVER = tuple(
    "a100-mig a100-precompiled gh200-arm64 h100-rhel l4-precompiled l40s-crio l40s-shared".split()
)
"""One of each pool of `prod-eu` that has a driver object."""


@dataclass(frozen=True)
class Drift:
    """`do` changes the server and gives what undoes it; each of `said` is in one finding, and there is no other."""

    name: str
    do: Callable[[Any], Callable[[], None]]
    said: tuple[tuple[str, ...], ...]


def patched(path: str, change: Any, kind: str = MERGE) -> Callable[[Any], Callable[[], None]]:
    """Undone by putting what was there before."""

    def do(client: Any) -> Callable[[], None]:
        before = client.request("GET", path).body
        answer = client.request("PATCH", path, change, content_type=kind)
        assert answer.taken, answer.message

        def undo() -> None:
            now = client.request("GET", path).body
            before["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"]
            answer = client.request("PUT", path, before)
            assert answer.taken, answer.message

        return undo

    return do


def removed(path: str) -> Callable[[Any], Callable[[], None]]:
    def do(client: Any) -> Callable[[], None]:
        before = client.request("GET", path).body
        assert client.request("DELETE", path).taken
        for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
            before["metadata"].pop(key, None)
        return lambda: _made(client, path.rpartition("/")[0], before)

    return do


def created(path: str, body: dict[str, Any]) -> Callable[[Any], Callable[[], None]]:
    def do(client: Any) -> Callable[[], None]:
        _made(client, path, body)
        name = body["metadata"]["name"]
        return lambda: _gone(client, f"{path}/{name}")

    return do


def _made(client: Any, path: str, body: dict[str, Any]) -> None:
    answer = client.request("POST", path, body)
    assert answer.taken, answer.message


def _gone(client: Any, path: str) -> None:
    answer = client.request("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
    assert answer.taken, answer.message


def pod(name: str, **more: Any) -> dict[str, Any]:
    security = more.pop("security", None)
    container = {"name": "c", "image": "nvcr.io/nvidia/tool:v1.2.3"} | (
        {"securityContext": security} if security else {}
    )
    metadata = {"name": name, "namespace": "gpu-operator"} | more.pop("metadata", {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **more}}


def daemon_set(name: str) -> dict[str, Any]:
    labels = {"app": name}
    spec = {"hostNetwork": True, "containers": [{"name": "c", "image": "nvcr.io/nvidia/tool:v1.2.3"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "gpu-operator"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def added(path: str, value: Any) -> list[dict[str, Any]]:
    return [{"op": "add", "path": path, "value": value}]


def label(key: str, value: str | None) -> dict[str, Any]:
    return {"metadata": {"labels": {key: value}}}


def info(**facts: str) -> dict[str, Any]:
    return {"status": {"nodeInfo": facts}}


_OWNED = {
    "metadata": {
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "name": "nvidia-dcgm-exporter",
                "uid": "0",
                "controller": True,
            }
        ]
    }
}
_EVIL = {"name": "evil", "image": "example.com/evil:1"}
_ROOT = {"name": "root", "hostPath": {"path": "/"}}

DRIFTS = (
    Drift(
        "an image is edited",
        patched(PLUGIN, added(f"{_TEMPLATE}/containers/0/image", "example.com/evil:1"), JSON),
        (("PSM851", "nvidia-device-plugin-daemonset", "image", "example.com/evil:1"),),
    ),
    Drift(
        "a container is added",
        patched(PLUGIN, added(f"{_TEMPLATE}/containers/-", _EVIL), JSON),
        (
            ("PSM851", "nvidia-device-plugin-daemonset", "containers", "`evil` more"),
            ("PSM853", "nvidia-device-plugin-daemonset", "evil: allow-escalation"),
        ),
    ),
    Drift(
        "the host's memory is shared",
        patched(PLUGIN, added(f"{_TEMPLATE}/hostIPC", True), JSON),
        (("PSM853", "nvidia-device-plugin-daemonset", "host-ipc"),),
    ),
    Drift(
        "the host's root is mounted",
        patched(
            PLUGIN,
            [
                *added(f"{_TEMPLATE}/volumes/-", _ROOT),
                *added(f"{_TEMPLATE}/containers/0/volumeMounts/-", {"name": "root", "mountPath": "/whole-node"}),
            ],
            JSON,
        ),
        (("PSM851", "nvidia-device-plugin-daemonset", "more"), ("PSM853", "host-path:/:rw")),
    ),
    Drift(
        "a variable has another value",
        patched(PLUGIN, added(f"{_TEMPLATE}/containers/0/env/0/value", "other"), JSON),
        (("PSM851", "nvidia-device-plugin-daemonset", "env["),),
    ),
    Drift(
        "a node selector is emptied",
        patched(PLUGIN, [{"op": "remove", "path": f"{_TEMPLATE}/nodeSelector"}], JSON),
        (("PSM851", "nvidia-device-plugin-daemonset", "nodeSelector"),),
    ),
    Drift(
        "a DaemonSet is gone",
        removed(PLUGIN),
        (("PSM850", "nvidia-device-plugin-daemonset", "which the operator makes"),),
    ),
    Drift(
        "the operator is gone",
        removed(OPERATOR),
        (("PSM850", "Deployment/gpu-operator", "which `gpu-operator` installs"),),
    ),
    Drift(
        "the operator's image is edited",
        patched(OPERATOR, added(f"{_TEMPLATE}/containers/0/image", "example.com/evil:1"), JSON),
        (("PSM851", "Deployment/gpu-operator", "image"),),
    ),
    Drift(
        "the ClusterPolicy is edited",
        patched("/apis/nvidia.com/v1/clusterpolicies/cluster-policy", {"spec": {"dcgmExporter": {"enabled": False}}}),
        (("PSM851", "ClusterPolicy/cluster-policy", "spec.dcgmExporter.enabled"),),
    ),
    Drift(
        "a driver's version is edited",
        patched("/apis/nvidia.com/v1alpha1/nvidiadrivers/l40s-crio-gpu-compiled", {"spec": {"version": "1.2.3"}}),
        (("PSM851", "NVIDIADriver/l40s-crio-gpu-compiled", "spec.version", "1.2.3"),),
    ),
    Drift(
        "a second driver object",
        created(
            "/apis/nvidia.com/v1alpha1/nvidiadrivers",
            {
                "apiVersion": "nvidia.com/v1alpha1",
                "kind": "NVIDIADriver",
                "metadata": {"name": "old"},
                "spec": {"driverType": "gpu", "image": "driver", "repository": "nvcr.io/nvidia", "version": "1"},
            },
        ),
        (("PSM859", "NVIDIADriver/old"), *(("PSM261", "`old`", f"node `{name}`") for name in NODES_WITH_DRIVER)),
    ),
    Drift(
        "a role may do more",
        patched(
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/gpu-operator",
            added("/rules/-", {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}),
            JSON,
        ),
        (("PSM851", "ClusterRole/gpu-operator", "rules"),),
    ),
    Drift(
        "a binding has one more subject",
        patched(
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gpu-operator",
            added("/subjects/-", {"kind": "ServiceAccount", "name": "default", "namespace": "default"}),
            JSON,
        ),
        (("PSM851", "ClusterRoleBinding/gpu-operator", "subjects"),),
    ),
    Drift(
        "all accounts of the namespace get rights",
        created(
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "handy"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [
                    {
                        "apiGroup": "rbac.authorization.k8s.io",
                        "kind": "Group",
                        "name": "system:serviceaccounts:gpu-operator",
                    },
                    {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:serviceaccounts:other"},
                ],
            },
        ),
        (
            (
                "PSM853",
                "ClusterRoleBinding/handy",
                "cluster-admin",
                "to `Group system:serviceaccounts:gpu-operator`, and",
            ),
        ),
    ),
    Drift(
        "the namespace enforces another level",
        patched("/api/v1/namespaces/gpu-operator", label("pod-security.kubernetes.io/enforce", "baseline")),
        (("PSM851", "Namespace/gpu-operator", "pod-security.kubernetes.io/enforce"),),
    ),
    Drift("the policy is gone", removed(POLICY), (("PSM857", "ValidatingAdmissionPolicy/poolsmith-privileges"),)),
    Drift("the policy is unbound", removed(BINDING), (("PSM857", "ValidatingAdmissionPolicyBinding", "is not on"),)),
    Drift(
        "the policy only warns",
        patched(BINDING, {"spec": {"validationActions": ["Audit"]}}),
        (("PSM857", "ValidatingAdmissionPolicyBinding", "validationActions"),),
    ),
    Drift(
        "the policy ignores failures",
        patched(POLICY, {"spec": {"failurePolicy": "Ignore"}}),
        (("PSM857", "ValidatingAdmissionPolicy", "failurePolicy"),),
    ),
    Drift(
        "a policy leaves out what has a namespace",
        patched(
            POLICY.replace("poolsmith-privileges", "gpu-host-paths"),
            added("/spec/matchConstraints/resourceRules/0/scope", "Cluster"),
            JSON,
        ),
        (("PSM857", "ValidatingAdmissionPolicy/gpu-host-paths", "scope", '`"Cluster"`'),),
    ),
    Drift(
        "a policy has a condition",
        patched(POLICY, {"spec": {"matchConditions": [{"name": "never", "expression": "false"}]}}),
        (("PSM857", "ValidatingAdmissionPolicy/poolsmith-privileges", "matchConditions"),),
    ),
    Drift(
        "a privileged pod of somebody else",
        created(f"/api/v1{NS}/pods", pod("foreign", security={"privileged": True})),
        (("PSM852", "Pod/foreign", "c: privileged"),),
    ),
    Drift(
        "a pod that claims to be an operand's",
        created(f"/api/v1{NS}/pods", pod("claimed", hostPID=True, **_OWNED)),
        (("PSM852", "Pod/claimed", "host-pid"),),
    ),
    Drift(
        "a DaemonSet of somebody else",
        created(DAEMON_SETS, daemon_set("foreign")),
        (("PSM852", "DaemonSet/foreign", "host-network"),),
    ),
    Drift(
        "a node is in a pool that nobody knows",
        patched(NODE, label("example.com/gpu-pool", "other")),
        (("PSM854", "`l40s-crio`", "`other` as label `example.com/gpu-pool`"),),
    ),
    Drift(
        "a node lost its pool",
        patched(NODE, label("example.com/gpu-pool", None)),
        (("PSM854", "`l40s-crio`", "no label", "by all else it is of pool `l40s-crio`"),),
    ),
    Drift(
        "a node is labelled for another pool",
        patched(NODE, label("example.com/gpu-pool", "a100-mig")),
        (("PSM855", "`l40s-crio` of pool `a100-mig`", "is like pool `l40s-crio`", "`cri-o`", "the GPU is"),),
    ),
    Drift(
        "a node's taint has another effect",
        patched(
            "/api/v1/nodes/a100-mig",
            {"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "PreferNoSchedule"}]}},
        ),
        (("PSM856", "`a100-mig`", "nvidia.com/gpu=:NoSchedule", "`nvidia.com/gpu=:PreferNoSchedule` in its place"),),
    ),
    Drift(
        "a node lost its taint",
        patched("/api/v1/nodes/a100-mig", {"spec": {"taints": None}}),
        (("PSM856", "`a100-mig`", "nvidia.com/gpu=:NoSchedule"),),
    ),
    Drift(
        "a node has another MIG layout",
        patched("/api/v1/nodes/a100-mig", label("nvidia.com/mig.config", "all-7g.80gb")),
        (("PSM856", "`a100-mig`", "`all-7g.80gb`", "`all-1g.10gb`"),),
    ),
    Drift(
        "a node runs another kernel",
        patched("/api/v1/nodes/a100-precompiled/status", info(kernelVersion="6.8.0-9999-generic")),
        (("PSM855", "a100-precompiled", "the kernel is `6.8.0-9999-generic`"),),
    ),
    Drift(
        "a node has another runtime",
        patched(f"{NODE}/status", info(containerRuntimeVersion="containerd://1.7.24")),
        (("PSM855", "l40s-crio", "the container runtime is `containerd`"),),
    ),
    Drift(
        "a node has another GPU",
        patched(NODE, label("nvidia.com/gpu.product", "NVIDIA-H200")),
        (("PSM855", "l40s-crio", "the GPU is `NVIDIA-H200`"),),
    ),
    Drift(
        "a node has another system",
        patched(NODE, label("feature.node.kubernetes.io/system-os_release.VERSION_ID", "22.04")),
        (("PSM855", "l40s-crio", "`22.04`"),),
    ),
    Drift(
        "a node was installed anew",
        patched(f"{NODE}/status", info(osImage="Ubuntu 22.04.5 LTS")),
        (("PSM855", "l40s-crio", "the version of the operating system is `22.04`"),),
    ),
    Drift(
        "a node's kernel is another one by its label",
        patched(
            "/api/v1/nodes/a100-precompiled", label("feature.node.kubernetes.io/kernel-version.full", "6.8.0-9999-any")
        ),
        (("PSM855", "a100-precompiled", "the kernel is `6.8.0-9999-any`"),),
    ),
    Drift(
        "a driver of another version runs",
        patched(NODE, label("nvidia.com/cuda.driver-version.full", "535.1.2")),
        (("PSM855", "l40s-crio", "the driver is `535.1.2`"),),
    ),
    Drift(
        "an upgrade failed",
        patched(NODE, label("nvidia.com/gpu-driver-upgrade-state", "upgrade-failed")),
        (("PSM858", "the upgrade of the driver failed", "l40s-crio"),),
    ),
    Drift(
        "pods are not ready",
        patched(
            f"{PLUGIN}/status",
            {
                "status": {
                    "desiredNumberScheduled": 3,
                    "currentNumberScheduled": 3,
                    "numberReady": 1,
                    "numberMisscheduled": 0,
                }
            },
        ),
        (("PSM858", "nvidia-device-plugin-daemonset", "1 of 3 pods are ready"),),
    ),
    Drift(
        "Kata's class stays behind",
        created(
            "/apis/node.k8s.io/v1/runtimeclasses",
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "kata-old"},
                "handler": "kata-qemu",
            },
        ),
        (("PSM859", "RuntimeClass/kata-old"),),
    ),
    Drift(
        "Kata's label stays behind",
        patched(NODE, label("katacontainers.io/kata-runtime", "true")),
        (("PSM859", "katacontainers.io/kata-runtime", "l40s-crio"),),
    ),
)
