"""Alerts over series that no exporter of the cluster has."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.links.exporters import lists_of, series_needs
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.names.need import Verdict

RULE = RuleInfo(
    code="PSM779",
    name="series-of-nobody",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A PrometheusRule or a VMRule reads a series of dcgm-exporter that is not in the list of metrics of the "
    "exporter here, whether it is your own or the image's.",
    why="An expression over a series that is not there is empty: the alert never fires, and nothing says so.",
    fix="add the field to the exporter's list of metrics, or read a series that it has",
    bad="expr: DCGM_FI_DEV_ECC_DBE_VOL_TOTAL > 0  # beside the image's own list\n",
    good="expr: DCGM_FI_DEV_XID_ERRORS > 0\n",
    references=("NVIDIA/dcgm-exporter@4.5.3-4.8.2:etc/default-counters.csv, etc/dcp-metrics-included.csv",),
)
_FEW = 3


def check(view: LinkView) -> Iterator[Finding[Location]]:
    """One finding for each expression."""
    for _, needs in groupby(series_needs(view), key=lambda need: need.where):
        verdicts = [names_of(view).verdict(need) for need in needs]
        missing = [verdict for verdict in verdicts if verdict.state in (State.NEAR, State.UNDEFINED)]
        if missing and lists_of(view):
            yield _finding(view, missing)


def _finding(view: LinkView, missing: list[Verdict]) -> Finding[Location]:
    need, near = missing[0].need, missing[0].offer
    lists = lists_of(view)
    own = next((found for found in lists if found.is_own), None)
    return Finding(
        message=f"{need.who} reads {listed((shorten(item.need.name) for item in missing), _FEW)}, which "
        + ("the list of metrics here does not have" if own else "no list of the exporter's image has"),
        place=need.place,
        help=f"did you mean `{near.name}`?" if near is not None else "add it to the exporter's list of metrics",
        related=((own or lists[0]).place,),
    )
