"""Alerts over series that no exporter of the cluster has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import reached
from poolsmith.guard.rules.links.exporters import exporters, series_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.exporters import Series
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM779",
    name="series-of-nobody",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A PrometheusRule or a VMRule reads a series of dcgm-exporter that is not in the list of metrics of the "
    "exporter here, be it one's own or the image's.",
    why="An expression over a series that is not there is empty: the alert never fires, and nothing says so.",
    fix="add the field to the exporter's list of metrics, or read a series that it has",
    bad="expr: DCGM_FI_DEV_ECC_DBE_VOL_TOTAL > 0  # beside the image's own list\n",
    good="expr: DCGM_FI_DEV_XID_ERRORS > 0\n",
    references=("NVIDIA/dcgm-exporter@4.5.3-4.8.2:etc/default-counters.csv, etc/dcp-metrics-included.csv",),
)
_SERIES = pattern(r"\bDCGM_(?:FI|EXP)_[A-Z0-9_]+\b")
_KINDS = ("PrometheusRule", "VMRule")
_FEW = 3


def check(view: LinkView) -> Iterator[Finding[Location]]:
    rules = [item for item in view.of_kind(*_KINDS) if view.is_whole]
    lists = [series_of(view, chart) for chart in exporters(view)] if rules else []
    known = [found for found in lists if found is not None]
    if known and len(known) == len(lists):
        for item in rules:
            yield from _unknown(item, known)


def _unknown(item: SetupObject, lists: list[Series]) -> Iterator[Finding[Location]]:
    has = frozenset(name for found in lists for name in found.names)
    for at, text in reached(item.spec, ("groups", "*", "rules", "*", "expr")):
        missing = [name for name in dict.fromkeys(_SERIES.findall(str(text))) if name not in has]
        if missing:
            near = nearest(missing[0], has, certain=True)
            own = next((found for found in lists if found.is_own), None)
            yield Finding(
                message=f"{item.name} reads {listed(map(shorten, missing), _FEW)}, which "
                + ("the list of metrics here does not have" if own else "no list of the exporter's image has"),
                place=item.place(f"/spec{at}"),
                help=f"did you mean `{near}`?" if near else "add it to the exporter's list of metrics",
                related=((own or lists[0]).place,),
            )
