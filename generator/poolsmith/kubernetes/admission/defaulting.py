"""Fields that the API server fills in before policies are asked, so that nobody can tell offline what they are.

`object.spec.restartPolicy` is there in the cluster even where the manifest says nothing.
"""

from __future__ import annotations

from functools import lru_cache

from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, pod_template_pointer
from poolsmith.kubernetes.server.kubernetes_types import defaulted_fields

Path = tuple[str, ...]
ITEM = "*"
"""Stands for any item of a list or a mapping."""

_METADATA = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
_BY_SERVER = {
    "Pod": (
        "spec.imagePullSecrets", "spec.overhead", "spec.preemptionPolicy", "spec.priority", "spec.serviceAccount",
        "spec.serviceAccountName", "spec.tolerations", "spec.containers.*.resources.limits",
        "spec.initContainers.*.resources.limits",
    ),
    "PersistentVolumeClaim": ("spec.storageClassName",),
    "Ingress": ("spec.ingressClassName",),
    "Job": ("spec.selector", "spec.template.metadata.labels"),
    "ReplicationController": ("metadata.labels", "spec.selector"),
    "Service": ("spec.clusterIP", "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy"),
}  # fmt: skip
"""What plugins that are on in every cluster, allocators and strategies fill in: accounts, priorities, limits ..."""

EMPTY_OBJECTS = frozenset(("securityContext", "emptyDir", "namespaceSelector", "objectSelector"))
"""Objects that are filled in without anything in them: only whether they are there depends on it."""


@lru_cache(maxsize=256)
def defaulted_paths(kind: str) -> frozenset[Path]:
    """Paths in an object of a native kind; of another kind only what each object gets in its metadata."""
    fields = defaulted_fields()
    found = [*fields["kinds"].get(kind, ()), *_BY_SERVER.get(kind, ()), *(f"metadata.{name}" for name in _METADATA)]
    pointer = pod_template_pointer({"kind": kind})
    if pointer is not None:
        prefix = ".".join((*pointer.split("/")[1:], "spec."))
        found += [prefix + path for path in fields["pod"]]
        found += [f"{prefix}{field}.*.{path}" for field in CONTAINER_FIELDS for path in fields["container"]]
    return frozenset(tuple(path.split(".")) for path in found)


def depends_on_defaulting(kind: str, path: Path) -> bool:
    """Whether an expression that reads `path` reads what is filled in: such a field, or something in it.

    ITEM in `path` stands for any item. A path that ends above (`spec`) reads no such field by itself.
    """
    return any(_is_at_or_below(path, defaulted) for defaulted in defaulted_paths(kind))


def _is_at_or_below(path: Path, defaulted: Path) -> bool:
    if len(path) < len(defaulted) or (len(path) > len(defaulted) and defaulted[-1] in EMPTY_OBJECTS):
        return False
    return all(ITEM in (step, known) or step == known for step, known in zip(path, defaulted, strict=False))
