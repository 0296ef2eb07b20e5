"""One definition per object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.manifests.kustomization_resource import resource_paths
from poolsmith.kubernetes.repository.kustomize_roots import patch_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM512")
_NO_OBJECTS = frozenset(("Kustomization", "Component"))
_FILLED_IN = ("${", "{{", "<%")


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    parts = patch_files(tree)
    takers = _takers(tree)
    seen: dict[tuple[str, ...], CheckedDocument] = {}
    for document in tree.objects:
        identity = _identity(document)
        if identity is None or document.path in parts:
            continue
        first = document
        for place in (document.path, *takers.get(document.path, ())):
            known = seen.setdefault((place, *identity), document)
            first = known if first is document else first
        if (first.path, first.index) != (document.path, document.index):  # one file may reach a cluster on two ways
            yield Finding(
                message=f"{document.name} is defined twice {_where(first, document)}",
                place=document.source.locate("/metadata/name"),
                related=(first.source.locate("/metadata/name", "the first definition"),),
                subject=document.name,
            )


def _identity(document: CheckedDocument) -> tuple[str, ...] | None:
    """None where the object has no name of its own, or one that is filled in later."""
    name = document.metadata.get("name")
    namespace = str(document.metadata.get("namespace", ""))
    if not isinstance(name, str) or document.kind in _NO_OBJECTS:
        return None
    if any(mark in text for mark in _FILLED_IN for text in (name, namespace)):
        return None
    return document.api_version.rpartition("/")[0], document.kind, namespace, name


def _takers(tree: CheckedTree) -> dict[str, list[str]]:
    """By file the kustomizations that name it among their resources."""
    found: dict[str, list[str]] = {}
    for document in tree.kustomizations:
        for path in dict.fromkeys(resource_paths(document)):
            found.setdefault(path, []).append(f"{document.path} ")
    return found


def _where(first: CheckedDocument, second: CheckedDocument) -> str:
    return "in one file" if first.path == second.path else "in one kustomization"
