"""What the API server fills into built-in objects that leave it out: one table, for all who ask.

The table is recorded from the server's own defaulting (see `tests/oracle/defaults`). A field that a minor of Kubernetes
does not have is not filled in there. What depends on the object has no value in the table.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from poolsmith.core.facts.store import read_json
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, pod_template_pointer
from poolsmith.kubernetes.server.kubernetes_types import DEFAULTS

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


@cache
def pod_values() -> dict[Path, Any]:
    """What is filled into the spec of a pod, by path in it; None for what depends on the pod."""
    table = _table()
    found = {_path(path): value for path, value in table["pod"].items()}
    for field in CONTAINER_FIELDS:
        found |= {(field, ITEM, *_path(path)): value for path, value in table["container"].items()}
    return found


def is_of_pods_alone(path: Path) -> bool:
    """Whether a path of `pod_values` is filled into pods only, and not into the templates of workloads."""
    below = path[2:] if path[0] in CONTAINER_FIELDS else path
    return ".".join(below) in _table()["no template"]


@lru_cache(maxsize=256)
def default_values(kind: str) -> dict[Path, Any]:
    """What is filled into an object of a built-in kind, and always the same, by path in it."""
    found = {_path(path): value for path, value in _table()["kinds"].get(kind, {}).items()}
    pointer = pod_template_pointer({"kind": kind})
    if pointer is not None:
        found |= {(*pointer.split("/")[1:], "spec", *path): value for path, value in pod_values().items()}
    return {path: value for path, value in found.items() if value is not None}


@lru_cache(maxsize=256)
def defaulted_paths(kind: str) -> frozenset[Path]:
    """Paths in an object of a native kind; of another kind only what each object gets in its metadata."""
    of_kind = (*_table()["kinds"].get(kind, ()), *_BY_SERVER.get(kind, ()))
    found = {_path(path) for path in (*of_kind, *(f"metadata.{name}" for name in _METADATA))}
    pointer = pod_template_pointer({"kind": kind})
    if pointer is not None:
        found |= {(*pointer.split("/")[1:], "spec", *path) for path in pod_values()}
    return frozenset(found)


@cache
def empty_objects() -> frozenset[str]:
    """Objects that are filled in without anything in them: only whether they are there depends on it."""
    table = _table()
    tables = (table["pod"], table["container"], *table["kinds"].values())
    return frozenset(_path(path)[-1] for values in tables for path, value in values.items() if value == {})


def depends_on_defaulting(kind: str, path: Path) -> bool:
    """Whether an expression that reads `path` reads what is filled in: such a field, or something in it.

    ITEM in `path` stands for any item. A path that ends above (`spec`) reads no such field by itself.
    `object.spec.restartPolicy` is there in the cluster even where the manifest says nothing.
    """
    return any(_is_at_or_below(path, defaulted) for defaulted in defaulted_paths(kind))


def _is_at_or_below(path: Path, defaulted: Path) -> bool:
    if len(path) < len(defaulted) or (len(path) > len(defaulted) and defaulted[-1] in empty_objects()):
        return False
    return all(ITEM in (step, known) or step == known for step, known in zip(path, defaulted, strict=False))


def _path(dotted: str) -> Path:
    return tuple(dotted.split("."))


@cache
def _table() -> dict[str, Any]:
    return read_json(DEFAULTS)
