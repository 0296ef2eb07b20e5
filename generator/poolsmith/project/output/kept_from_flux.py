"""Objects whose texts Flux would rewrite: they carry the annotation that keeps it from them.

A Kustomization with `postBuild` puts values in for `${NAME}` and takes one of two dollar signs away, in all that it
applies; whether the one that applies these files has it, no profile says.

Source: fluxcd/pkg:envsubst, kustomize/kustomize_varsub.go.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.manifest import Manifest

_KEPT = {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}


def kept_from_flux(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The same, but for objects and generators of ConfigMaps that need the annotation."""
    found = list(manifests)
    by_path = {manifest.path: manifest for manifest in found}
    return [_kept(manifest, by_path) for manifest in found]


def _is_marked(node: Any) -> bool:
    if isinstance(node, str):
        return "$" in node and ("${" in node or "$$" in node)
    if isinstance(node, dict):
        return any(map(_is_marked, node)) or any(map(_is_marked, node.values()))
    return isinstance(node, list | tuple) and any(map(_is_marked, node))


def _kept(manifest: Manifest, by_path: Mapping[str, Manifest]) -> Manifest:
    documents = tuple(_document(manifest, document, by_path) for document in manifest.documents)
    if documents == manifest.documents:
        return manifest
    header = manifest.header if manifest.text is None else tuple(_opening(manifest.text))
    return replace(manifest, documents=documents, text=None, header=header)


def _opening(text: str) -> Iterator[str]:
    """The lines of the comment that a text begins with."""
    for line in text.splitlines():
        if not line.startswith("#"):
            return
        yield line[1:].removeprefix(" ")


def _document(manifest: Manifest, document: Any, by_path: Mapping[str, Manifest]) -> Any:
    if manifest.applied:
        needed = isinstance(mapping(document).get("metadata"), dict) and _is_marked(document)
        return {**document, "metadata": _annotated(document["metadata"])} if needed else document
    generators = list(mappings(mapping(document).get("configMapGenerator")))
    folder = posixpath.dirname(manifest.path)
    found = [
        _generator(item, [by_path[path] for path in _files(item, folder) if path in by_path]) for item in generators
    ]
    return {**document, "configMapGenerator": found} if generators else document


def _files(generator: dict[str, Any], folder: str) -> Iterator[str]:
    for entry in generator.get("files", ()):
        yield posixpath.normpath(posixpath.join(folder, entry.rpartition("=")[2]))


def _generator(generator: dict[str, Any], files: Iterable[Manifest]) -> dict[str, Any]:
    if not any(_is_marked((file.text, *file.documents)) for file in files):
        return generator
    return {**generator, "options": _annotated(generator.get("options", {}))}


def _annotated(holder: dict[str, Any]) -> dict[str, Any]:
    return {**holder, "annotations": {**holder.get("annotations", {}), **_KEPT}}
