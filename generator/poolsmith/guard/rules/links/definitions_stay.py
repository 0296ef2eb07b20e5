"""Definitions that nobody brings up to date: the engine is told to leave them, and the chart's own job is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM937")
_WORD = "crd"
"""In the name, chart or path of what brings definitions."""
_BRINGERS = ("HelmRelease", "Application", "Kustomization")
_NAMES = (("chart", "spec", "chart"), ("source", "chart"), ("source", "path"), ("path",))


def check(view: LinkView) -> Iterator[Finding[Location]]:
    charts = [chart for chart in view.charts if chart.is_operator]
    if len(charts) != 1 or charts[0].value("operator.upgradeCRD") is not False or _has_definitions(view):
        return
    for item in view.of_kind("HelmRelease", "Application"):
        pointer = _left_at(item)
        if pointer is not None:
            yield Finding(
                message=f"{item.name} leaves the definitions as they are, and `operator.upgradeCRD` is off: nothing "
                "here brings those of the release",
                place=item.place(pointer),
                help="leave `skipCrds` out" if item.kind == "Application" else "write `upgrade: {crds: CreateReplace}`",
                related=(charts[0].place("operator.upgradeCRD"),),
            )


def _has_definitions(view: LinkView) -> bool:
    return any(view.of_kind("CustomResourceDefinition")) or any(map(_brings_some, view.of_kind(*_BRINGERS)))


def _brings_some(item: SetupObject) -> bool:
    said = (item.own_name, *(word(value_at(item.spec, path)) for path in _NAMES))
    return any(_WORD in text.lower() for text in said)


def _left_at(item: SetupObject) -> str | None:
    """Where the operator's delivery says that definitions stay, or would say the opposite."""
    if not any(word(value_at(item.spec, path)).rpartition("/")[2] in OPERATOR for path in _NAMES[:2]):
        return None
    if item.kind == "Application":
        skips = value_at(item.spec, ("source", "helm", "skipCrds")) is True
        return "/spec/source/helm/skipCrds" if skips else None
    policy = mapping(item.spec.get("upgrade")).get("crds")
    if policy not in (None, "Skip", "Create"):
        return None
    return "/spec/upgrade/crds" if policy else "/spec"
