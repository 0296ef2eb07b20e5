"""Labels of new nodes with values that the operator does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import reach
from poolsmith.gpu.catalog.label_words import label_mistake
from poolsmith.kubernetes.repository.node_template_marks import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.templates.labelled_nodes import LabelledNodes
    from poolsmith.kubernetes.repository.node_template_marks import LabelMark, TaintMark

RULE = RuleInfo.of("PSM581")


def check(nodes: tuple[LabelledNodes, ...]) -> Iterator[Finding[Location]]:
    for item in nodes:
        yield from _no_texts(item)
        yield from _refused(item)
        for mark in item.labels:
            value = mark.value
            if value is None:
                continue
            mistake = label_mistake(mark.key, value)
            if mistake is not None:
                yield Finding(
                    message=f"{item.title} gives nodes the label `{mark.key}` with the value `{shorten(value)}`, "
                    + mistake.message,
                    place=item.at(mark),
                    help=mistake.help,
                    subject=item.document.name,
                )


def _refused(item: LabelledNodes) -> Iterator[Finding[Location]]:
    """Labels that whoever is to write them refuses."""
    for mark in item.labels:
        row = refusal(mark, item.document.data)
        if row is not None:
            yield Finding(
                message=f"{item.title} has the label `{shorten(mark.key)}`, which {row['says']}",
                place=item.at(mark),
                help="take a label of a domain of your own, or of nvidia.com",
                subject=item.document.name,
                severity=Severity.ERROR,
            )


def _no_texts(item: LabelledNodes) -> Iterator[Finding[Location]]:
    """Values that YAML reads as something else, in objects of an API server, which takes texts alone."""
    marks: tuple[LabelMark | TaintMark, ...] = (*item.labels, *item.taints)
    for mark in marks if item.document.is_object else ():
        held, is_there = reach(item.document.data, mark.pointer)
        value = held.get("value") if isinstance(held, dict) else held
        if is_there and isinstance(value, bool | int | float):
            what = "label" if mark in item.labels else "taint"
            at = f"{mark.pointer}/value" if isinstance(held, dict) else mark.pointer
            yield Finding(
                message=f"{item.title} has the {what} `{shorten(mark.key)}` with the value {str(value).lower()}, which "
                "is no text: the API server refuses the object",
                place=item.document.source.locate(at),
                help=f'write `"{str(value).lower()}"`',
                subject=item.document.name,
                severity=Severity.ERROR,
            )
