"""What objects say of themselves: nobody delivers them any more, they are about to go, something failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import DIFFERS_ON_CLUSTER, NOT_READY
from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.gpu.catalog.stopped import read_stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.verify.expected import Expected
    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic


def judge_states(view: LiveView) -> Iterator[Diagnostic]:
    for item in view.cluster.expected:
        if item.passing:
            continue
        for body in view.find(item):
            name = str(body["metadata"]["name"])
            about = f"{shown(item.resource.kind, name, item.namespace)} of cluster `{view.cluster.name}`"
            place, subject = view.cluster.place(item), view.cluster.subject(item.resource.kind, name, item.namespace)
            for text in _stopped(item, body):
                yield diagnose(DIFFERS_ON_CLUSTER, f"{about} {text}", place, subject=subject)
            if text := _wrong(item, body):
                yield diagnose(NOT_READY, f"{about} {text}", place, subject=subject)


def _stopped(item: Expected, body: dict[str, Any]) -> Iterator[str]:
    given, held = (mapping(one["metadata"].get("annotations")) for one in (item.body, body))
    for key, (values, means) in read_stopped().annotations.items():
        if held.get(key) in values and given.get(key) != held[key]:
            yield f"has the annotation `{key}: {held[key]}`: {means}"


def _wrong(item: Expected, body: dict[str, Any]) -> str:
    """The first that it says, the worst first; empty where all is well, and where it says nothing."""
    status = mapping(body.get("status"))
    if body["metadata"].get("deletionTimestamp") or status.get("phase") == "Terminating":
        return "is about to be deleted"
    facts = read_stopped()
    kind, told = facts.conditions.get(item.resource.group, ("", ""))
    for condition in mappings(status.get("conditions")):
        if kind and condition.get("type") == kind and condition.get("status") == told:
            reason, message = word(condition.get("reason")), word(condition.get("message"))
            return f"says {kind} {told}: {': '.join(part for part in (reason, message) if part) or 'without a reason'}"
    for field in facts.states:
        if (field.api_version, field.kind) == (item.resource.api_version, item.resource.kind):
            value = word(value_at(status, field.field))
            if value and value not in field.well:
                return f"says that its {' '.join(field.field)} is `{value}`"
    wanted, seen = body["metadata"].get("generation"), status.get("observedGeneration")
    if isinstance(wanted, int) and isinstance(seen, int) and 0 <= seen < wanted:  # -1: nobody has ever looked
        return "was changed, and who works on it has not looked at that yet"
    return ""
