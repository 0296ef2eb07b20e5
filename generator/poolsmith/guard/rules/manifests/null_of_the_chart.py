"""A release of the operator's chart that server-side apply refuses as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.chart_contents import REFUSED, nulls_of
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.kubernetes.repository.declared_charts import declared_charts, first_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.chart_contents import ChartNull
    from poolsmith.kubernetes.repository.declared_charts import DeclaredChart
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM516")
_OPTION = "ServerSideApply=true"
_OPTIONS = {
    "Application": ("spec", "syncPolicy", "syncOptions"),
    "ApplicationSet": ("spec", "template", "spec", "syncPolicy", "syncOptions"),
}


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.objects:
        if _applies_on_the_server(document) and not document.is_incomplete:
            for chart in declared_charts(document, tree):
                if chart.name == OPERATOR_CHART and not (chart.partial or chart.is_patch):
                    yield from _uncured(document, chart)


def _applies_on_the_server(document: CheckedDocument) -> bool:
    """Flux installs so unless it is told otherwise, Argo CD where it is told to."""
    if document.kind == "HelmRelease":
        return value_at(document.data, ("spec", "install", "serverSideApply")) is not False
    options = value_at(document.data, _OPTIONS[document.kind]) if document.kind in _OPTIONS else None
    return isinstance(options, list) and _OPTION in options


def _uncured(document: CheckedDocument, chart: DeclaredChart) -> Iterator[Finding[Location]]:
    release = f"v{(chart.version or '').removeprefix('v')}"
    values = first_document(chart.values)
    for item in nulls_of(release):
        if item.effect == REFUSED and not _decided(values, item):
            yield Finding(
                message=f"the chart of {release} renders `{item.dotted}` as null, which server-side apply refuses in a "
                "ClusterPolicy",
                place=document.source.locate(chart.pointer if chart.values is not None else "/spec"),
                help=f"write `{_nested(item)}` in the values",
                subject=document.name,
            )


def _decided(values: object, item: ChartNull) -> bool:
    """Whether the values say something there, or take away a block that it stands in."""
    if value_at(values, item.path, MISSING) is not MISSING:
        return True
    return any(value_at(values, item.path[:length], MISSING) is None for length in range(1, len(item.path)))


def _nested(item: ChartNull) -> str:
    *above, last = item.path
    text = f"{last}: {'null' if item.value is None else item.value}"
    for key in reversed(above):
        text = f"{key}: {{{text}}}"
    return text
