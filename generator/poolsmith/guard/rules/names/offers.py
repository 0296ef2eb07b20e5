"""What objects supply under a name: themselves as they are applied, and what controllers make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import reached, value_at
from poolsmith.guard.rules.names.need import DEVICE_CLASS, Offer
from poolsmith.kubernetes.repository.delivered import LayeredSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.guard.rules.names.need import NamedObject

_MOST_PODS = 64
_HASHED = pattern(r"(.+)-[bcdfghkmt2456789]{10}")
_OPENED = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}
_GROUPS = {
    "ConfigMap": "",
    "Secret": "",
    "ServiceAccount": "",
    "Namespace": "",
    "PersistentVolumeClaim": "",
    "PriorityClass": "scheduling.k8s.io",
    "RuntimeClass": "node.k8s.io",
    **dict.fromkeys(("HelmRepository", "GitRepository", "OCIRepository", "Bucket"), "source.toolkit.fluxcd.io"),
    "HelmRelease": "helm.toolkit.fluxcd.io",
    "Kustomization": "kustomize.toolkit.fluxcd.io",
    **dict.fromkeys(("ClusterQueue", "LocalQueue", "ResourceFlavor", "WorkloadPriorityClass"), "kueue.x-k8s.io"),
    "ServingRuntime": "serving.kserve.io",
    "EC2NodeClass": "karpenter.k8s.aws",
    "NIMCache": "apps.nvidia.com",
    "CatalogSource": "operators.coreos.com",
    **dict.fromkeys(("ResourceClaim", "ResourceClaimTemplate", DEVICE_CLASS), "resource.k8s.io"),
}
"""The kinds that needs have, with their groups."""
_WAITED_FOR = {"HelmRelease": "Kustomization", "Kustomization": "HelmRelease"}


def offers_of(objects: Iterable[NamedObject]) -> Iterator[Offer]:
    suppliers = store.table("named_objects.yaml")["suppliers"]
    made_by = {row["kind"]: row for row in suppliers}
    for item in objects:
        if _GROUPS.get(item.kind) == item.group:
            yield _itself(item)
            if item.kind in _WAITED_FOR:
                yield _of_another_kind(item)
        elif item.kind == "StatefulSet":
            yield from _volumes_of(item)
        elif (row := made_by.get(item.kind)) is not None:
            made = value_at(item.data, row["path"].split(".")) if row["path"] else None
            for name in dict.fromkeys((word(made) or item.own_name, item.own_name)):
                keys = _made_keys(row, item)
                yield Offer(kind=row["makes"], name=name, namespace=_namespace(item), item=item, keys=keys)


def _made_keys(row: Mapping[str, Any], item: NamedObject) -> frozenset[str] | None:
    """None where something else may add to them."""
    if "keys" not in row or any(value_at(item.data, path.split(".")) is not None for path in row["open"]):
        return None
    found = [held for _, held in reached(item.data, row["keys"])]
    keys = frozenset(str(key) for held in found for key in (held if isinstance(held, dict) else (held,)))
    return keys or None


def _volumes_of(item: NamedObject) -> Iterator[Offer]:
    """Claims that it makes, one for each of its pods."""
    spec = mapping(item.data.get("spec"))
    number = spec.get("replicas", 1)
    for template in mappings(spec.get("volumeClaimTemplates")):
        name = f"{word(mapping(template.get('metadata')).get('name'))}-{item.own_name}"
        for index in range(min(number, _MOST_PODS) if isinstance(number, int) else 0):
            yield Offer(kind="PersistentVolumeClaim", name=f"{name}-{index}", namespace=_namespace(item), item=item)


def _of_another_kind(item: NamedObject) -> Offer:
    """A release of Flux is none of its Kustomizations, which wait for each other alone, and the other way round."""
    return Offer(kind=_WAITED_FOR[item.kind], name=item.name, item=item, calls=(item.own_name,), via=item.kind)


def _itself(item: NamedObject) -> Offer:
    held = {str(key) for part in _OPENED.get(item.kind, ()) for key in mapping(item.data.get(part))}
    return Offer(
        kind=item.kind,
        name=item.own_name,
        namespace=_namespace(item),
        calls=calls(item),
        item=item,
        keys=frozenset(held) if held else None,
    )


def _namespace(item: NamedObject) -> str:
    return word(item.metadata.get("namespace"))


def calls(item: NamedObject) -> tuple[str, ...]:
    """The names that it may have had before kustomize put a hash, a prefix or a suffix to it."""
    found = []
    if isinstance(item.source, LayeredSource):
        first = mapping(item.source.first_data)  # of a generator its entry
        found.append(word(mapping(first.get("metadata", first)).get("name")))
    if hashed := _HASHED.fullmatch(item.own_name):
        found.append(hashed[1])
    return tuple(name for name in dict.fromkeys(found) if name and name != item.own_name)
