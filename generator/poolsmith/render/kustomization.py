"""Kustomizations: written so that each builds alone, and read back as kustomize would. Floor: render."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.model.manifest import Manifest, ManifestTree

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "kustomization.yaml"
API_VERSION = "kustomize.config.k8s.io/v1beta1"


def kustomization(
    folder: str, resources: list[str], header: tuple[str, ...], generator: dict[str, Any] | None = None
) -> Manifest:
    """A kustomization over files and folders below `folder`. No transformers: namespaces stand in the objects."""
    body: dict[str, Any] = {"apiVersion": API_VERSION, "kind": "Kustomization"}
    if resources:
        body["resources"] = sorted(resources)
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
    objects.extend(_generated(generator, files, folder) for generator in body.get("configMapGenerator", ()))
    return objects


def _generated(generator: dict[str, Any], files: Mapping[str, bytes], folder: str) -> dict[str, Any]:
    data = {}
    for entry in generator["files"]:
        key, _, file = entry.partition("=")
        data[key] = files[posixpath.normpath(f"{folder}/{file}")].decode()
    metadata = {
        "name": generator["name"],
        "namespace": generator["namespace"],
        "labels": generator["options"]["labels"],
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
