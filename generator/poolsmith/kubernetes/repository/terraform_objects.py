"""Kubernetes objects that Terraform applies: those with a type of their own, and whole manifests.

Source: registry.terraform.io: hashicorp/kubernetes (kubernetes_config_map, kubernetes_secret, kubernetes_manifest).
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.hcl_file import COMPUTED, HclFile, without_computed
from poolsmith.core.sources.pod_template import mapping
from poolsmith.kubernetes.repository.infrastructure_code import blocks_of
from poolsmith.kubernetes.repository.manifest_files import is_terraform

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.hcl_file import HclBlock
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_TYPED = {
    f"kubernetes_{name}{version}": kind
    for name, kind in (("config_map", "ConfigMap"), ("secret", "Secret"), ("priority_class", "PriorityClass"))
    for version in ("", "_v1")
}
_MANIFEST, _METADATA = "kubernetes_manifest", "/metadata"


@record
class TerraformObject:
    """`at` is where the object's fields begin in the block; those of a type of its own have a list for `metadata`."""

    block: HclBlock
    data: dict[str, Any]
    at: str

    def place(self, pointer: str, note: str | None = None) -> Location:
        own = pointer if self.at or not pointer.startswith(_METADATA) else f"/metadata/0{pointer[len(_METADATA) :]}"
        return self.block.source.locate(self.at + own, note)


def terraform_objects(paths: Iterable[str], files: RepositoryFiles) -> Iterator[TerraformObject]:
    """Of which the name is a literal; keys whose texts are computed are there."""
    for path in paths:
        text = files.text(path) if is_terraform(path) else None
        for block in blocks_of(text, path) if text is not None and "kubernetes_" in text else ():
            kind = block.labels[0] if block.kind == "resource" and block.labels else ""
            if kind == _MANIFEST:
                if data := _read(mapping(block.data.get("manifest")), path, files):
                    yield TerraformObject(block=block, data=data, at="/manifest")
            elif kind in _TYPED and block.data.get("count") != 0:
                yield from _typed(block, _TYPED[kind], path, files)


def _typed(block: HclBlock, kind: str, path: str, files: RepositoryFiles) -> Iterator[TerraformObject]:
    held = block.data.get("metadata")
    metadata, _ = without_computed(held[0] if isinstance(held, list) and held else {})
    if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
        group = "scheduling.k8s.io/" if kind == "PriorityClass" else ""
        data = {"apiVersion": f"{group}v1", "kind": kind, "metadata": metadata}
        data |= {field: _read(block.data[key], path, files) for key, field in _FIELDS.items() if key in block.data}
        yield TerraformObject(block=block, data=data, at="")


_FIELDS = {"data": "data", "binary_data": "binaryData"}


def _read(node: Any, path: str, files: RepositoryFiles) -> Any:
    """With the texts of files that it names; of what is computed an empty one, for its key is there."""
    if isinstance(node, dict):
        return {key: _read(item, path, files) for key, item in node.items() if isinstance(key, str)}
    if isinstance(node, HclFile):
        return files.text(posixpath.normpath(posixpath.join(posixpath.dirname(path), node.path))) or ""
    return "" if node is COMPUTED else node
