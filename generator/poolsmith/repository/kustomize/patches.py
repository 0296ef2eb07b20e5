"""Patches of a kustomization on the objects that they are for."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from poolsmith.record import record
from poolsmith.repository.delivered import Delivered, Layer, Unknown, delivered
from poolsmith.repository.kustomize.json_patch import BadPatchError, apply
from poolsmith.repository.kustomize.names import PREVIOUS
from poolsmith.repository.kustomize.strategic_merge import is_built_in, merge
from poolsmith.sources.inner_text import InnerText
from poolsmith.sources.pod_template import mapping, word
from poolsmith.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.repository.kustomize.fields import Place
    from poolsmith.repository.repository_files import RepositoryFiles
    from poolsmith.sources.source_file import SourceFile

_MOST_SELECTOR = 300


@record(kw_only=False)
class _Patch:
    """One document of a patch: a fragment of an object, or a list of operations."""

    data: Any
    source: SourceFile
    pointer: str = ""


def patched(
    objects: list[Delivered],
    data: Mapping[str, Any],
    place: Place,
    files: RepositoryFiles,
    folder: str,
    unknown: list[Unknown],
    fields: tuple[str, ...],
) -> list[Delivered]:
    """The objects with the patches of some fields of the kustomization on them."""
    result = list(objects)
    for field in fields:
        listed = data.get(field)
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            pointer = f"/{field}/{index}"
            target = entry.get("target") if isinstance(entry, dict) else None
            options = mapping(entry.get("options")) if isinstance(entry, dict) else {}
            for patch in _documents(entry, place, pointer, files, folder, unknown):
                try:
                    result = _on(result, patch, target, options)
                except BadPatchError as error:
                    unknown.append(
                        Unknown(place.locate(pointer), f"what comes of a patch that can't be applied: {error}")
                    )
    return result


def _documents(
    entry: Any, place: Place, pointer: str, files: RepositoryFiles, folder: str, unknown: list[Unknown]
) -> Iterator[_Patch]:
    if isinstance(entry, str):
        inline, path, at = (entry if "\n" in entry else ""), entry, pointer
    else:
        inline, path, at = word(mapping(entry).get("patch")), word(mapping(entry).get("path")), f"{pointer}/patch"
    if inline:
        try:
            documents = read_documents(inline, [])
        except YamlProblem:
            unknown.append(Unknown(place.locate(at), "what a patch changes that is no YAML"))
            return
        for index, found in enumerate(documents):
            if found is not None:
                yield _Patch(found, InnerText(place.source, place.pointer(at), inline, found, document=index))
        return
    shown = posixpath.normpath(posixpath.join(folder, path))
    documents_of_file = files.documents(shown) if path and not shown.startswith("../") and files.is_file(shown) else ()
    if not documents_of_file:
        unknown.append(
            Unknown(place.locate(pointer), f"what the patch `{path[:60]}` changes, which is not among the files")
        )
    for document in documents_of_file:
        yield _Patch(document.data, document.source)


def _on(objects: list[Delivered], patch: _Patch, target: Any, options: Mapping[str, Any]) -> list[Delivered]:
    result: list[Delivered] = []
    for item in objects:
        if not _is_for(item, patch, target):
            result.append(item)
            continue
        changed = _applied(item, patch, options)
        if changed is not None:
            result.append(changed)
    return result


def _applied(item: Delivered, patch: _Patch, options: Mapping[str, Any]) -> Delivered | None:
    """None: the patch deletes the object."""
    if isinstance(patch.data, list):
        body, put = apply(item.data, patch.data)
        layers = tuple(
            Layer(patch.source, found.value, f"{patch.pointer}/{found.index}/value", found.at) for found in put
        )
        return delivered(item, body, layers)
    body = merge(item.data, patch.data, built_in=is_built_in(item.api_version))
    if body is None:
        return None
    body["apiVersion"] = item.data.get("apiVersion")
    if not options.get("allowKindChange"):
        body["kind"] = item.data.get("kind")
    if not options.get("allowNameChange") and isinstance(body.get("metadata"), dict):
        body["metadata"] = {**body["metadata"]}
        for key in ("name", "namespace"):
            if key in item.metadata:
                body["metadata"][key] = item.metadata[key]
            else:
                body["metadata"].pop(key, None)
    return delivered(item, body, (Layer(patch.source, patch.data, patch.pointer),))


def _is_for(item: Delivered, patch: _Patch, target: Any) -> bool:
    if isinstance(target, dict):
        return selects(target, item)
    data = mapping(patch.data)
    metadata = mapping(data.get("metadata"))
    names = (item.metadata.get("name"), *item.metadata.get(PREVIOUS, ()))
    if data.get("kind") != item.kind or metadata.get("name") not in names:
        return False
    if _group(word(data.get("apiVersion"))) != _group(item.api_version):
        return False
    namespace = metadata.get("namespace")
    return not namespace or item.metadata.get("namespace") in (None, namespace)


def selects(target: Mapping[str, Any], item: Delivered) -> bool:
    """Whether a selector of kustomize chooses an object: expressions that match as a whole."""
    group, _, version = item.api_version.rpartition("/")
    metadata = item.metadata
    names = (metadata.get("name"), *metadata.get(PREVIOUS, ()))
    fields = {"group": (group,), "version": (version,), "kind": (item.kind,), "name": names}
    fields["namespace"] = (metadata.get("namespace") or "",)
    for key, present in fields.items():
        wanted = word(target.get(key))
        if wanted and not any(_matches(wanted, str(text)) for text in present):
            return False
    labels, annotations = mapping(metadata.get("labels")), mapping(metadata.get("annotations"))
    return _selected(word(target.get("labelSelector")), labels) and _selected(
        word(target.get("annotationSelector")), annotations
    )


def _matches(pattern: str, text: str) -> bool:
    if len(pattern) > _MOST_SELECTOR:
        return False
    if pattern == text or re.fullmatch(r"[\w./-]*", pattern):
        return pattern == text
    from poolsmith.repository.kustomize.expression import matches  # on demand

    return matches(pattern, text)


def _selected(selector: str, marks: Mapping[str, Any]) -> bool:
    for term in re.split(r",(?![^(]*\))", selector) if selector else ():
        text = term.strip()
        if found := re.fullmatch(r"(\S+?)\s*(==|=|!=)\s*(\S*)", text):
            if (marks.get(found[1]) == found[3]) is (found[2] == "!="):
                return False
        elif found := re.fullmatch(r"(\S+)\s+(in|notin)\s+\(([^)]*)\)", text):
            values = {value.strip() for value in found[3].split(",")}
            if (marks.get(found[1]) in values) is (found[2] == "notin"):
                return False
        elif (text.removeprefix("!") in marks) is text.startswith("!"):
            return False
    return True


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]
