"""States of Applications and NVIDIADrivers, and the health that Argo CD is to see in each."""

from __future__ import annotations

from typing import Any

SYNCING = "Error syncing state state-driver: failed to create k8s objects from manifests: "
NO_NODES = f"{SYNCING}no nodes matching the given node selector for a"
WAITING = "Waiting for driver pod to be ready"


def _driver(status: Any) -> dict[str, Any]:
    return {"kind": "NVIDIADriver", "metadata": {"name": "a"}} | ({} if status is None else {"status": status})


def _said(reason: str, message: str, *, ready: bool = False, state: str = "notReady") -> dict[str, Any]:
    """As the operator writes its two conditions."""
    one = {"type": "Ready", "status": str(ready), "reason": reason if ready else "Error", "message": message}
    other = {"type": "Error", "status": str(not ready), "reason": "Ready" if ready else reason}
    return _driver({"state": state, "conditions": [one, other | {"message": "" if ready else message}]})


def _application(status: Any) -> dict[str, Any]:
    return {"kind": "Application", "metadata": {"name": "a"}} | ({} if status is None else {"status": status})


CASES: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "argoproj.io_Application": {
        "new": (_application(None), "Progressing"),
        "without a health": (_application({"sync": {"status": "OutOfSync"}}), "Progressing"),
        "missing": (_application({"health": {"status": "Missing"}}), "Missing"),
        "healthy": (_application({"health": {"status": "Healthy"}}), "Healthy"),
        "degraded": (_application({"health": {"status": "Degraded", "message": "why"}}), "Degraded"),
    },
    "nvidia.com_NVIDIADriver": {
        "new": (_driver(None), "Progressing"),
        "without conditions": (_driver({"state": "notReady"}), "Progressing"),
        "no condition": (_driver({"state": "notReady", "conditions": []}), "Progressing"),
        "starting": (_said("DriverNotReady", WAITING), "Progressing"),
        "failed": (_said("ReconcileFailed", f"{SYNCING}no such secret"), "Degraded"),
        "two on one node": (_said("ConflictingNodeSelector", "conflicting"), "Degraded"),
        "disabled": (_said("Reconciled", "useNvidiaDriverCRD is not enabled", state="disabled"), "Degraded"),
        "without nodes": (_said("ReconcileFailed", NO_NODES), "Healthy"),
        "ready": (_said("Reconciled", "done", ready=True, state="ready"), "Healthy"),
    },
}
