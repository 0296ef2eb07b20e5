"""Privileges over time: what each commit gave and took, the newest first."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.record import record
from poolsmith.interface.report.html.page import View, code, joined, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.interface.report.audit import AuditCommit, HeldTime, PrivilegeAudit
    from poolsmith.interface.report.html.page import Html

_MOST_COMMITS, _MOST_ROWS, _FEW = 400, 60, 3


@record
class _Step:
    """What a commit gave (`gives`) or took of containers: holders by workload, privileges and leave."""

    gives: bool
    workload: str
    container: str
    privileges: tuple[str, ...]
    leave: str


def timeline_view(audit: PrivilegeAudit) -> tuple[View, str]:
    """The view, and one line that says how much happened."""
    commits: dict[str, AuditCommit] = {}
    steps: dict[str, dict[_Step, list[str]]] = defaultdict(lambda: defaultdict(list))
    days: dict[str, int] = {}
    for item in audit.held:
        for commit, gives in ((item.since, True), (item.until, False)):
            if commit is not None:
                commits[commit.id] = commit
                days.setdefault(commit.id, len(days))
                steps[commit.id][_step(item, gives=gives)].append(f"{item.cluster}/{item.pool}")
    newest = sorted(commits.values(), key=lambda one: (one.day, days[one.id]), reverse=True)
    parts = [_commit(one, steps[one.id]) for one in newest[:_MOST_COMMITS]]
    if len(newest) > _MOST_COMMITS:
        parts.append(
            tag("p", f"{len(newest) - _MOST_COMMITS:,} older commits: `poolsmith audit` has all.", class_="scope")
        )
    if not parts:
        parts = [tag("p", "No commit changed who may do what.", class_="empty")]
    parts += [tag("p", f"not evaluated: {masked(item)}", class_="unknown") for item in audit.not_evaluated]
    what = f"{counted(len(newest), 'commit')} changed who may do what"
    return View("history", "What each commit gave and took", joined(parts), len(newest)), what


def _step(item: HeldTime, *, gives: bool) -> _Step:
    if item.leave is None:
        leave = "no grant"
    else:
        until = f" until {item.leave.expires}" if item.leave.expires else ""
        leave = f"grant {item.leave.grant}{until}" + (f", {item.leave.owner}" if item.leave.owner else "")
    return _Step(
        gives=gives, workload=item.workload, container=item.container, privileges=item.privileges, leave=masked(leave)
    )


def _commit(commit: AuditCommit, steps: dict[_Step, list[str]]) -> Html:
    given = sum(step.gives for step in steps)
    counts = f"+{given:,} \u2212{len(steps) - given:,}"
    title = tag("h3", f"{commit.day} ", masked(commit.title))
    about = tag("span", f"{commit.id[:12]}, {masked(commit.author)}", class_="short")
    heading = tag("summary", title, tag("span", counts, class_="count"), about)
    shown = sorted(steps.items(), key=lambda entry: (not entry[0].gives, entry[0].workload, entry[0].container))
    items = [_row(step, where) for step, where in shown[:_MOST_ROWS]]
    if len(shown) > _MOST_ROWS:
        items.append(tag("li", f"{len(shown) - _MOST_ROWS:,} more are in the answer of poolsmith audit"))
    points = tag("ol", joined(items), class_="points")
    return tag("details", heading, points, class_="card hit", id=f"c-{commit.id[:12]}")


def _row(step: _Step, where: Sequence[str]) -> Html:
    sign, meaning = ("+", "gives") if step.gives else ("\u2212", "takes")
    pools = sorted(set(where))
    rest = f" and {len(pools) - _FEW:,} more" if len(pools) > _FEW else ""
    mark = tag("span", sign, class_=f"delta {'new' if step.gives else 'less'}", aria_hidden="true")
    who = code(step.workload), *([" ", code(step.container)] if step.container else [])
    leave = tag("span", step.leave, class_="ungranted" if step.leave == "no grant" else "faint")
    tokens = joined((code(masked(token), "token") for token in step.privileges), " ")
    first = tag(
        "p",
        mark,
        tag("span", f"{meaning} ", class_="hidden-label"),
        " ",
        *who,
        " on ",
        ", ".join(pools[:_FEW]),
        rest,
        ": ",
        leave,
    )
    return tag("li", first, tag("p", tokens))
