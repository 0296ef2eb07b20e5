"""What nodes would do, as far as the engines look: workloads become ready, jobs complete, driver objects are ready.

Nothing runs. Jobs that are new are remembered by name, until somebody takes the set: it is what the engine started.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from support.api_client import ApiClient

_MERGE = "application/merge-patch+json"
_NOW = "2026-01-01T00:00:00Z"
_SECONDS_BETWEEN_LOOKS = 1.0
_READY = [
    {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": _NOW},
    {"type": "Error", "status": "False", "reason": "Ready", "message": "", "lastTransitionTime": _NOW},
]


class Kubelet:
    """A thread with a client of its own."""

    def __init__(self, client: ApiClient) -> None:
        self.jobs: set[str] = set()
        self._known: set[str] = set()
        self._client = client
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ends.wait(_SECONDS_BETWEEN_LOOKS):
            with contextlib.suppress(OSError):  # the server ends, too
                self._look()

    def _look(self) -> None:
        for item in self._client.listed("apps/v1", "Deployment"):
            self._mark(item, _deployment(item))
        for item in self._client.listed("apps/v1", "DaemonSet"):
            self._mark(item, _daemon_set(item))
        for item in self._client.listed("batch/v1", "Job"):
            if item["metadata"]["uid"] not in self._known:
                self._known.add(item["metadata"]["uid"])
                self.jobs.add(item["metadata"]["name"])
            self._mark(item, _job())
        for kind, version in (("ClusterPolicy", "nvidia.com/v1"), ("NVIDIADriver", "nvidia.com/v1alpha1")):
            for item in self._client.listed(version, kind):
                self._mark(item, {"state": "ready", "conditions": _READY})

    def _mark(self, item: dict[str, Any], status: dict[str, Any]) -> None:
        held = item.get("status", {})
        if all(held.get(key) == value for key, value in status.items()):
            return
        place = self._client.resource(item["apiVersion"], item["kind"])
        assert place is not None
        path = place.path(item["metadata"].get("namespace"), item["metadata"]["name"])
        self._client.request("PATCH", f"{path}/status", {"status": status}, content_type=_MERGE)


def _deployment(item: dict[str, Any]) -> dict[str, Any]:
    count = item["spec"].get("replicas", 1)
    numbers = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
    states = (("Available", "MinimumReplicasAvailable"), ("Progressing", "NewReplicaSetAvailable"))
    conditions = [
        {
            "type": name,
            "status": "True",
            "reason": reason,
            "message": "",
            "lastTransitionTime": _NOW,
            "lastUpdateTime": _NOW,
        }
        for name, reason in states
    ]
    return {"observedGeneration": item["metadata"]["generation"], **numbers, "conditions": conditions}


def _daemon_set(item: dict[str, Any]) -> dict[str, Any]:
    numbers = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberMisscheduled")
    return {"observedGeneration": item["metadata"]["generation"], **dict.fromkeys(numbers, 0)}


def _job() -> dict[str, Any]:
    conditions = [
        {"type": name, "status": "True", "lastProbeTime": _NOW, "lastTransitionTime": _NOW}
        for name in ("SuccessCriteriaMet", "Complete")
    ]
    return {"startTime": _NOW, "completionTime": _NOW, "succeeded": 1, "conditions": conditions}
