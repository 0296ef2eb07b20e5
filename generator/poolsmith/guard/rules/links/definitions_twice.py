"""Definitions that two charts bring, each at its own release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import at_least
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM785",
    name="definitions-twice",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="The operator's chart, from v26.7.0 on, and the chart of the DRA driver both bring the definitions of "
    "ComputeDomains, and both are told to replace what is there.",
    why="Each upgrade of one brings back the other's fields; with Argo CD both applications are out of sync in turns.",
    fix="let one of them bring the definitions: `upgrade: {crds: Skip}`, or `skipCrds: true`",
    bad="# two HelmReleases\nchart: gpu-operator  # v26.7.0, upgrade: {crds: CreateReplace}\n"
    "chart: dra-driver-nvidia-gpu  # upgrade: {crds: CreateReplace}\n",
    good="chart: gpu-operator  # upgrade: {crds: CreateReplace}\n"
    "chart: dra-driver-nvidia-gpu  # install: {crds: Skip}, upgrade: {crds: Skip}\n",
    symptom="`OutOfSync` on computedomains.resource.nvidia.com, in turns",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:deployments/gpu-operator/crds",
        "kubernetes-sigs/dra-driver-nvidia-gpu@v0.4.1:deployments/helm/dra-driver-nvidia-gpu/crds",
        "NVIDIA/aicr pull request 2439",
    ),
)
_SINCE = "v26.7.0"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    found = [(item, at) for item in view.of_kind("HelmRelease", "Application") if (at := _brings(item)) is not None]
    operators = [item for item, _ in found if _chart(item)[0] in OPERATOR]
    for item, at in found if view.is_whole or view.is_alone else ():
        if operators and _chart(item)[0] in DRA_DRIVER_CHARTS:
            yield Finding(
                message=f"{item.name} and {operators[0].name} both bring the definitions of ComputeDomains",
                place=item.place(at),
                help="write `skipCrds: true`" if item.kind == "Application" else "write `crds: Skip`",
                related=(operators[0].place("/metadata/name", "the other one"),),
            )


def _chart(item: SetupObject) -> tuple[str, str]:
    """Its name and its version."""
    if item.kind == "Application":
        source = mapping(item.spec.get("source"))
        return word(source.get("chart")).rpartition("/")[2], word(source.get("targetRevision"))
    spec = mapping(value_at(item.spec, ("chart", "spec")))
    return word(spec.get("chart")), word(spec.get("version"))


def _brings(item: SetupObject) -> str | None:
    """Where an object says that definitions are replaced, or where it would say the opposite."""
    chart, version = _chart(item)
    if chart not in DRA_DRIVER_CHARTS and not (chart in OPERATOR and version and at_least(version, _SINCE)):
        return None
    if item.kind == "Application":
        return None if value_at(item.spec, ("source", "helm", "skipCrds")) is True else "/spec/source"
    return "/spec/upgrade/crds" if value_at(item.spec, ("upgrade", "crds")) == "CreateReplace" else None
