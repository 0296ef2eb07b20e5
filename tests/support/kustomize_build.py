"""What kustomize builds of a generated tree, from what is in memory; the real one is asked by tests/real_tools."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from poolsmith.core.sources.pointer import copied, split, value_at
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.operands.manifest import ManifestTree
from poolsmith.project.output.kustomization import FILE, generated_config_maps

_END = "-"


def build(tree: ManifestTree, files: Mapping[str, bytes], folder: str) -> list[dict[str, Any]]:
    """The objects that `kustomize build <folder>` yields, from what is in memory.

    `files` are the tree's bytes by path; a generator reads them.
    """
    by_path = {manifest.path: manifest for manifest in tree.manifests}
    body = by_path[f"{folder}/{FILE}"].documents[0]
    objects: list[dict[str, Any]] = []
    for resource in body.get("resources", ()):
        path = posixpath.normpath(f"{folder}/{resource}")
        if path in by_path:
            objects.extend(by_path[path].documents)
        else:
            objects.extend(build(tree, files, path))
    objects.extend(item for item, _ in generated_config_maps(by_path[f"{folder}/{FILE}"], files))
    for patch in body.get("patches", ()):
        target, operations = patch["target"], read_documents(patch["patch"])[0]
        objects = [
            patched(item, operations)
            if (item["kind"], item["metadata"]["name"]) == (target["kind"], target["name"])
            else item
            for item in objects
        ]
    return renamed(objects, body["nameSuffix"]) if "nameSuffix" in body else objects


def patched(base: Any, operations: Sequence[dict[str, Any]]) -> Any:
    """`base` with the operations applied; of RFC 6902 what `patches` writes."""
    tree = copied(base)
    for operation in operations:
        *above, last = split(operation["path"])
        node = tree
        for step in above:
            node = node[int(step) if isinstance(node, list) else step]
        if isinstance(node, dict):
            node[last] = copied(operation["value"])
        elif last == _END:
            node.append(copied(operation["value"]))
        else:
            node[int(last)] = copied(operation["value"])
    return tree


def renamed(objects: list[dict[str, Any]], suffix: str) -> list[dict[str, Any]]:
    """With a suffix to every name, and to what refers to one: of accounts, roles and ConfigMaps of pods."""
    names = {(item["kind"], item["metadata"]["name"]) for item in objects}

    def follow(holder: dict[str, Any] | None, key: str, kind: str) -> None:
        if holder is not None and (kind, holder.get(key)) in names:
            holder[key] += suffix

    found = copied(objects)
    for item in found:
        item["metadata"]["name"] += suffix
        follow(item.get("roleRef"), "name", "Role")
        for subject in item.get("subjects", ()):
            follow(subject, "name", "ServiceAccount")
        pod = value_at(item, ("spec", "template", "spec"))
        follow(pod, "serviceAccountName", "ServiceAccount")
        for volume in value_at(pod, ("volumes",), ()):
            follow(volume.get("configMap"), "name", "ConfigMap")
    return list(found)
