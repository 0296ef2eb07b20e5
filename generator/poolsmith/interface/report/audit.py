"""Who had which privilege, where, from when until when, and which grant allowed it: for auditors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.record import record
from poolsmith.interface.report.diff_json import record_body
from poolsmith.interface.report.escaped_text import code as code_span
from poolsmith.interface.report.escaped_text import csv_table

if TYPE_CHECKING:
    from poolsmith.interface.report.formats import ReportContext


@record
class AuditCommit:
    """A commit on the first-parent line of the branch: what was merged, or committed there. `day` is year-month-day."""

    id: str
    day: str
    author: str
    title: str


@record
class Leave:
    """A grant as it was given. `approved` is the commit that brought it as it stands."""

    grant: str
    owner: str
    reason: str
    expires: str
    approved: AuditCommit


@record
class HeldTime:
    """Privileges that the containers of a workload held on a pool by the same leave, for the same time.

    `since` is None for what was held before the time that was asked about, `until` for what is held still. `leave` is
    None where no grant allowed it.
    """

    cluster: str
    pool: str
    workload: str
    container: str
    privileges: tuple[str, ...]
    reach: str
    since: AuditCommit | None
    until: AuditCommit | None
    leave: Leave | None


@record
class PrivilegeAudit:
    """`since` is what the time begins with, `until` its end; `not_evaluated`: files of commits that can't be read."""

    since: AuditCommit
    until: AuditCommit
    held: tuple[HeldTime, ...] = ()
    not_evaluated: tuple[str, ...] = ()


_LONGEST = 200
_COLUMNS = (
    "cluster",
    "pool",
    "workload",
    "container",
    "privileges",
    "reach",
    "since",
    "since_commit",
    "until",
    "until_commit",
    "grant",
    "owner",
    "reason",
    "expires",
    "approved_by",
    "approved_commit",
    "approved",
)


def audit_json(audit: PrivilegeAudit, context: ReportContext) -> str:
    return json.dumps({"version": 1, "tool": context.tool, **record_body(audit)}, indent=2) + "\n"


def audit_csv(audit: PrivilegeAudit) -> str:
    """RFC 4180; no cell is a formula to a spreadsheet."""
    return csv_table(_COLUMNS, map(_cells, audit.held))


def audit_markdown(audit: PrivilegeAudit) -> str:
    """A table of each cluster; what nobody granted comes first."""
    lines = [f"# Privileges from {_commit_words(audit.since)} to {_commit_words(audit.until)}", ""]
    for cluster in dict.fromkeys(item.cluster for item in audit.held):
        lines += [
            f"## {code(cluster)}",
            "",
            "| pool | workload | privileges | held | by |",
            "| --- | --- | --- | --- | --- |",
        ]
        mine = [item for item in audit.held if item.cluster == cluster]
        lines += [_row(item) for item in sorted(mine, key=lambda item: item.leave is not None)]
        lines.append("")
    lines += [f"- not evaluated: {code(masked(item))}" for item in audit.not_evaluated]
    return "\n".join(lines).rstrip() + "\n"


def _row(item: HeldTime) -> str:
    who = f"{item.workload} {item.container}".rstrip()
    held = f"{item.since.day if item.since else 'before'} to {item.until.day if item.until else 'now'}"
    leave = item.leave
    by = "**no grant**"
    if leave is not None:
        by = f"{code(leave.grant)}, {code(leave.owner)}, {code(leave.approved.id[:12])}"
    privileges = ", ".join(code(masked(text)) for text in item.privileges)
    return f"| {code(item.pool)} | {code(who)} | {privileges} | {held} | {by} |"


def _commit_words(commit: AuditCommit) -> str:
    return f"{commit.day} ({code(commit.id[:12])})"


def _cells(item: HeldTime) -> list[str]:
    leave = item.leave
    return [
        item.cluster,
        item.pool,
        item.workload,
        item.container,
        " ".join(item.privileges),
        item.reach,
        item.since.day if item.since else "",
        item.since.id if item.since else "",
        item.until.day if item.until else "",
        item.until.id if item.until else "",
        *(
            [
                leave.grant,
                leave.owner,
                leave.reason,
                leave.expires,
                leave.approved.author,
                leave.approved.id,
                leave.approved.day,
            ]
            if leave is not None
            else [""] * 7
        ),
    ]


def code(text: str) -> str:
    """In a cell of a table."""
    return code_span(text, _LONGEST).replace("|", "\\|")
