"""Kustomizations: written so that each builds alone, and read back as kustomize would."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import copied, value_at
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.operands.manifest import Manifest, ManifestTree
from poolsmith.project.output.shared_parts import patched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
