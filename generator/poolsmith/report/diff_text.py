"""What a change does, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics.listing import counted, joined
from poolsmith.diagnostics.masking import masked
from poolsmith.diagnostics.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.changes.change_report import ChangeReport, ClusterDiff, FieldChange, Standing
    from poolsmith.report.layout import ReportContext

_FEW = 8


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """In the order in which a reviewer reads it; the text ends in a newline."""
    del context
    return "".join(f"{printable(masked(line))}\n" for line in _lines(change))


def _lines(report: ChangeReport) -> Iterator[str]:
    if report.is_empty:
        yield f"the change does nothing: {report.base.name} and {report.head.name} come to the same"
        return
    yield f"{report.base.name} {report.base.commit[:12]} to {report.head.name}"
    yield from (f"allows itself: {item.what}" for item in report.self_grants)
    for cluster in report.clusters:
        yield from _cluster(cluster)
    yield from (f"new {item.severity} {item.code} {item.primary.span}: {item.message}" for item in report.new_findings)
    yield from (f"fixed {item.severity} {item.code}: {item.message}" for item in report.fixed_findings)
    yield from (f"unknown: {text}" for text in report.unknown)
    yield f"{counted(report.unchanged_clusters, 'cluster')} unchanged"


def _cluster(cluster: ClusterDiff) -> Iterator[str]:
    was = f" (was {cluster.renamed_from})" if cluster.renamed_from else ""
    yield f"cluster {cluster.name}: {cluster.standing}{was}"
    yield from map(_field, cluster.fields)
    for pool in cluster.pools:
        was = f" (was {pool.renamed_from})" if pool.renamed_from else ""
        yield f"  pool {pool.name}: {pool.standing}{was}"
        yield from (f"  {_field(field)}" for field in pool.fields)
    yield from (f"  privilege: {item.words}" for item in cluster.privileges)
    yield from (f"  {item.kind}: {item.words}" for item in cluster.disruptions)
    for image in cluster.images:
        yield f"  image {image.standing}: {image.image} on {joined(image.pools, _FEW)}"
    yield from (f"  value {_field(item).strip()}" for item in cluster.values)
    for item in cluster.objects:
        where = f"{item.namespace}/" if item.namespace else ""
        what = joined([field.pointer for field in item.fields], _FEW)
        yield f"  {'made ' if item.made else ''}{where}{item.kind}/{item.name}: {item.standing} {what}".rstrip()
    yield from (f"  drift {item.standing}: {item.words}" for item in cluster.drift)
    yield from (f"  unknown: {text}" for text in cluster.unknown)


def _field(item: FieldChange) -> str:
    return f"  {item.pointer}: {_side(item.standing, item.old)} -> {item.new}"


def _side(standing: Standing, value: object) -> object:
    return "nothing" if standing == "added" else value
