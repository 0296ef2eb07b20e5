"""What was compared, and how much of it differs, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.printable import shorten

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport

_FEW = 3


def scope(report: ChangeReport) -> str:
    """`main (cd771c535665) to the work tree: 1 cluster changes (`edge`), 7 do not`."""
    compared = f"{_revision(report.base.name, report.base.commit)} to {_revision(report.head.name, report.head.commit)}"
    touched = len(report.clusters)
    why = f"; all clusters were looked at: {report.why_all}" if report.why_all else ""
    if not touched:
        return f"{compared}: {_unchanged(report.unchanged_clusters)}{why}"
    names = ", ".join(f"`{shorten(item.name)}`" for item in report.clusters[:_FEW])
    more = f" and {touched - _FEW:,} more" if touched > _FEW else ""
    which = "cluster changes" if touched == 1 else "clusters change"
    rest = f", {report.unchanged_clusters:,} do not" if report.unchanged_clusters else ""
    return f"{compared}: {touched:,} {which} ({names}{more}){rest}{why}"


def _revision(name: str, commit: str) -> str:
    short = commit[:12]
    return f"{shorten(name)} ({short})" if short and not name.startswith(short) else shorten(name)


def _unchanged(count: int) -> str:
    return "no cluster changes" if count != 1 else "the cluster does not change"
