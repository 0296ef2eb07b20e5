"""Model servers that are told to split a model over GPUs: whether their container has so many, and memory to share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, words
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.gpu_requests import GPU, is_gpu_resource
from poolsmith.kubernetes.quantity import amount_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod

_SHARED = "/dev/shm"  # noqa: S108


def server_mistakes(pod: LinkedPod) -> Iterator[Finding[Location]]:
    for at, container in pod.containers:
        limits = mapping(mapping(container.get("resources")).get("limits"))
        counts = [amount_of(limits[name]) for name in limits if is_gpu_resource(str(name))]
        if len(counts) != 1 or counts[0] is None or (told := _told(container)) is None:
            continue
        field, flag, parts = told
        if parts > counts[0]:
            yield Finding(
                message=f"{pod.owner.name} splits a model over {parts} GPUs by `{flag}`, and its container has "
                f"{counts[0]:g}",
                place=pod.place(join(at, field)),
                help=f"ask for `{GPU}: {parts}`, or lower `{flag}`",
                severity=Severity.WARNING,
            )
        elif parts > 1 and not _shares(pod, container):
            yield Finding(
                message=f"{pod.owner.name} works on {parts} GPUs at once by `{flag}`, with the 64 MiB of {_SHARED} "
                "that a container has by itself",
                place=pod.place(join(at, field)),
                help=f"mount an `emptyDir: {{medium: Memory}}` at {_SHARED}",
                severity=Severity.WARNING,
            )


def _told(container: Mapping[str, Any]) -> tuple[str, str, int] | None:
    """The field, the flag and the number; None where there is none, or other machines take a part."""
    facts = store.table("scheduling.yaml")["modelServers"]
    said = {field: " ".join(words(container.get(field))) for field in ("command", "args")}
    for field, text in said.items():
        if (found := pattern(facts["flags"]).search(text)) is not None:
            is_shared = any(word in other for word in facts["elsewhere"] for other in said.values())
            return None if is_shared else (field, found[1], int(found[2]))
    return None


def _shares(pod: LinkedPod, container: Mapping[str, Any]) -> bool:
    mounts = mappings(container.get("volumeMounts"))
    return pod.spec.get("hostIPC") is True or any(item.get("mountPath") == _SHARED for item in mounts)
