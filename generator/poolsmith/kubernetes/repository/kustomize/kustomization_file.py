"""A kustomization: where its fields stand, which files it names, and the types at which kustomize stops.

Paths are relative to the kustomization's folder. Kustomize stops at an unknown field and at a wrong type.

Source: kustomize api/types. Go reads the names of fields in whichever case, and null for nothing.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings, words
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.kustomization_fields import Type, kustomization_fields
from poolsmith.kubernetes.repository.kustomize.item import RefusedError
from poolsmith.kubernetes.repository.manifest_files import KUSTOMIZE_VERSIONS, YAML_ENDINGS, documents_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


TRANSFORMER_FIELDS = ("patches", "patchesStrategicMerge", "patchesJson6902")
"""Fields that list files of patches."""


class Place:
    """The kustomization's own document."""

    def __init__(self, document: CheckedDocument) -> None:
        self._document = document

    @property
    def source(self) -> SourceFile:
        return self._document.source

    def pointer(self, pointer: str) -> str:
        """From a field of a kustomization to where it stands in the source."""
        return pointer

    def locate(self, pointer: str) -> Location:
        return self.source.locate(self.pointer(pointer))


class PlainPlace(Place):
    """Fields that stand in another object, below a pointer and with names of their own."""

    def __init__(self, source: SourceFile, pointer: str, names: Mapping[str, str]) -> None:
        self._source, self._top, self._names = source, pointer, names

    @property
    def source(self) -> SourceFile:
        return self._source

    def pointer(self, pointer: str) -> str:
        first, slash, rest = pointer[1:].partition("/")
        return f"{self._top}/{self._names.get(first, first)}{slash}{rest}"


_REMOTE = ("git@", "git::", "github.com/", "ssh://", "file://", "http://", "https://", "s3::", "oci://", "gh:")


class MissingError(Exception):
    """A file that is not among those of the run, or that can't be read."""


def is_remote(path: str) -> bool:
    """Whether kustomize would fetch it."""
    return path.startswith(_REMOTE) or "://" in path or "?ref=" in path or "?version=" in path


def joined(folder: str, path: str) -> str | None:
    """A path of the repository; None of an address, and of a path that leads out of it."""
    if is_remote(path) or "\n" in path or path.startswith("/"):
        return None
    found = posixpath.normpath(posixpath.join(folder, path))
    return None if found.startswith("..") else "" if found == "." else found


class FolderFiles:
    """`is_strict`: files outside of the folder are refused, as `kustomize build` does and Flux does not."""

    def __init__(self, files: RepositoryFiles, folder: str, *, is_strict: bool) -> None:
        self.folder = folder
        self.all = files
        self.taken: set[str] = set()
        self._is_strict = is_strict

    def path(self, path: str) -> str:
        """The path in the repository of a file that has to be there."""
        shown = joined(self.folder, path)
        if shown is None or not self.all.is_file(shown):
            raise MissingError(f"`{first_line(path)}`, which is not among the files")
        if self._is_strict and self.folder and not shown.startswith(f"{self.folder}/"):
            raise RefusedError(f"`{first_line(path)}` is outside of the kustomization's folder")
        self.taken.add(shown)
        return shown

    def documents(self, path: str) -> tuple[CheckedDocument, ...]:
        shown = self.path(path)
        found = self.all.documents(shown)
        if not found and not shown.endswith(YAML_ENDINGS):
            text = self.text(path)
            try:
                found = tuple(documents_of(shown, text, read_documents(text, [])))
            except YamlProblem:
                found = ()
        if not found:
            raise MissingError(f"`{first_line(path)}`, which holds no YAML that can be read")
        return found

    def text(self, path: str) -> str:
        text = self.all.text(self.path(path))
        if text is None:
            raise MissingError(f"`{first_line(path)}`, which is no text that can be read")
        return text

    def parsed(self, path: str) -> Any:
        return self.documents(path)[0].data


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:60]


def _patch_paths(data: Mapping[str, Any], folder: str) -> Iterator[str]:
    for key in TRANSFORMER_FIELDS:
        for entry in _listed(data.get(key)):
            path = mapping(entry).get("path") if isinstance(entry, dict) else entry
            shown = joined(folder, path) if isinstance(path, str) else None
            if shown is not None:
                yield shown


def declared_files(data: Mapping[str, Any], folder: str) -> Iterator[str]:
    """The files that a kustomization takes as parts: patches, and files of generators."""
    yield from _patch_paths(data, folder)
    for key in ("configMapGenerator", "secretGenerator"):
        for entry in mappings(data.get(key)):
            for listed in (*words(entry.get("files")), *words(entry.get("envs"))):
                shown = joined(folder, listed.rpartition("=")[2])
                if shown is not None:
                    yield shown


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_SHOWN = {"text": "a text", "flag": "true or false", "number": "a whole number", "pairs": "texts by name"}


def wrong_fields(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Places in a kustomization that kustomize can't read, and why not."""
    yield from _wrong(data, kustomization_fields(), "")
    kind = data.get("kind") or "Kustomization"
    if not isinstance(kind, str) or kind not in KUSTOMIZE_VERSIONS:
        yield "/kind", "it has to be Kustomization or Component"
    elif data.get("apiVersion") and data["apiVersion"] != KUSTOMIZE_VERSIONS[kind]:
        yield "/apiVersion", f"that of a {kind} is {KUSTOMIZE_VERSIONS[kind]}"


def _wrong(value: Any, type_: Type, at: str) -> Iterator[tuple[str, str]]:
    from poolsmith.core.sources.pointer import join  # on demand

    if value is None or type_ == "any":
        return
    if isinstance(type_, dict):
        if not isinstance(value, dict):
            yield at, "it has to be a mapping"
            return
        known = {name.lower(): below for name, below in type_.items()}
        for key, item in value.items():
            if key.lower() not in known:
                yield join(at, key), f"kustomize has no field `{key[:60]}` here"
            else:
                yield from _wrong(item, known[key.lower()], join(at, key))
    elif isinstance(type_, list) or type_ == "texts":
        if not isinstance(value, list):
            yield at, "it has to be a list"
            return
        for index, item in enumerate(value):
            yield from _wrong(item, type_[0] if isinstance(type_, list) else "text", join(at, index))
    elif not _fits(value, type_):
        yield at, f"it has to be {_SHOWN[type_]}"


def _fits(value: Any, type_: str) -> bool:
    if type_ == "pairs":
        return isinstance(value, dict) and all(item is None or isinstance(item, str) for item in value.values())
    if type_ == "number":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, bool if type_ == "flag" else str)
