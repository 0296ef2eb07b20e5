"""No Helm hooks in a tree that is merely applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import RuleInfo
from poolsmith.diagnostics.finding import Finding
from poolsmith.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Location
    from poolsmith.repository.manifest_files import CheckedTree

RULE = RuleInfo(
    code="PSM514",
    name="helm-hook",
    applies_to="manifest",
    what="An object among plain manifests has the annotation `helm.sh/hook`.",
    why=(
        "Flux and kubectl ignore Helm hooks: a committed pre-delete job of the gpu-operator runs at once, and "
        "deletes its custom resources."
    ),
    fix="render charts with --no-hooks, or let Argo CD or Flux install the chart",
    bad='kind: Job\nmetadata:\n  name: cleanup\n  annotations: {"helm.sh/hook": pre-delete}\n',
    good="kind: HelmRelease\nmetadata:\n  name: gpu-operator\n",
)
_HOOK = "helm.sh/hook"


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.objects:
        annotations = document.metadata.get("annotations")
        if isinstance(annotations, dict) and _HOOK in annotations:
            yield Finding(
                message=f"{document.name} is a Helm hook, and would run as soon as it is applied",
                place=document.source.locate(join("/metadata/annotations", _HOOK)),
                subject=document.name,
            )
