"""What a kustomization names exists, and is named once."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM513")
_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.kustomizations:
        yield from _check_resources(document, tree)


def resource_paths(document: CheckedDocument) -> Iterator[str]:
    """What a kustomization names in its own tree, as paths from the tree's root."""
    resources = document.data.get("resources")
    for resource in resources if isinstance(resources, list) else ():
        if isinstance(resource, str) and not _is_remote(resource):
            yield _path_of(resource, document)


def _is_remote(resource: str) -> bool:
    return "://" in resource or resource.startswith(("git@", "github.com/"))


def _path_of(resource: str, document: CheckedDocument) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(document.path), resource))


def _check_resources(document: CheckedDocument, tree: CheckedTree) -> Iterator[Finding[Location]]:
    resources = document.data.get("resources")
    if not isinstance(resources, list):
        return
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        pointer = f"/resources/{index}"
        if not isinstance(resource, str):
            yield Finding(
                message="a resource is not a path", place=document.source.locate(pointer), subject=document.name
            )
            continue
        if _is_remote(resource):
            continue
        path = _path_of(resource, document)
        if path in seen:
            yield Finding(
                message=f"`{resource}` is named twice", place=document.source.locate(pointer), subject=document.name
            )
        seen.add(path)
        if not path.startswith("../") and path not in tree.paths and not _is_folder(path, tree):
            yield Finding(
                message=f"`{resource}` does not exist, or has no kustomization",
                place=document.source.locate(pointer),
                subject=document.name,
                help=_meant(resource, path, tree, {_path_of(word, document) for word in words(resources)}),
            )


def _meant(resource: str, path: str, tree: CheckedTree, named: set[str]) -> str | None:
    """A file beside it that is not named, and that differs by a slip of the pen."""
    folder, own = posixpath.dirname(path), posixpath.basename(path)
    beside = [item for item in tree.paths if posixpath.dirname(item) == folder and item not in named]
    name = nearest(own, sorted(map(posixpath.basename, beside)), certain=True)
    return None if name is None or not resource.endswith(own) else f"did you mean `{resource.removesuffix(own)}{name}`?"


def _is_folder(path: str, tree: CheckedTree) -> bool:
    return any(f"{path}/{name}" in tree.paths for name in _NAMES)
