"""A cluster for the operator: nodes through the API, a kubelet that only says that pods run, and a clean end.

The DaemonSet controller is the real one. Nothing else of a node exists: pods are bound where that controller wants
them, and told to be running and ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic, sleep
from typing import Any

from oracle.operator.binary import NAMESPACE
from support.api_client import ApiClient, Resource

MERGE = "application/merge-patch+json"
_WATCHED = (
    ("apps/v1", "DaemonSet"),
    ("v1", "Node"),
    ("v1", "Pod"),
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
)
CUSTOM = (
    ("nvidia.com/v1", "ClusterPolicy"),
    ("nvidia.com/v1alpha1", "NVIDIADriver"),
    ("nvidia.com/v1alpha1", "GPUCluster"),
    ("nvidia.com/v1beta1", "GPUCluster"),
)
"""The custom resources of the operator, in any release."""
_NOT_OURS = ("Event", "Lease", "CustomResourceDefinition", "APIService", "Namespace")
"""What a reset leaves: it comes and goes by itself, or it belongs to the release."""
_SECONDS_OF_CONTROLLERS = 2.0
_POLL = 0.4
_QUIET, _QUIET_UNREADY = 2.0, 7.0
"""Seconds without a change until the state is steady; the operator looks again after five where it is not ready."""
_LONGEST = 60.0


class Cluster:
    """One API server with the definitions of a release, used for one scenario after the other."""

    def __init__(self, client: ApiClient) -> None:
        self.client = client
        self._resources = self._listable()
        self._definitions: list[str] = []
        self._first: set[tuple[str, str, str, str]] = set()

    def settle_base(self) -> None:
        """Wait for what Kubernetes makes by itself, and remember it as that to which a reset goes back."""
        seen: set[tuple[str, str, str, str]] = set()
        while True:
            self._resources = self._listable()
            found = set(self.everything())
            if found == seen and ("v1", "ServiceAccount", NAMESPACE, "default") in found:
                self._first = found
                return
            seen = found
            sleep(_SECONDS_OF_CONTROLLERS)

    def _listable(self) -> list[tuple[Resource, str]]:
        groups = self.client.request("GET", "/apis").body["groups"]
        versions = ["v1", *(version["groupVersion"] for group in groups for version in group["versions"])]
        found = {}
        for version in versions:
            root = "/api/v1" if version == "v1" else f"/apis/{version}"
            for item in self.client.request("GET", root).body.get("resources", ()):
                if "/" not in item["name"] and {"list", "delete"} <= set(item["verbs"]):
                    key = version.rpartition("/")[0], item["kind"]
                    found.setdefault(key, Resource(version, item["name"], item["namespaced"]))
        return [(place, kind) for (_, kind), place in found.items() if kind not in _NOT_OURS]

    def everything(self) -> dict[tuple[str, str, str, str], dict[str, Any]]:
        """All objects by version, kind, namespace and name."""
        found = {}
        for place, kind in self._resources:
            whole = Resource(place.group_version, place.plural, namespaced=False)
            for item in self.client.request("GET", whole.path(None)).body.get("items", ()):
                metadata = item["metadata"]
                key = (place.group_version, kind, metadata.get("namespace", ""), metadata["name"])
                found[key] = {"apiVersion": place.group_version, "kind": kind, **item}
        return found

    def stood(self, key: tuple[str, str, str, str]) -> bool:
        """Whether an object, by version, kind, namespace and name, was there before any scenario."""
        return key in self._first

    def add_definition(self, item: dict[str, Any]) -> None:
        """A definition for one scenario, which a reset takes away."""
        answer = self.client.apply(item)
        if not answer.taken:
            raise ValueError(f"{item['metadata']['name']}: {answer.message}")
        self._definitions.append(item["metadata"]["name"])
        self._resources = self._listable()

    def reset(self) -> None:
        """Delete all that came since `settle_base`."""
        places = {(place.group_version, kind): place for place, kind in self._resources}
        ends = monotonic() + _LONGEST
        while rest := {key: item for key, item in self.everything().items() if key not in self._first}:
            for (version, kind, namespace, name), item in sorted(
                rest.items(), key=lambda pair: pair[0][1] != "DaemonSet"
            ):
                path = places[version, kind].path(namespace, name)
                if item["metadata"].get("finalizers"):
                    self.client.request("PATCH", path, {"metadata": {"finalizers": None}}, content_type=MERGE)
                self.client.request("DELETE", path, {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
            if monotonic() > ends:
                raise TimeoutError(f"not deleted: {sorted(rest)}")
        while self._definitions:
            place = ("apiextensions.k8s.io/v1", "CustomResourceDefinition", self._definitions.pop())
            self.client.delete(*place)
            while self.client.get(*place).taken:
                sleep(_POLL)
        labels = self.client.get("v1", "Namespace", NAMESPACE).body["metadata"].get("labels", {})
        gone = {key: None for key in labels if key != "kubernetes.io/metadata.name"}
        self.client.request(
            "PATCH", f"/api/v1/namespaces/{NAMESPACE}", {"metadata": {"labels": gone}}, content_type=MERGE
        )

    def add_node(
        self, name: str, labels: dict[str, str], annotations: dict[str, str], runtime: str, taints: Iterable[Any] = ()
    ) -> None:
        """A node that is ready; of taints it has those that are named, because no one takes that of a new node away."""
        info = dict.fromkeys(
            (
                *("architecture", "bootID", "kernelVersion", "kubeProxyVersion", "machineID"),
                *("operatingSystem", "osImage", "systemUUID"),
            ),
            "",
        )
        kubelet = labels.get("kubernetes.io/kubelet-version", "v1.34.1")
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels, "annotations": annotations},
        }
        self._demand("POST", "/api/v1/nodes", node)
        self._demand("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": list(taints)}}, content_type=MERGE)
        status = {
            "nodeInfo": {**info, "containerRuntimeVersion": runtime, "kubeletVersion": kubelet},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}],
            "capacity": {"pods": "110", "cpu": "64", "memory": "256Gi"},
            "allocatable": {"pods": "110", "cpu": "64", "memory": "256Gi"},
        }
        self._demand("PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, content_type=MERGE)

    def add(self, item: dict[str, Any]) -> dict[str, Any]:
        """Create an object as Helm does: fields that its definition does not know are dropped. What was stored."""
        place = self.client.resource(item["apiVersion"], item["kind"])
        if place is None:
            raise ValueError(f"{item['kind']} of {item['apiVersion']} is not served")
        return self._demand("POST", place.path(item["metadata"].get("namespace", NAMESPACE)), item)

    def _demand(self, method: str, path: str, body: dict[str, Any], **query: Any) -> dict[str, Any]:
        answer = self.client.request(method, path, body, **query)
        if not answer.taken:
            raise ValueError(f"{method} {path}: {answer.message}")
        return answer.body

    # -- the kubelet

    def run_pods(self) -> None:
        """Bind each pod of a DaemonSet to its node, and say of all pods that they run."""
        for pod in self.client.listed("v1", "Pod"):
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
            if pod["metadata"].get("deletionTimestamp"):
                self.client.request("DELETE", path, {"gracePeriodSeconds": 0})
                continue
            if not pod["spec"].get("nodeName") and (node := _target(pod)):
                target = {"apiVersion": "v1", "kind": "Node", "name": node}
                binding = {"metadata": {"name": pod["metadata"]["name"]}, "target": target}
                self.client.request("POST", f"{path}/binding", {"apiVersion": "v1", "kind": "Binding", **binding})
            if pod.get("status", {}).get("phase") != "Running":
                self.client.request("PATCH", f"{path}/status", {"status": _running(pod)}, content_type=MERGE)

    # -- the steady state

    def settle(self, works: Callable[[], bool]) -> None:
        """Play the kubelet until nothing changes any more; what the operator does counts from when it `works`."""
        begun = since = monotonic()
        seen = None
        at_work = False
        while monotonic() - begun < _LONGEST:
            self.run_pods()
            now, ready = self._fingerprint()
            if now != seen or not at_work:
                at_work = works()
                seen, since = now, monotonic()
            if monotonic() - since > (_QUIET if ready else _QUIET_UNREADY):
                return
            sleep(_POLL)

    def custom_resources(self) -> list[dict[str, Any]]:
        return [item for version, kind in CUSTOM for item in self.client.listed(version, kind)]

    def _fingerprint(self) -> tuple[Any, bool]:
        items = [item for version, kind in _WATCHED for item in self.client.listed(version, kind)]
        custom = self.custom_resources()
        versions = {(item["kind"], item["metadata"]["name"], item["metadata"]["resourceVersion"]) for item in items}
        states = [(item["metadata"]["name"], str(item.get("status"))) for item in custom]
        ready = all(map(is_ready, custom))
        return (versions, states), bool(custom) and ready


def is_ready(resource: dict[str, Any]) -> bool:
    """Whether the operator calls a custom resource ready, in its state and in its conditions."""
    status = resource.get("status", {})
    told = {item["type"]: item["status"] for item in status.get("conditions", ())}
    return status.get("state") == "ready" and told.get("Ready") == "True" and told.get("Error") != "True"


def _target(pod: dict[str, Any]) -> str | None:
    """The node that the DaemonSet controller wants a pod on."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ()):
        for rule in term.get("matchFields", ()):
            if rule["key"] == "metadata.name":
                return rule["values"][0]
    return None


def _running(pod: dict[str, Any]) -> dict[str, Any]:
    state = {"running": {"startedAt": pod["metadata"]["creationTimestamp"]}}
    fields = {"ready": True, "started": True, "restartCount": 0, "imageID": "", "state": state}
    kinds = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    return {
        "phase": "Running",
        "conditions": [{"type": kind, "status": "True"} for kind in kinds],
        "containerStatuses": [
            {"name": item["name"], "image": item["image"], **fields} for item in pod["spec"]["containers"]
        ],
    }
