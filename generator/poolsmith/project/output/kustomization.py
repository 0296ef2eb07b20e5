"""Kustomizations that each build alone, and JSON patches between several trees.

Trees are reduced to what they have in common, and JSON patches (RFC 6902) that make each of them out of it.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING, copied, join
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.operands.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_END = "-"
_CONTAINERS = ("containers", "initContainers")
"""Lists whose items are of use in part; a volume or a variable is not."""


def common(trees: Sequence[Any], key: str = "") -> Any:
    """The part of all trees that is the same; MISSING where there is none. `key` is where they stand.

    Of mappings the keys that all have, of lists the items that they begin with, of containers also parts.
    """
    first, *others = trees
    if all(other == first for other in others):
        return copied(first)
    if all(isinstance(tree, dict) for tree in trees):
        everywhere = [name for name in first if all(name in tree for tree in others)]
        shared = {name: common([tree[name] for tree in trees], name) for name in everywhere}
        return {name: value for name, value in shared.items() if value is not MISSING}
    if all(isinstance(tree, list) for tree in trees):
        return _common_start(trees, in_parts=key in _CONTAINERS)
    return MISSING


def _common_start(lists: Sequence[list[Any]], *, in_parts: bool) -> Any:
    found = []
    for items in zip(*lists, strict=False):
        part = common(items) if in_parts or all(item == items[0] for item in items) else MISSING
        if part is MISSING:
            break
        found.append(part)
    return found or MISSING


def patches(base: Any, target: Any, *path: str) -> Iterator[dict[str, Any]]:
    """Operations that turn `base`, the common part of `target` and others, into `target`."""
    if base == target:
        return
    if isinstance(base, dict) and isinstance(target, dict) and base.keys() <= target.keys():
        for key, value in target.items():
            if key in base:
                yield from patches(base[key], value, *path, key)
            else:
                yield {"op": "add", "path": join("", *path, key), "value": value}
    elif isinstance(base, list) and isinstance(target, list) and len(base) <= len(target):
        for index, value in enumerate(target):
            if index < len(base):
                yield from patches(base[index], value, *path, str(index))
            else:
                yield {"op": "add", "path": join("", *path, _END), "value": value}
    else:
        yield {"op": "replace", "path": join("", *path), "value": target}


FILE = "kustomization.yaml"
API_VERSION = "kustomize.config.k8s.io/v1beta1"


@record(kw_only=False)
class Variant:
    """The objects of a base under names of their own; `patches` are JSON patches by kind and name in the base."""

    suffix: str
    patches: dict[tuple[str, str], list[dict[str, Any]]]


def kustomization(
    folder: str,
    resources: list[str],
    header: tuple[str, ...],
    generator: dict[str, Any] | None = None,
    variant: Variant | None = None,
) -> Manifest:
    """A kustomization over files and folders, written from `folder`. Namespaces stand in the objects, always."""
    body: dict[str, Any] = {"apiVersion": API_VERSION, "kind": "Kustomization"}
    if resources:
        body["resources"] = sorted(resources)
    if variant is not None:
        body["nameSuffix"] = variant.suffix
        body["patches"] = [
            {"target": {"kind": kind, "name": name}, "patch": emit(operations)}
            for (kind, name), operations in variant.patches.items()
        ]
    if generator is not None:
        body["configMapGenerator"] = [generator]
    return Manifest(path=f"{folder}/{FILE}", documents=(body,), header=header, applied=False)


def config_map_from_file(*, name: str, namespace: str, key: str, file: str, labels: dict[str, str]) -> dict[str, Any]:
    """A generator that keeps the name as it is: what refers to it is no object that kustomize knows."""
    return {
        "name": name,
        "namespace": namespace,
        "files": [f"{key}={file}"],
        "options": {"disableNameSuffixHash": True, "labels": labels},
    }


def generated_config_maps(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[tuple[dict[str, Any], str]]:
    """What a kustomization makes of files, each with the path of its file; of another manifest nothing."""
    folder, _, name = manifest.path.rpartition("/")
    for generator in manifest.documents[0].get("configMapGenerator", ()) if name == FILE else ():
        data = {}
        for entry in generator["files"]:
            key, _, file = entry.partition("=")
            path = posixpath.normpath(f"{folder}/{file}")
            data[key] = files[path].decode()
        metadata = {
            "name": generator["name"],
            "namespace": generator["namespace"],
            "labels": generator["options"]["labels"],
        }
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}, path
