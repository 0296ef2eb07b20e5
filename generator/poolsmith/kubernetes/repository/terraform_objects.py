"""Kubernetes objects that Terraform applies: those with a type of their own, and whole manifests.

Sources: registry.terraform.io: hashicorp/kubernetes (kubernetes_config_map, kubernetes_manifest and others),
alekc/kubectl and gavinbunney/kubectl (kubectl_manifest).
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.hcl_file import COMPUTED, HclFile, OpenText, without_computed
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import mapped
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.kubernetes.repository.delivered import Delivered, Layer
from poolsmith.kubernetes.repository.infrastructure_code import is_switched_off
from poolsmith.kubernetes.repository.manifest_files import LATER, is_terraform, without_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from poolsmith.core.sources.hcl_file import HclBlock
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
    from poolsmith.kubernetes.repository.terraform_scope import TerraformScopes

_MANIFESTS = {"kubernetes_manifest": "manifest", "kubectl_manifest": "yaml_body"}
_FIELDS = {
    "ConfigMap": {"data": "data", "binary_data": "binaryData"},
    "Secret": {"data": "stringData", "binary_data": "data"},
    "Namespace": {},
    "PriorityClass": {"value": "value"},
    "RuntimeClass": {"handler": "handler"},
}
"""Of the objects with a type of their own, by their names in Terraform."""
_TYPED = {
    f"kubernetes_{name}{version}": (group, kind)
    for group, name, kind in (
        ("v1", "config_map", "ConfigMap"),
        ("v1", "secret", "Secret"),
        ("v1", "namespace", "Namespace"),
        ("scheduling.k8s.io/v1", "priority_class", "PriorityClass"),
        ("node.k8s.io/v1", "runtime_class", "RuntimeClass"),
    )
    for version in ("", "_v1")
}
_MARKS = ('"kubernetes_', '"kubectl_', "resource kubernetes_", "resource kubectl_")
"""Of a type, which may stand without quotes; `kubernetes_version` is said in many files beside."""


def terraform_objects(
    paths: Iterable[str], files: RepositoryFiles, scopes: Callable[[], TerraformScopes]
) -> list[Delivered]:
    """Those with a name that is known. Of several with one name, of which switches leave one, the one that the defaults
    of variables leave."""
    declaring = [path for path in paths if is_terraform(path) and _may_declare(files.text(path) or "", files)]
    found: dict[tuple[str, ...], tuple[bool, Delivered]] = {}
    for path in declaring:
        for block in next(scopes().readings(path), ()):
            is_on = block.data.get("count") != 0
            for layers, data in _of_block(block, files):
                item = _object(block, layers, data, len(found))
                name = (posixpath.dirname(path), item.api_version, item.name, str(item.metadata.get("namespace")))
                if item.metadata.get("name") and (name not in found or (is_on and not found[name][0])):
                    found[name] = is_on, item
    return [item for _, item in found.values()]


def _may_declare(text: str, files: RepositoryFiles) -> bool:
    is_asked_for = files.is_of_interest is None or files.is_of_interest(text.encode())
    return is_asked_for and any(mark in text for mark in _MARKS)


def _object(block: HclBlock, layers: tuple[Layer, ...], data: Any, index: int) -> Delivered:
    known, is_whole = without_computed(data)
    return Delivered(block.source.path, index, known, block.source.text, None, not is_whole, layers)


def _of_block(block: HclBlock, files: RepositoryFiles) -> Iterable[tuple[tuple[Layer, ...], Any]]:
    """What is written of each object, and where."""
    kind = block.labels[0] if block.kind == "resource" and block.labels else ""
    if is_switched_off(block):
        return ()
    if kind in _MANIFESTS:
        return _of_manifest(block, _MANIFESTS[kind], files)
    return [_of_type(block, *_TYPED[kind], files)] if kind in _TYPED else ()


def _of_manifest(block: HclBlock, field: str, files: RepositoryFiles) -> Iterable[tuple[tuple[Layer, ...], Any]]:
    written, pointer = block.data.get(field), f"/{field}"
    if isinstance(written, str):
        text = without_marks(written) if isinstance(written, OpenText) else written
        for index, data in enumerate(read_if_yaml(text)):
            layer = Layer(InnerText(block.source, pointer, text, data, document=index), data)
            yield (layer,), mapped(data, _without_later)
    elif isinstance(written, dict):
        yield (Layer(block.source, written, pointer),), _with_files(written, block, files)


def _without_later(value: Any) -> Any:
    return COMPUTED if isinstance(value, str) and LATER in value else value


def _of_type(block: HclBlock, version: str, kind: str, files: RepositoryFiles) -> tuple[tuple[Layer, ...], Any]:
    held = block.data.get("metadata")
    metadata = mapping(held[0]) if isinstance(held, list) and held else {}
    own = {field: key for key, field in _FIELDS[kind].items() if key in block.data}
    layers = [Layer(block.source, {}), Layer(block.source, metadata, "/metadata/0", "/metadata")]
    layers += [Layer(block.source, block.data[key], f"/{key}", f"/{field}") for field, key in own.items()]
    fields = {field: _with_files(block.data[key], block, files) for field, key in own.items()}
    return tuple(layers), {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def _with_files(node: Any, block: HclBlock, files: RepositoryFiles) -> Any:
    """With the texts of files that it names."""
    if isinstance(node, dict):
        return {key: _with_files(item, block, files) for key, item in node.items()}
    if isinstance(node, HclFile) and not node.is_template:
        return files.text(posixpath.normpath(posixpath.join(posixpath.dirname(block.source.path), node.path))) or ""
    return node
