"""No `namespace:` transformer in kustomizations that hold cluster-scoped custom resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.kubernetes.repository.kustomize_roots import files_of_kustomizations, folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM511")
_CLUSTER_SCOPED = frozenset(
    (
        ("nvidia.com", "ClusterPolicy"),
        ("nvidia.com", "NVIDIADriver"),
        ("nfd.k8s-sigs.io", "NodeFeatureRule"),
        ("mellanox.com", "NicClusterPolicy"),
        ("confidentialcontainers.org", "CcRuntime"),
    )
)


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    setting = [document for document in tree.kustomizations if "namespace" in document.data]
    if not setting:
        return
    found: dict[str, CheckedDocument] = {}
    for document in tree.objects:
        group = document.api_version.rpartition("/")[0]
        if (group, document.kind) in _CLUSTER_SCOPED:
            found.setdefault(document.path, document)
    if not found:
        return
    files = files_of_kustomizations(tree)
    for document in setting:
        reached = files.get(folder_of(document.path), frozenset())
        path = min(reached & found.keys(), default=None)
        if path is not None:
            yield Finding(
                message=f"the kustomization puts its namespace on {found[path].name} as well, which is cluster-scoped",
                place=document.source.locate("/namespace"),
                related=(found[path].source.locate("/kind", "the object"),),
                subject=document.name,
            )
