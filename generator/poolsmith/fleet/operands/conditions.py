"""The conditions that the operator's controllers write."""

from __future__ import annotations

from poolsmith.fleet.operands.expansion import ResourceCondition


def ready(kind: str, name: str, reason: str, message: str, *, state: str = "ready") -> ResourceCondition:
    return ResourceCondition(
        kind=kind,
        name=name,
        state=state,
        conditions=(
            {"type": "Ready", "status": "True", "reason": reason, "message": message},
            {"type": "Error", "status": "False", "reason": "Ready", "message": ""},
        ),
    )


def not_ready(kind: str, name: str, reason: str, message: str, *, state: str = "notReady") -> ResourceCondition:
    return ResourceCondition(
        kind=kind,
        name=name,
        state=state,
        conditions=(
            {"type": "Ready", "status": "False", "reason": "Error", "message": ""},
            {"type": "Error", "status": "True", "reason": reason, "message": message},
        ),
    )
