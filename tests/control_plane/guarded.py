"""An API server with the policy of the grants in force, and what it says of pods."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic, sleep
from typing import Any

from poolsmith.core.sources.pointer import copied
from poolsmith.guard.policies.privilege_policy.validating_policy import NAME
from support.api_client import Answer, ApiClient
from support.control_plane import Scenario

CONTROLLERS = (
    *("daemonset-controller", "deployment-controller", "replicaset-controller", "job-controller"),
    "statefulset-controller",
)
_SECONDS = 60.0
_OF_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "ownerReferences")
_REFUSED = f"ValidatingAdmissionPolicy '{NAME}'"


class Guarded:
    """One cluster: its namespaces, accounts, runtime classes and nodes, its policy with the actions of the binding."""

    def __init__(
        self, scenario: Scenario, policy: tuple[Any, ...], *, actions: Iterable[str] = ("Deny", "Audit")
    ) -> None:
        self.scenario = scenario
        self.client: ApiClient = scenario.client()
        self.policy, self.binding = (copied(item) for item in policy)
        self.binding["spec"]["validationActions"] = list(actions)
        self.namespaces = self.policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"][0]["values"]
        self._known: set[tuple[str, ...]] = set()
        for namespace in self.namespaces:
            self.prepare({"namespace": namespace}, {"serviceAccountName": "probe"})
        for item in (self.policy, self.binding):
            answer = self.client.apply(item, force=True)
            assert answer.taken, answer.message
        self._await_policy()

    def prepare(self, metadata: dict[str, Any], spec: dict[str, Any]) -> None:
        """What a pod needs so that the server takes it: namespace, account, runtime class, priority class."""
        namespace = metadata["namespace"]
        account = spec.get("serviceAccountName") or "default"
        classes = [("node.k8s.io/v1", "RuntimeClass", spec.get("runtimeClassName"), {"handler": "runc"})]
        priority = spec.get("priorityClassName")
        if priority and not priority.startswith("system-"):
            classes.append(("scheduling.k8s.io/v1", "PriorityClass", priority, {"value": 1}))
        self._once({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        self._once(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": namespace}}
        )
        for version, kind, name, more in classes:
            if name:
                self._once({"apiVersion": version, "kind": kind, "metadata": {"name": name}, **more})

    def apply(self, item: dict[str, Any]) -> None:
        """Before anything else of that name, which then stays as it is."""
        self._once(item)

    def _once(self, item: dict[str, Any]) -> None:
        key = (item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
        if key not in self._known:
            self._known.add(key)
            answer = self.client.apply(item)
            assert answer.taken, f"{key}: {answer.message}"

    def _probe(self, namespace: str) -> Answer:
        own = {"name": "probe", "image": "registry.example.com/probe", "securityContext": {"privileged": True}}
        spec = {"serviceAccountName": "probe", "containers": [own]}
        metadata = {"name": "probe", "namespace": namespace}
        return self.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, dry_run=True)

    def _await_policy(self, *, gone: bool = False) -> None:
        """Until it refuses, or warns about, what nothing is granted, or does no more; that takes the server a moment."""
        for namespace in self.namespaces:
            ends = monotonic() + _SECONDS
            answer = self._probe(namespace)
            while any(NAME in text for text in (answer.message, *answer.warnings)) == gone:
                assert monotonic() < ends, f"nothing changed after {_SECONDS:.0f} seconds: {answer}"
                sleep(0.1)
                answer = self._probe(namespace)

    def withdraw(self) -> None:
        """Take the policy away, so that the server can get another of the same name."""
        for item in (self.binding, self.policy):
            self.client.delete(item["apiVersion"], item["kind"], item["metadata"]["name"])
        self._await_policy(gone=True)

    def say(self, pod: dict[str, Any], *, before: dict[str, Any] | None = None) -> Answer:
        """Of a new pod, or of an update of the ephemeral containers of one that runs (`before`, as it is stored)."""
        if before is None:
            return self.client.create(bare(pod), dry_run=True)
        metadata = before["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/ephemeralcontainers"
        body = {"spec": {"ephemeralContainers": pod["spec"]["ephemeralContainers"]}}
        kind = "application/strategic-merge-patch+json"
        return self.client.request("PATCH", path, body, content_type=kind, dryRun="All", fieldValidation="Strict")

    def run(self, workloads: Iterable[dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """The pods that real controllers make of workloads, by Kind/name, and why others were not made.

        A pod of its own is created as it is. Each DaemonSet finds a node that it selects.
        """
        made: dict[str, dict[str, Any]] = {}
        refused: list[str] = []
        waited: dict[str, str] = {}
        for item in workloads:
            name = f"{item['kind']}/{item['metadata']['name']}"
            template = item if item["kind"] == "Pod" else _template(item)
            self.prepare(item["metadata"], template["spec"])
            if item["kind"] == "Pod":
                answer = self.client.create({**item, "metadata": _named(item["metadata"])})
                if answer.taken:
                    made[name] = answer.body
                else:
                    refused.append(f"{name}: {answer.message}")
                continue
            if item["kind"] == "DaemonSet":
                self._node(len(waited), template["spec"])
            answer = self.client.apply({**item, "metadata": _named(item["metadata"])})
            assert answer.taken, f"{name}: {answer.message}"
            waited[answer.body["metadata"]["uid"]] = name
        self.scenario.start_controllers(*CONTROLLERS)
        ends = monotonic() + _SECONDS
        while waited and monotonic() < ends:
            self._collect(waited, made, refused)
            sleep(0.2)
        return made, [*refused, *(f"{name}: no controller made a pod of it" for name in waited.values())]

    def _node(self, number: int, spec: dict[str, Any]) -> None:
        """One that is ready and takes the pods of a DaemonSet."""
        labels = {**(spec.get("nodeSelector") or {}), **_affine(spec)}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}", "labels": labels}}
        answer = self.client.create(node)
        assert answer.taken, answer.message
        path = f"/api/v1/nodes/node-{number}"
        self.client.request("PATCH", path, {"spec": {"taints": None}}, content_type="application/merge-patch+json")

    def _collect(self, waited: dict[str, str], made: dict[str, dict[str, Any]], refused: list[str]) -> None:
        """Pods and refusals of what is waited for, by owner; a Deployment owns its pods through a ReplicaSet."""
        above = {
            item["metadata"]["uid"]: owner["uid"]
            for item in self.client.listed("apps/v1", "ReplicaSet")
            for owner in item["metadata"].get("ownerReferences", ())
        }
        for pod in self.client.listed("v1", "Pod"):
            for owner in pod["metadata"].get("ownerReferences", ()):
                uid = above.get(owner["uid"], owner["uid"])
                if uid in waited:
                    made[waited.pop(uid)] = pod
        for event in self.client.listed("v1", "Event"):
            uid = event["involvedObject"].get("uid", "")
            uid = above.get(uid, uid)
            if event["reason"] == "FailedCreate" and uid in waited and _REFUSED in event["message"]:
                refused.append(f"{waited.pop(uid)}: {event['message']}")


def _template(item: dict[str, Any]) -> dict[str, Any]:
    spec = item["spec"]["jobTemplate"]["spec"] if item["kind"] == "CronJob" else item["spec"]
    found: dict[str, Any] = spec["template"]
    return found


def _named(metadata: dict[str, Any]) -> dict[str, Any]:
    """A predicted name that ends in what only the operator will choose, with a name of ours; without owners."""
    kept = {key: value for key, value in metadata.items() if key != "ownerReferences"}
    return {**kept, "name": metadata["name"].replace("*", "x")}


def bare(pod: dict[str, Any]) -> dict[str, Any]:
    """A stored pod as somebody could send it, under a new name."""
    metadata = {key: value for key, value in pod["metadata"].items() if key not in _OF_SERVER}
    metadata["name"] = "asked"
    metadata.pop("generateName", None)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]}


def is_refused(answer: Answer) -> bool:
    """By the policy, and not for another reason."""
    return answer.status in (403, 422) and _REFUSED in answer.message


def _affine(spec: dict[str, Any]) -> dict[str, str]:
    """Labels of a node that the first term of a pod's affinity takes: the first value of each list."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get(required) or {}).get("nodeSelectorTerms") or [{}]
    wanted = terms[0].get("matchExpressions") or []
    return {item["key"]: item["values"][0] for item in wanted if item["operator"] == "In"}
