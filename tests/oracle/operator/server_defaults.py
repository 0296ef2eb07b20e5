"""Objects without what the API server adds: both sides of a comparison are bared, so a default equals its absence.

Source: pkg/apis/{core,apps,rbac}/v1/defaults.go of kubernetes/kubernetes at v1.34.1; what allocators and registries
add was read from that server's answers.
"""

from __future__ import annotations

import copy
from typing import Any

Object = dict[str, Any]

_METADATA = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
_ANNOTATIONS = (
    *("deprecated.daemonset.template.generation", "deployment.kubernetes.io/revision"),
    "nvidia.com/last-applied-hash",
)
"""Of the controllers of Kubernetes, and of the operator, which notices changes by it."""
_DAEMON_SET = {"revisionHistoryLimit": 10}
_DEPLOYMENT = {
    "replicas": 1,
    "revisionHistoryLimit": 10,
    "progressDeadlineSeconds": 600,
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
}
_ROLLING = {"maxUnavailable": 1, "maxSurge": 0}
_POD = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
    "securityContext": {},
    **dict.fromkeys(("hostNetwork", "hostPID", "hostIPC"), False),
}
_CONTAINER = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "resources": {},
}
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_MODES = {"defaultMode": 0o644}
_SERVICE = {"internalTrafficPolicy": "Cluster", "sessionAffinity": "None", "type": "ClusterIP"}
_ALLOCATED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")


def bare(item: Object) -> Object:
    """A copy without status, without what the server keeps, and without fields that have their default."""
    found = copy.deepcopy(item)
    found.pop("status", None)
    metadata = found["metadata"]
    for key in _METADATA:
        metadata.pop(key, None)
    for key in _ANNOTATIONS:
        metadata.get("annotations", {}).pop(key, None)
    for owner in metadata.get("ownerReferences", ()):
        owner.pop("uid", None)
    if metadata.get("annotations") == {}:
        del metadata["annotations"]
    match found["kind"]:
        case "DaemonSet":
            _daemon_set(found["spec"])
        case "Deployment":
            _drop(found["spec"], _DEPLOYMENT)
            _template(found["spec"]["template"])
        case "Pod":
            _pod(found["spec"])
        case "Service":
            _drop(found["spec"], _SERVICE)
            for key in _ALLOCATED:
                found["spec"].pop(key, None)
            for port in found["spec"].get("ports", ()):
                _drop(port, {"protocol": "TCP", "targetPort": port["port"]})
        case "ClusterRoleBinding" | "RoleBinding":
            for subject in found.get("subjects", ()):
                _drop(subject, {"apiGroup": ""})
    return found


def _drop(found: Object, defaults: Object) -> None:
    for key, value in defaults.items():
        if key in found and found[key] == value:
            del found[key]


def _daemon_set(spec: Object) -> None:
    _drop(spec, _DAEMON_SET)
    strategy = spec.get("updateStrategy", {})
    _drop(strategy.get("rollingUpdate", {}), _ROLLING)
    _drop(strategy, {"rollingUpdate": {}})
    _drop(strategy, {"type": "RollingUpdate"})
    _drop(spec, {"updateStrategy": {}})
    _template(spec["template"])


def _template(template: Object) -> None:
    _drop(template.get("metadata", {}), {"creationTimestamp": None})
    _pod(template["spec"])


def _pod(spec: Object) -> None:
    _drop(spec, _POD)
    if spec.get("serviceAccount") == spec.get("serviceAccountName"):
        spec.pop("serviceAccount", None)
    for toleration in spec.get("tolerations") or ():
        _drop(toleration, {"value": ""})
    for field in ("initContainers", "containers"):
        for container in spec.get(field) or ():
            _container(container, on_host=spec.get("hostNetwork") is True)
    for volume in spec.get("volumes") or ():
        for source in ("configMap", "secret", "projected", "downwardAPI"):
            _drop(volume.get(source) or {}, _MODES)
        _drop(volume.get("hostPath") or {}, {"type": ""})


def _container(container: Object, *, on_host: bool) -> None:
    _drop(container, _CONTAINER)
    tag = container.get("image", "").rpartition("/")[2]
    latest = ("@" not in tag and ":" not in tag) or tag.endswith(":latest")
    _drop(container, {"imagePullPolicy": "Always" if latest else "IfNotPresent"})
    for port in container.get("ports") or ():
        _drop(port, {"protocol": "TCP"})
        if on_host:
            _drop(port, {"hostPort": port["containerPort"]})
    for probe in _PROBES:
        if found := container.get(probe):
            _drop(found, _PROBE)
            _drop(found.get("httpGet", {}), {"scheme": "HTTP"})
            _drop(found.get("grpc", {}), {"service": ""})
    for variable in container.get("env") or ():
        _drop(variable, {"value": ""})
        _drop(variable.get("valueFrom", {}).get("fieldRef", {}), {"apiVersion": "v1"})
