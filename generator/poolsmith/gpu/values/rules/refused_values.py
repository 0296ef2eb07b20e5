"""Combinations that the chart itself refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.projections import chart_refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo(
    code="PSM326",
    name="refused-values",
    applies_to="values",
    what="Helm values, merged with the chart's defaults, are a combination that the chart refuses to render.",
    why="Rendering fails in the GitOps engine and not in the pull request, and the release stays as it was.",
    fix="change one of the values",
    bad="cdi:\n  enabled: false\n  nriPluginEnabled: true\n",
    good="cdi:\n  enabled: true\n  nriPluginEnabled: true\n",
    references=("templates/validations.yaml of the chart at its tag",),
)


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if document.partial or document.release.line_defaults is None:
        return
    for refusal in chart_refusals(document.release.tag):
        if refusal.without_api or not all(
            any(bool(document.effective(path)) is wanted for path, wanted in term) for term in refusal.conditions
        ):
            continue
        own = [path for term in refusal.conditions for path, _ in term if document.has(path)]
        if own:
            yield Finding(place=own[0], message=f"the chart refuses this: {refusal.message}")
