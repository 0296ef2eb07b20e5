"""Where the stack's images are pulled from: the mirror of each public registry, and the secrets to pull them.

A mirror is what stands before the part of the reference that says whose software it is, where that is the same for all
images of a registry. Anything else stays what it is: values of the chart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import containers_of, mapping, mappings, pod_template_of, word
from poolsmith.kubernetes.live.api_resources import DAEMON_SETS, DEPLOYMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.live.snapshot import Snapshot

_WHOSE = {"nvcr.io": "/nvidia/", "registry.k8s.io": "/nfd/"}
"""By public registry: how the rest of the stack's references begins there."""


def registry_of(snapshot: Snapshot, namespace: str) -> Iterator[tuple[tuple[str, ...], Any, str]]:
    """Fields of the profile's `registry`, each with its value and where it was seen."""
    found: dict[str, set[str]] = {}
    secrets: set[tuple[str, ...]] = set()
    for pod in _pods(snapshot, namespace):
        for container in containers_of(pod):
            image = word(container.get("image"))
            for host, begins in _WHOSE.items():
                before, mark, _ = image.partition(begins)
                if mark and before:
                    found.setdefault(host, set()).add(before)
                    secrets.add(tuple(word(item.get("name")) for item in mappings(pod.get("imagePullSecrets"))))
    mirrors = {host: next(iter(places)) for host, places in found.items() if len(places) == 1 and places != {host}}
    where = f"images of workloads in {namespace}"
    if mirrors:
        yield ("registry", "mirrors"), dict(sorted(mirrors.items())), where
    if len(secrets) == 1 and (names := [name for name in next(iter(secrets)) if name]):
        yield ("registry", "pullSecrets"), names, where


def _pods(snapshot: Snapshot, namespace: str) -> Iterator[Mapping[str, Any]]:
    for resource in (DAEMON_SETS, DEPLOYMENTS):
        for body in snapshot.items(resource):
            if body["metadata"].get("namespace") == namespace and (template := pod_template_of(body)) is not None:
                yield mapping(template.get("spec"))
