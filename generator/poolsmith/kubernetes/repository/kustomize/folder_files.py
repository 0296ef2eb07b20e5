"""The files that a kustomization names, by paths relative to its folder."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings, words
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.kustomize.fields import TRANSFORMER_FIELDS
from poolsmith.kubernetes.repository.kustomize.item import RefusedError
from poolsmith.kubernetes.repository.manifest_files import YAML_ENDINGS, documents_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

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
