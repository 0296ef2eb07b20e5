"""No `namespace:` transformer in kustomizations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import RuleInfo
from poolsmith.diagnostics.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Location
    from poolsmith.repository.manifest_files import CheckedTree

RULE = RuleInfo(
    code="PSM511",
    name="namespace-transformer",
    applies_to="manifest",
    what="A kustomization sets `namespace:`.",
    why=(
        "Kustomize then also sets a namespace on cluster-scoped custom resources, for example ClusterPolicy, "
        "NVIDIADriver and NodeFeatureRule."
    ),
    fix="write the namespace into each object",
    bad="kind: Kustomization\nnamespace: gpu-operator\n",
    good="kind: Kustomization\nresources: [namespaces.yaml]\n",
    references=("kustomize 5.5.0, measured",),
)


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.kustomizations:
        if "namespace" in document.data:
            yield Finding(
                message="the kustomization puts its namespace on cluster-scoped objects as well",
                place=document.source.locate("/namespace"),
                subject=document.name,
            )
