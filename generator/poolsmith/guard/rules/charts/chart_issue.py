"""What goes wrong at some versions of the charts beside the operator, by their values, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.guard.rules.setup.known_issue import RULE, is_so

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

__all__ = ("RULE", "check")


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        for issue in store.table("known_issues.yaml")["charts"] if item.version and not item.unknown else ():
            if (issue.get("named") == item.chart or issue.get("chart") == CHART_OF.get(item.chart, "")) and _is_of(
                issue, item
            ):
                yield Finding(
                    message=issue["says"],
                    place=item.locate(tuple(issue["at"].split("."))) if "at" in issue else item.version_at(),
                    help=issue["do"],
                    subject=item.document.name,
                    severity=Severity(issue["severity"]),
                )


def _is_of(issue: Mapping[str, Any], item: ChartInstallation) -> bool:
    """The user's own values are asked: a chart's default is what the issue is about."""
    asked = ((row, value_at(item.values, row["path"].split("."), None)) for row in issue["when"])
    return covers(issue["versions"], str(item.version)) and all(is_so(row, value) for row, value in asked)
