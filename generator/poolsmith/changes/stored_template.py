"""Pod templates as the API server stores them: two that are stored alike restart no pod.

Empty fields are gone, quantities are canonical, and what the API server fills in is there. Source of what it fills in:
kubernetes/kubernetes:pkg/apis/core/v1/{defaults,zz_generated.defaults}.go, apps/v1/defaults.go; conversion.go for the
older name of the service account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.policies.admission.normalise import as_stored
from poolsmith.sources.nested import copied
from poolsmith.sources.pod_template import CONTAINER_FIELDS, mappings, pod_template_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping

Template = dict[str, Any]

_POD = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
}
_CONTAINER = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_PROBE = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HTTP = {"path": "/", "scheme": "HTTP"}
_MODE = 0o644
_WITH_MODE = ("configMap", "secret", "downwardAPI", "projected")


def stored_template(workload: Mapping[str, Any], kubernetes: str = "") -> Template:
    """Metadata and spec of the pods of a workload, as `kubernetes` (1.34; unknown: the newest) stores them."""
    found = pod_template_of(as_stored(workload, kubernetes))
    template: Template = copied(dict(found)) if found is not None else {}
    metadata = template.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("creationTimestamp", None)
    pod = template.get("spec")
    if isinstance(pod, dict):
        _fill_pod(pod)
    return template


def _fill_pod(pod: dict[str, Any]) -> None:
    _fill(pod, _POD)
    pod.setdefault("securityContext", {})
    account = word(pod.get("serviceAccountName")) or word(pod.get("serviceAccount"))
    if account:
        _fill(pod, {"serviceAccountName": account, "serviceAccount": account})
    for volume in mappings(pod.get("volumes")):
        _fill_volume(volume)
    for field in CONTAINER_FIELDS:
        for container in mappings(pod.get(field)):
            _fill_container(container, in_node_network=pod.get("hostNetwork") is True)


def _fill_volume(volume: dict[str, Any]) -> None:
    if not any(key != "name" for key in volume):
        volume["emptyDir"] = {}
    for kind in _WITH_MODE:
        if isinstance(volume.get(kind), dict):
            volume[kind].setdefault("defaultMode", _MODE)
    if isinstance(volume.get("hostPath"), dict):
        volume["hostPath"].setdefault("type", "")


def _fill_container(container: dict[str, Any], *, in_node_network: bool) -> None:
    _fill(container, _CONTAINER)
    _fill(container, {"imagePullPolicy": "Always" if _is_latest(word(container.get("image"))) else "IfNotPresent"})
    for name in _PROBES:
        probe = container.get(name)
        if isinstance(probe, dict):
            _fill(probe, _PROBE)
            if isinstance(probe.get("httpGet"), dict):
                _fill(probe["httpGet"], _HTTP)
            if isinstance(probe.get("grpc"), dict):
                probe["grpc"].setdefault("service", "")
    for port in mappings(container.get("ports")):
        _fill(port, {"protocol": "TCP"})
        if in_node_network and port.get("containerPort"):
            _fill(port, {"hostPort": port["containerPort"]})
    for variable in mappings(container.get("env")):
        source = variable.get("valueFrom")
        if isinstance(source, dict) and isinstance(source.get("fieldRef"), dict):
            _fill(source["fieldRef"], {"apiVersion": "v1"})
    resources = container.get("resources")
    if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
        resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}


def _is_latest(image: str) -> bool:
    """Without digest, and with the tag `latest` or none."""
    name, _, digest = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    return not digest and (not colon or tag == "latest")


def _fill(target: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for key, value in defaults.items():
        if target.get(key) in (None, ""):
            target[key] = value
