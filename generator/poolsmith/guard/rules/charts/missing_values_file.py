"""A values file, or a folder, that the repository does not have, although an engine takes it from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.stack_objects import CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo(
    code="PSM588",
    name="missing-values-file",
    applies_to="manifest",
    what="An Application, or a fleet.yaml, takes the values of a chart of the GPU stack from a file of this repository "
    "that is not there, or an Application takes a folder for the stack that is not. Not where "
    "`ignoreMissingValueFiles` is set, or another branch is read.",
    why="The engine can't render the chart: nothing of it is installed or updated from then on, and what runs stays as "
    "it was.",
    fix="correct the path, or add the file or the folder",
    bad="# in a source of an Application, beside values/gpu-operator.yaml\nhelm:\n"
    "  valueFiles: [$values/values/gpu-operater.yaml]\n",
    good="helm:\n  valueFiles: [$values/values/gpu-operator.yaml]\n",
    symptom="`ComparisonError` at the Application: `failed to generate manifest for source`; a bundle of Fleet that is "
    "not ready",
    references=("argo-cd: docs/user-guide/helm.md, Values Files", "fleet.rancher.io: ref-fleet-yaml, helm.valuesFiles"),
)


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        for unknown in item.unknown if item.chart in CHARTS else ():
            if unknown.is_missing:
                yield Finding(
                    message=f"{item.document.name or item.chart}: {unknown.what}: nothing is rendered",
                    place=unknown.place,
                    help="correct the path, or add the file",
                    subject=item.document.name,
                )
