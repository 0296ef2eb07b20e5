"""No fields that kustomize has deprecated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree

RULE = RuleInfo(
    code="PSM515",
    name="deprecated-kustomize-field",
    severity=Severity.NOTE,
    applies_to="manifest",
    what="A kustomization uses a field that kustomize has deprecated.",
    why="It still builds as before, with a warning, until you use a kustomize that no longer reads the field.",
    bad="kind: Kustomization\nbases: [../base]\n",
    fix="write `resources`, `labels`, `patches` or `replacements`, whichever replaced it",
    good="kind: Kustomization\nresources: [../base]\n",
    symptom="`Warning: 'bases' is deprecated. Please use 'resources' instead.` from `kustomize build`",
    references=("warnings of kustomize 5.8.1",),
)
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
