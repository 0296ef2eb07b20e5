"""A report as one HTML file: it asks nobody for anything, and only the script that it names by digest runs in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_summary import change_view
from poolsmith.interface.report.html.change_pictures import matrix_view, roll_out_view
from poolsmith.interface.report.html.findings_view import check_summary, diff_summary, diff_views, findings_view
from poolsmith.interface.report.html.fleet_view import fleet_view, privilege_view
from poolsmith.interface.report.html.page import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.formats import ReportContext
    from poolsmith.interface.report.html.page import View


def check_report(outcome: Outcome, context: ReportContext) -> str:
    """What was found, the fleet, and who may do what in it."""
    views = (findings_view(outcome.diagnostics, context, title="Findings"), *_fleet(context))
    return page("Check of the GPU fleet", check_summary(outcome, context), views, context)


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """What was written, pictures of what comes of it, findings, and the fleet as it is afterwards."""
    shown = change_view(change)
    written, *effects = diff_views(shown, context)
    pictures = (matrix_view(change), roll_out_view(change))
    views = (
        written,
        *filter(None, pictures),
        *effects,
        findings_view(change.new_findings, context, title="New findings"),
        *_fleet(context, change),
    )
    return page("What this change does", diff_summary(shown, is_empty=change.is_empty), views, context)


def _fleet(context: ReportContext, change: ChangeReport | None = None) -> Iterator[View]:
    if context.fleet is not None:
        yield fleet_view(context.fleet, context, change)
        yield privilege_view(context.fleet, context)
