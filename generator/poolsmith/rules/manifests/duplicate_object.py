"""One definition per object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import RuleInfo
from poolsmith.diagnostics.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Location
    from poolsmith.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo(
    code="PSM512",
    name="duplicate-object",
    applies_to="manifest",
    what="One folder defines the same object (group, kind, namespace, name) twice.",
    why="The one that is applied last wins, and which one that is depends on the tool.",
    fix="keep one of the two",
    bad="kind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\nmetadata: {name: a}\n",
    good="kind: ConfigMap\nmetadata: {name: a}\n",
)
_NO_OBJECTS = frozenset(("Kustomization", "Component"))


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    seen: dict[tuple[str, ...], CheckedDocument] = {}
    for document in tree.objects:
        name = document.metadata.get("name")
        if not isinstance(name, str) or document.kind in _NO_OBJECTS:
            continue
        group = document.api_version.rpartition("/")[0]
        folder = document.path.rpartition("/")[0]
        identity = (folder, group, document.kind, str(document.metadata.get("namespace", "")), name)
        first = seen.setdefault(identity, document)
        if first is not document:
            yield Finding(
                message=f"{document.name} is defined twice in one folder",
                place=document.source.locate("/metadata/name"),
                related=(first.source.locate("/metadata/name", "the first definition"),),
                subject=document.name,
            )
