"""Where the pods of a workload stand in it, and how to read objects that nobody has checked.

The readers (`mapping`, `mappings`, `words`, `word`) give the empty value for what is absent or of the wrong type.
"""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CONTAINER_FIELDS = ("initContainers", "containers", "ephemeralContainers")
"""The fields of a pod spec that list containers, in the order in which their containers start."""

_PLAIN = 2
"""The form of marshal whose bytes follow from the values alone."""
_PATHS_TO_TEMPLATES = {
    "Pod": (),
    "PodTemplate": ("template",),
    "Deployment": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
WORKLOAD_KINDS = tuple(sorted(_PATHS_TO_TEMPLATES))


def pod_template_of(workload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Metadata and spec of the pods that a workload runs; None of anything that is no workload."""
    path = _PATHS_TO_TEMPLATES.get(word(workload.get("kind")))
    if path is None:
        return None
    template: Any = workload
    for key in path:
        template = mapping(template).get(key)
    return mapping(template)


def pod_template_pointer(workload: Mapping[str, Any]) -> str | None:
    """JSON pointer from a workload to its pods' metadata and spec: empty for a Pod; None of what is no workload."""
    path = _PATHS_TO_TEMPLATES.get(word(workload.get("kind")))
    return None if path is None else "".join(f"/{key}" for key in path)


def account_of(template: Mapping[str, Any] | None) -> str:
    """The service account of a template's pods; the older name of the field counts where the newer one is empty."""
    pod = mapping(mapping(template).get("spec"))
    return word(pod.get("serviceAccountName")) or word(pod.get("serviceAccount")) or "default"


def containers_of(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Containers of each sort."""
    for _, _, container in container_places(pod):
        yield container


def container_places(pod: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Containers of each sort with the field of the pod spec that lists them and their index in it."""
    for field in CONTAINER_FIELDS:
        listed = pod.get(field)
        if isinstance(listed, list):
            for index, container in enumerate(listed):
                if isinstance(container, dict):
                    yield field, index, container


def started_with(container: Mapping[str, Any]) -> bytes:
    """Equal where command, arguments and variables are."""
    return marshal.dumps((container.get("command"), container.get("args"), container.get("env")), _PLAIN)


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def words(value: Any, *, empty: bool = False) -> tuple[str, ...]:
    """The texts of a list; the empty ones only where they mean something."""
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, str) and (item or empty))


def word(value: Any) -> str:
    return value if isinstance(value, str) else ""
