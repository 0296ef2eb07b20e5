"""No fields that kustomize has deprecated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree

RULE = RuleInfo.of("PSM515")
_REPLACEMENTS = {
    "bases": "resources",
    "commonLabels": "labels",
    "patchesStrategicMerge": "patches",
    "patchesJson6902": "patches",
    "vars": "replacements",
}


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.kustomizations:
        for field, replacement in _REPLACEMENTS.items():
            if field in document.data:
                yield Finding(
                    message=f"`{field}` is deprecated",
                    place=document.source.locate(f"/{field}"),
                    help=f"use `{replacement}`",
                    subject=document.name,
                )
