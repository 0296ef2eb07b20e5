"""Files of values that are named, and that stand beside under another name."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.stack_objects import CHARTS
from poolsmith.guard.rules.names.need import Need, Offer, State, judged, there

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown

RULE = RuleInfo(
    code="PSM587",
    name="values-file-of-nobody",
    applies_to="manifest",
    what="An installation of a chart of the GPU stack (Argo CD, Fleet, Helmfile, Terraform) names a file of values "
    "that is not there, and a file beside it is called almost so.",
    why="The tool refuses to render the chart, or, where absent files are passed over, takes the chart's own values.",
    fix="write the name of the file",
    bad="# beside values.yaml\nhelm: {chart: gpu-operator, valuesFiles: [values.yml]}\n",
    good="# beside values.yaml\nhelm: {chart: gpu-operator, valuesFiles: [values.yaml]}\n",
    symptom="`ComparisonError: ... no such file or directory`",
    references=("argo-cd:docs/user-guide/helm.md", "fleet.rancher.io: fleet.yaml", "helmfile:docs/index.md"),
)
_FILE = "File"


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    told: set[Location] = set()
    for item in installations:
        for unknown in item.unknown if item.chart in CHARTS else ():
            if unknown.file and unknown.place not in told:
                told.add(unknown.place)
                yield from _near(item, unknown)


def _near(item: ChartInstallation, unknown: Unknown) -> Iterator[Finding[Location]]:
    name = posixpath.basename(unknown.file)
    need = Need(kind=_FILE, name=name, locate=there(unknown.place), pointer="")
    verdict = judged(need, (Offer(kind=_FILE, name=posixpath.basename(path)) for path in unknown.beside))
    if verdict.state is State.NEAR and verdict.offer is not None:
        yield Finding(
            message=f"the chart {item.chart} takes values from `{shorten(name)}`, and there is no such file",
            place=need.place,
            help=f"did you mean `{shorten(verdict.offer.name)}`?",
            subject=item.document.name,
        )
