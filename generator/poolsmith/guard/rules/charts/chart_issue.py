"""What goes wrong at some versions of the charts beside the operator, by their values, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.gpu.catalog.version_ranges import is_one_version
from poolsmith.guard.rules.setup.known_issue import RULE, is_so

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

__all__ = ("RULE", "check")


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    issues = store.table("known_issues.yaml")["charts"]
    for item in installations:
        for issue in issues if is_one_version(item.version or "") and not item.unknown else ():
            if _is_of(issue, item):
                yield Finding(
                    message=issue["says"],
                    place=item.locate(tuple(issue["at"].split("."))) if "at" in issue else item.version_at(),
                    help=issue["do"],
                    subject=item.document.name,
                    severity=Severity(issue["severity"]),
                )


def _is_of(issue: Mapping[str, Any], item: ChartInstallation) -> bool:
    """The user's own values are asked: a chart's default is what the issue is about."""
    if issue.get("named") != item.chart and issue.get("chart") != CHART_OF.get(item.chart, ""):
        return False
    asked = ((row, value_at(item.values, row["path"].split("."), MISSING)) for row in issue["when"])
    return covers(issue["versions"], str(item.version)) and all(_holds(row, value) for row, value in asked)


def _holds(condition: Mapping[str, Any], value: Any) -> bool:
    """`set: false`: nobody says it. Helm takes a default away by an empty value, which is one that somebody says."""
    if "set" in condition:
        return (value is not MISSING) is condition["set"]
    return is_so(condition, None if value is MISSING else value)
