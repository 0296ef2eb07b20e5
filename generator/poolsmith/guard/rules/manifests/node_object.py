"""No Node objects in a synced tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree

RULE = RuleInfo.of("PSM510")


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.objects:
        if document.kind == "Node" and document.api_version == "v1":
            yield Finding(
                message=f"{document.name} is a Node object, and pruning it removes the node",
                place=document.source.locate("/kind"),
                subject=document.name,
            )
