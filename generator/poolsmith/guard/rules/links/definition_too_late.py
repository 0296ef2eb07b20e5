"""Custom resources that Flux applies together with the release that brings their definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM778",
    name="definition-too-late",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="One Flux Kustomization applies a custom resource of the stack and the HelmRelease whose chart brings the "
    "definition of its kind.",
    why="Flux checks all objects of a Kustomization at the server before it applies any. On a new cluster the kind is "
    "not known: nothing is applied, so that the release never brings it.",
    fix="put the custom resources into a Kustomization of their own with `dependsOn`, and `wait: true` on the first",
    bad="# one folder\nresources: [helmrelease.yaml, nvidiadriver.yaml]\n",
    good="# two folders, the second with dependsOn\nresources: [nvidiadriver.yaml]\n",
    symptom='`dry-run failed: no matches for kind "NVIDIADriver" in version "nvidia.com/v1alpha1"`',
    references=("fluxcd/flux2-kustomize-helm-example; fluxcd/kustomize-controller:docs/spec/v1/kustomizations.md",),
)
_BRINGS = {
    "nvidia.com": OPERATOR,
    "nfd.k8s-sigs.io": (*OPERATOR, "node-feature-discovery"),
    "resource.nvidia.com": DRA_DRIVER_CHARTS,
    "mellanox.com": ("network-operator", "nvidia-network-operator"),
}
"""Charts that bring the definitions of a group."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    defined = {word(value_at(item.spec, ("names", "kind"))) for item in view.of_kind("CustomResourceDefinition")}
    for unit in view.units:
        charts = {word(value_at(item.spec, ("chart", "spec", "chart"))): item for item in unit if _is_release(item)}
        yield from _late(unit, charts, defined) if charts else ()


def _is_release(item: SetupObject) -> bool:
    return item.kind == "HelmRelease" and item.group.startswith("helm.toolkit.fluxcd.io")


def _late(
    unit: Sequence[SetupObject], charts: dict[str, SetupObject], defined: set[str]
) -> Iterator[Finding[Location]]:
    for item in unit:
        release = next((charts[name] for name in _BRINGS.get(item.group, ()) if name in charts), None)
        if release is not None and item.kind not in defined:
            yield Finding(
                message=f"{item.name} is applied together with {release.name}, whose chart brings the definition of "
                f"{item.kind}: on a new cluster Flux applies neither",
                place=item.place("/kind"),
                help="move it into a Kustomization of its own with `dependsOn`",
                related=(release.place("/metadata/name", "the release"),),
            )
