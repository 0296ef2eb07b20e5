"""The last steps of a build: hashes, references that follow, variables, what is left out, and the order.

Source: kustomize api/internal/target/kusttarget.go (makeCustomizedResMap) and api/krusty/kustomizer.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, words
from poolsmith.kubernetes.repository.delivered import delivered
from poolsmith.kubernetes.repository.kustomize.follow import followed
from poolsmith.kubernetes.repository.kustomize.generators import with_hash
from poolsmith.kubernetes.repository.kustomize.item import Item, identity_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.repository.delivered import Delivered
    from poolsmith.kubernetes.repository.kustomize.name_references import NameReference

_LOCAL = "config.kubernetes.io/local-config"
_OWN = frozenset(
    (
        "config.kubernetes.io/index",
        "config.kubernetes.io/path",
        "config.k8s.io/id",
        "internal.config.kubernetes.io/index",
        "internal.config.kubernetes.io/path",
        "internal.config.kubernetes.io/seqindent",
        "internal.config.kubernetes.io/id",
        "internal.config.kubernetes.io/annotations-migration-resource-id",
    )
)
"""Annotations that kustomize takes for its own and removes."""
_FIRST = (
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
)
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def hashed(items: list[Item]) -> list[Item]:
    return [with_hash(item) if item.needs_hash else item for item in items]


def named(items: list[Item], references: tuple[NameReference, ...]) -> list[Item]:
    """With names that follow. Raises RefusedError."""
    return followed(items, references)


def printed(items: list[Item], top: Mapping[str, Any]) -> list[Delivered]:
    """The objects in kustomize's order; `top` are the fields of the kustomization that is built."""
    objects = [_plain(item.object) for item in items if not _is_local(item.data)]
    if "managedByLabel" in words(top.get("buildMetadata")):
        objects = [_managed(item) for item in objects]
    options = mapping(top.get("sortOptions"))
    if options and options.get("order") != "legacy":
        return objects
    legacy = mapping(options.get("legacySortOptions"))
    first = tuple(words(legacy.get("orderFirst"))) if legacy else _FIRST
    last = tuple(words(legacy.get("orderLast"))) if legacy else _LAST
    ranks = {kind: at - len(first) for at, kind in enumerate(first)}
    ranks |= {kind: at + 1 for at, kind in enumerate(last)}
    return sorted(objects, key=lambda item: _rank(item, ranks))


def _rank(item: Delivered, ranks: dict[str, int]) -> tuple[Any, ...]:
    own = identity_of(item.data)
    kind = f"{own.group or '~G'}_{own.version or '~V'}_{own.kind or '~K'}"
    return ranks.get(own.kind, 0), kind, own.namespace or "~X", own.name or "~N"


def _is_local(data: Any) -> bool:
    annotations = mapping(mapping(data.get("metadata")).get("annotations"))
    return _LOCAL in annotations and text_of(annotations[_LOCAL]) != "false"


def _plain(item: Delivered) -> Delivered:
    """Annotations are texts, and not there where there are none."""
    metadata = item.data.get("metadata")
    if not isinstance(metadata, dict) or "annotations" not in metadata:
        return item
    old = metadata["annotations"]
    if isinstance(old, dict) and old and all(type(value) is str and key not in _OWN for key, value in old.items()):
        return item
    new = {key: _text(item, key, value) for key, value in mapping(old).items() if key not in _OWN}
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return delivered(item, {**item.data, "metadata": {**rest, "annotations": new} if new else rest})


def _text(item: Delivered, key: str, value: Any) -> str:
    """As it is written: `1.10` is a number that ends in zero, `yes` is no `true`."""
    if not isinstance(value, str):
        from poolsmith.core.sources.pointer import join  # on demand

        written = item.source.written(join("/metadata/annotations", key))
        if written is not None:
            return written
    return text_of(value)


def _managed(item: Delivered) -> Delivered:
    metadata = mapping(item.data.get("metadata"))
    labels = {**mapping(metadata.get("labels")), "app.kubernetes.io/managed-by": "kustomize"}
    return delivered(item, {**item.data, "metadata": {**metadata, "labels": labels}})
