"""How many pods a workload wants, and how many are ready, as its controller says."""

from __future__ import annotations

from typing import Any

from poolsmith.core.sources.pod_template import mapping


def pod_counts(body: dict[str, Any]) -> tuple[int, int]:
    """Wanted and ready. Both are 0 where no controller has looked at it yet."""
    status = mapping(body.get("status"))
    if body["kind"] == "DaemonSet":
        return _number(status.get("desiredNumberScheduled")), _number(status.get("numberReady"))
    wanted = mapping(body.get("spec")).get("replicas")
    told = "observedGeneration" in status
    return (_number(wanted, 1) if told else 0), _number(status.get("readyReplicas"))


def all_are_ready(body: dict[str, Any]) -> bool:
    """Whether there are any, and all of them are ready."""
    wanted, ready = pod_counts(body)
    return 0 < wanted <= ready


def _number(value: Any, default: int = 0) -> int:
    return value if isinstance(value, int) else default
