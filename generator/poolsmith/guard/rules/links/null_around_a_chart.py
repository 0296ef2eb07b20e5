"""Nulls in the values of a chart around the operator's, which Helm 3 and Helm 4 read in two ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import at_least
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.engines import tool_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo.of("PSM769")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for chart in view.charts:
        if not chart.is_around or chart.defaults is None:
            continue
        for path in _nulls(chart.values):
            if value_at(chart.defaults, path.split("."), MISSING) not in (MISSING, None):
                yield Finding(
                    message=f"`{path}: null` in the values around {chart.name} {_effect(chart.engine, view)}",
                    place=chart.place(path),
                    help="write the value itself, such as `[]` or `{}`",
                )


def _effect(engine: str, view: LinkView) -> str:
    """By the version that is installed, where the files say it, or by all that they install."""
    known = {engine: view.engines[engine]} if engine in view.engines else view.engines
    helm = tool_version("helm", known)
    if not helm:
        return (
            "deletes the default with Helm 3 (Argo CD 3.4, Flux 2.7), and leaves it with Helm 4 (Argo CD 3.5, Flux 2.8)"
        )
    return (
        "leaves the default as it is: Helm 4 renders it here"
        if at_least(helm, "4")
        else "deletes the default, which Helm 4 no longer does: Helm 3 renders it here"
    )


def _nulls(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in values.items():
        path = f"{above}{key}"
        if value is None:
            yield path
        elif isinstance(value, dict):
            yield from _nulls(value, f"{path}.")
