"""Which files are built together: the kustomizations at the top, and all that each of them takes in."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

_TAKES_IN = ("resources", "components", "bases")
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
_CHANGES = (*_PATCHES, "components", "replacements", "transformers", "vars")


def patch_files(tree: CheckedTree) -> set[str]:
    """Files that a kustomization takes as patches: parts of objects, and no objects."""
    return {path for document in tree.kustomizations for path in _paths(document, _PATCHES)}


def changed_files(tree: CheckedTree) -> set[str]:
    """Files whose objects some kustomization changes on the way: what stands in them is not all that is applied."""
    takes = {folder_of(document.path): list(_paths(document, _TAKES_IN)) for document in tree.kustomizations}
    changing = [folder_of(document.path) for document in tree.kustomizations if any(map(document.data.get, _CHANGES))]
    return {path for folder in changing for path in _reached(folder, takes)}


def files_of_kustomizations(tree: CheckedTree) -> dict[str, frozenset[str]]:
    """By folder of a kustomization the files whose objects it builds, its bases' too."""
    takes = {folder_of(document.path): list(_paths(document, _TAKES_IN)) for document in tree.kustomizations}
    return {folder: frozenset(_reached(folder, takes)) for folder in takes}


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _reached(root: str, takes: dict[str, list[str]]) -> Iterator[str]:
    """The files below a kustomization, each once."""
    pending, seen = [root], {root}
    while pending:
        for path in takes[pending.pop()]:
            if path in seen:
                continue
            seen.add(path)
            if path in takes:
                pending.append(path)
            else:
                yield path


def _paths(document: CheckedDocument, keys: tuple[str, ...]) -> Iterator[str]:
    """Relative to where the paths of the tree are; a patch may stand in a field `path`, or be a text itself."""
    folder = folder_of(document.path)
    for key in keys:
        listed = document.data.get(key)
        for entry in listed if isinstance(listed, list) else ():
            path = entry.get("path") if isinstance(entry, dict) else entry
            if isinstance(path, str) and "\n" not in path:
                found = posixpath.normpath(posixpath.join(folder, path))
                yield "" if found == "." else found
