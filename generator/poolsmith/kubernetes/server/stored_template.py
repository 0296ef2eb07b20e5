"""Pod templates as the API server stores them: two that are stored alike restart no pod.

Empty fields are gone, quantities are canonical, and what the API server fills in is there. Source of what it fills in:
kubernetes/kubernetes:pkg/apis/core/v1/{defaults,zz_generated.defaults}.go, apps/v1/defaults.go; conversion.go for the
older name of the service account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.versions import at_least
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, mapping, mappings, pod_template_of, word
from poolsmith.core.sources.pointer import copied
from poolsmith.kubernetes.server.normalise import as_stored

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
_AN_HOUR = 3600
_PORTS_STAY = "1.28"
"""From here on ports of pods in the node's network are opened when the pod is made, not in the template."""
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
        _fill_pod(pod, opens_ports=bool(kubernetes) and not at_least(kubernetes, _PORTS_STAY))
    return template


def _fill_pod(pod: dict[str, Any], *, opens_ports: bool) -> None:
    _fill(pod, _POD)
    pod.setdefault("securityContext", {})
    account = word(pod.get("serviceAccountName")) or word(pod.get("serviceAccount"))
    if account:
        _fill(pod, {"serviceAccountName": account, "serviceAccount": account})
    for volume in mappings(pod.get("volumes")):
        _fill_volume(volume)
    for field in CONTAINER_FIELDS:
        for container in mappings(pod.get(field)):
            _fill_container(container, opens_ports=opens_ports and pod.get("hostNetwork") is True)


def _fill_volume(volume: dict[str, Any]) -> None:
    if not any(key != "name" for key in volume):
        volume["emptyDir"] = {}
    for kind in _WITH_MODE:
        if isinstance(volume.get(kind), dict):
            volume[kind].setdefault("defaultMode", _MODE)
    projected = mappings(mapping(volume.get("projected")).get("sources"))
    for source in (volume, *projected):
        for item in mappings(mapping(source.get("downwardAPI")).get("items")):
            _fill_field(item)
        if isinstance(source.get("serviceAccountToken"), dict):
            _fill(source["serviceAccountToken"], {"expirationSeconds": _AN_HOUR})
    if isinstance(volume.get("hostPath"), dict):
        volume["hostPath"].setdefault("type", "")


def _fill_container(container: dict[str, Any], *, opens_ports: bool) -> None:
    _fill(container, _CONTAINER)
    _fill(container, {"imagePullPolicy": "Always" if _is_latest(word(container.get("image"))) else "IfNotPresent"})
    for name in _PROBES:
        probe = container.get(name)
        if isinstance(probe, dict):
            _fill(probe, _PROBE)
            if isinstance(probe.get("httpGet"), dict):
                _fill(probe["httpGet"], _HTTP)
            if isinstance(probe.get("grpc"), dict):
                _fill(probe["grpc"], {"service": ""})
    for port in mappings(container.get("ports")):
        _fill(port, {"protocol": "TCP"})
        if opens_ports and port.get("containerPort"):
            _fill(port, {"hostPort": port["containerPort"]})
    for hook in mapping(container.get("lifecycle")).values():
        if isinstance(mapping(hook).get("httpGet"), dict):
            _fill(hook["httpGet"], _HTTP)
    for variable in mappings(container.get("env")):
        _fill_field(variable.get("valueFrom"))


def _fill_field(source: Any) -> None:
    """A reference to a field of the pod, if it is one."""
    if isinstance(mapping(source).get("fieldRef"), dict):
        _fill(source["fieldRef"], {"apiVersion": "v1"})


def _is_latest(image: str) -> bool:
    """Without digest, and with the tag `latest` or none."""
    name, _, digest = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    return not digest and (not colon or tag == "latest")


def _fill(target: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for key, value in defaults.items():
        if target.get(key) in (None, ""):
            target[key] = value
