"""Labels of new nodes that differ from what a profile needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, plural
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.yaml_writer import emit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourPool, NeighbourView
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM801")
_EVERYTHING = ("nvidia.com/",)


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    for template, pool in view.pairs:
        yield from _missing(template, pool)
        yield from _different(template, pool)
        if not template.announces:
            yield from _unsaid(template, pool, view.catalog)


def _missing(template: NodeTemplate, pool: NeighbourPool) -> Iterator[Finding[Location]]:
    there = {mark.key for mark in (*template.labels, *template.choices)}
    missing = [key for key in pool.labels if key not in there]
    if not missing or template.is_partial:
        return
    wanted = ", ".join(_written(key, pool.labels[key]) for key in missing)
    lacks = "and an autoscaler without a node of it does not know" if template.announces else "and its nodes lack"
    yield Finding(
        message=f"{template.title} is for pool `{pool.name}`, {lacks} the {plural(len(missing), 'label')} "
        f"{listed(missing)}",
        place=template.at(template.labels_at),
        help=f"add `{wanted}`",
        related=(pool.place("/metadata/name", "the pool"),),
    )


def _different(template: NodeTemplate, pool: NeighbourPool) -> Iterator[Finding[Location]]:
    for mark in template.labels:
        wanted = pool.labels.get(mark.key)
        if wanted is not None and mark.value is not None and mark.value != wanted:
            yield Finding(
                message=f"{template.title} gives nodes of pool `{pool.name}` the label `{mark.key}` with the value "
                f"`{mark.value}`; its profile needs `{wanted}`",
                place=template.at(mark.pointer),
                help=f"write `{_written(mark.key, wanted)}`, or change the profile",
                related=(pool.place("/metadata/name", "the pool"),),
            )


def _unsaid(template: NodeTemplate, pool: NeighbourPool, catalog: Catalog) -> Iterator[Finding[Location]]:
    """Labels that steer the operator. Those that it writes itself do no harm when they are there before."""
    for mark in template.labels:
        writer = catalog.scheduling.writer_of(mark.key)
        if writer is None or not writer.provisioner or writer.prefixes == _EVERYTHING:
            continue
        if not any(label.key == mark.key for label in pool.plan.labels):
            yield Finding(
                message=f"{template.title} gives nodes of pool `{pool.name}` the label `{mark.key}`, which steers the "
                "GPU operator; the profile does not say so, and nothing generated takes it into account",
                place=template.at(mark.pointer),
                help="remove it, or describe what it is for in the profile (driver, toolkit, MIG, workload)",
                related=(pool.place("/metadata/name", "the pool"),),
                severity=Severity.WARNING,
            )


def _written(key: str, value: str) -> str:
    """As YAML, where some values are no texts without quotes."""
    return emit({key: value}).strip()
