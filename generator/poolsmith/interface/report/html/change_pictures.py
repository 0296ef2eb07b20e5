"""Pictures of a change: who may do more on which pools, how it rolls over the nodes, and what one object is before and
after.
"""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote

from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.privilege_matrix import privilege_matrix
from poolsmith.change.diff.roll_out import lanes
from poolsmith.change.diff.rows import By
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.sources.pointer import split
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.interface.report.html.fleet_view import short_word
from poolsmith.interface.report.html.page import Html, View, anchor, code, joined, scrolled, tag, words
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.change.diff.change_report import ChangeReport, Waves
    from poolsmith.change.diff.change_sections import Hunk
    from poolsmith.change.diff.privilege_matrix import Cell, MatrixRow, PoolName
    from poolsmith.change.diff.roll_out import Lane
    from poolsmith.kubernetes.server.field_changes import FieldChange

_FEW_ROWS, _FEW_NAMES, _FEW_LANES, _FEW_BOXES = 8, 2, 6, 8
_NOWHERE = {ANY_NODE: "any node", NO_KNOWN_NODE: "no known node"}


def matrix_view(report: ChangeReport) -> View | None:
    """Who gains and loses privileges where; None where nobody does."""
    matrix = privilege_matrix(report)
    if not matrix.rows:
        return None
    columns = [_Column(pools, is_rest=matrix.is_cut and pools is matrix.columns[-1]) for pools in matrix.columns]
    parts = [_table(matrix.rows[:_FEW_ROWS], columns, "Privileges that change, by workload and pool")]
    rest = matrix.rows[_FEW_ROWS:]
    if rest:
        heading = f"{counted(len(rest), 'workload')} more, of which less is to be said"
        more = _table(rest, columns, "More privileges that change, by workload and pool")
        parts.append(tag("details", tag("summary", heading), more, class_="more box"))
    if grouped := [column for column in columns if len(column.pools) > 1]:
        items = joined(tag("li", tag("strong", column.title), ": ", column.names) for column in grouped)
        parts.append(tag("details", tag("summary", "Which pools are one column"), tag("ul", items), class_="more box"))
    return View("matrix", "Privileges by pool", tag("div", *parts, _matrix_legend(), class_="panel"), len(matrix.rows))


class _Column:
    def __init__(self, pools: Sequence[PoolName], *, is_rest: bool) -> None:
        self.pools = pools
        self._is_rest = is_rest

    @property
    def title(self) -> str:
        if self._is_rest and len(self.pools) > 1:
            return f"{len(self.pools):,} other pools"
        return _pool(self.pools[0][1]) if len(self.pools) == 1 else f"{len(self.pools):,} pools"

    @property
    def scope(self) -> str:
        clusters = list(dict.fromkeys(cluster for cluster, _ in self.pools))
        return clusters[0] if len(clusters) == 1 else f"{len(clusters):,} clusters"

    @property
    def names(self) -> str:
        return ", ".join(f"{cluster}/{_pool(pool)}" for cluster, pool in self.pools)

    def head(self) -> Html:
        return tag("th", tag("span", self.title), tag("br"), tag("span", self.scope, class_="faint"), scope="col")


def _pool(name: str) -> str:
    return _NOWHERE.get(name, name)


def _table(rows: Sequence[MatrixRow], columns: Sequence[_Column], label: str) -> Html:
    """Without the columns in which none of the rows says anything."""
    told = [any(row.cells[at] is not None for row in rows) for at in range(len(columns))]
    columns = [column for column, is_told in zip(columns, told, strict=True) if is_told]
    head = tag("tr", tag("th", "Workload", scope="col"), joined(column.head() for column in columns))
    body = joined(_row(row, told) for row in rows)
    table = tag("table", tag("caption", label), tag("thead", head), tag("tbody", body), class_="matrix changes")
    return scrolled(table, label)


_BY = {By.PERSON: "", By.FLEET: "new pool", By.RELEASE: "release"}


def _row(row: MatrixRow, told: Sequence[bool]) -> Html:
    kind = row.workloads[0].partition("/")[0]
    count = f" {len(row.workloads):,}" if len(row.workloads) > 1 else ""
    asked = row.family.removesuffix("-*")
    about = " · ".join(filter(None, (f"{kind}{count}", _BY[row.by])))
    link = tag("a", row.family, href=f"#?q={quote(asked, safe='')}")
    name = tag("th", link, tag("br"), tag("span", about, class_="faint"), scope="row")
    cells = joined(
        tag("td", _cell(cell)) if cell is not None else tag("td", tag("span", "·", class_="faint"))
        for cell, is_told in zip(row.cells, told, strict=True)
        if is_told
    )
    return tag("tr", name, cells, class_="hit", id=anchor("m", kind, row.family))


def _cell(cell: Cell) -> Html:
    """The reach, what comes and goes by sign, and whether grants allow it: each by a sign and in words."""
    marks = [
        tag("span", f"{sign}{count:,}", class_=f"delta {name}", title=f"{count:,} {meaning}")
        for count, sign, name, meaning in (
            (cell.new, "+", "new", "new"),
            (cell.wider, "\u2191", "wider", "wider than before"),
            (cell.less, "\u2212", "less", "gone or narrower"),
        )
        if count
    ]
    said = ", ".join(
        f"{count:,} {meaning}"
        for count, meaning in (
            (cell.new, "new"),
            (cell.wider, "wider"),
            (cell.less, "gone or narrower"),
            (cell.granted, "granted"),
            (cell.ungranted, "without a grant"),
        )
        if count
    )
    if cell.ungranted:
        marks.append(tag("span", "no grant", class_="ungranted"))
    elif cell.granted:
        marks.append(tag("span", "\u2713", class_="granted", title="granted"))
    reach = tag("span", short_word(cell.reach), class_=f"reach r{cell.reach.value}", title=cell.reach.meaning)
    return joined((tag("span", reach, " ", joined(marks, " "), aria_hidden="true"), _heard(f"{cell.reach}: {said}")))


def _heard(text: str) -> Html:
    return tag("span", text, class_="hidden-label")


def _matrix_legend() -> Html:
    marks = (
        (tag("span", "+", class_="delta new"), "new"),
        (tag("span", "\u2191", class_="delta wider"), "wider than before"),
        (tag("span", "\u2212", class_="delta less"), "gone or narrower"),
        (tag("span", "\u2713", class_="granted"), "each has a grant"),
        (tag("span", "no grant", class_="ungranted"), "some have none"),
    )
    items = joined(tag("li", sign, f" {meaning}") for sign, meaning in marks)
    note = tag("li", "the word is the worst reach of what changes; numbers count privileges")
    return tag("ul", items, note, class_="marks")


def roll_out_view(report: ChangeReport) -> View | None:
    """The nodes in waves; None where no node gets other pods."""
    found = lanes(report)
    if not found:
        return None
    parts = [tag("ol", joined(map(_lane, found[:_FEW_LANES])), class_="lanes")]
    if rest := found[_FEW_LANES:]:
        more = tag("ol", joined(map(_lane, rest)), class_="lanes")
        parts.append(tag("details", tag("summary", f"{len(rest):,} more"), more, class_="more box"))
    notes = [_NOT_TOLD] if any(lane.waves.drains for lane in found) else []
    if any(lane.kind is DisruptionKind.DRIVER and lane.waves.minutes is None for lane in found):
        notes.append(_NO_MINUTES)
    parts.extend(tag("p", words(note), class_="scope") for note in notes)
    return View("roll-out", "Roll-out", tag("div", *parts, class_="panel"), len(found))


_NOT_TOLD = "A PodDisruptionBudget of the pods that are drained can make a wave longer, or stop it; none is known here."
_NO_MINUTES = (
    "`nodes.rollMinutes` in the profile of a pool says how long a node takes; then this says how long it all takes."
)


def _lane(lane: Lane) -> Html:
    is_driver = lane.kind is DisruptionKind.DRIVER
    what = "driver" if is_driver else counted(len(lane.workloads), "workload")
    pools = joined((tag("strong", _few_pools(lane)), tag("span", f" {what}", class_="faint")))
    title = ", ".join(name.partition("/")[2] for name in lane.workloads)
    said = tag("span", words(_pace(lane)), class_="pace")
    head = tag("div", pools, class_="who", title=title)
    return tag("li", head, _boxes(lane.waves), said, class_=f"hit lane {'driver' if is_driver else 'pods'}")


def _few_pools(lane: Lane) -> Html:
    clusters = sorted({cluster for cluster, _ in lane.pools})
    names = [tag("span", pool, class_="name") for _, pool in lane.pools]
    shown = names if len(names) <= _FEW_NAMES + 1 else names[:_FEW_NAMES]
    rest = f" and {len(names) - len(shown):,} more" if len(shown) < len(names) else ""
    where = clusters[0] if len(clusters) == 1 else f"{len(clusters):,} clusters"
    return joined((joined(shown, ", "), f"{rest} of ", tag("span", where, class_="name")))


def _boxes(waves: Waves) -> Html:
    """A box for each wave, with how many nodes are in it."""
    if not waves.automatic:
        return tag("span", tag("span", "waits", class_="wave stuck"), class_="waves")
    if waves.waves is None or waves.nodes is None:
        return tag("span", tag("span", waves.at_once, class_="wave"), tag("span", "…", class_="faint"), class_="waves")
    size = waves.nodes if waves.at_once == "all" or not waves.at_once.isdigit() else int(waves.at_once)
    sizes = [min(size, waves.nodes - size * number) for number in range(min(waves.waves, _FEW_BOXES))]
    grave = " at-once" if waves.waves == 1 and waves.nodes > 1 else ""
    boxes = [tag("span", f"{max(one, 0):,}", class_=f"wave{grave}") for one in sizes]
    if waves.waves > _FEW_BOXES:
        boxes.append(tag("span", f"+{waves.waves - _FEW_BOXES:,}", class_="faint"))
    return tag("span", joined(boxes), class_="waves", aria_hidden="true")


def _pace(lane: Lane) -> str:
    """In words what the boxes show, and who sets the pace."""
    waves = lane.waves
    each = " each" if len(lane.pools) > 1 and lane.kind is DisruptionKind.DRIVER and len(lane.workloads) > 1 else ""
    phrases = []
    if not waves.automatic:
        phrases.append("not by itself: somebody has to delete the old pods, or change the policy")
    elif waves.nodes is None or waves.waves is None:
        phrases.append(f"{waves.at_once} at a time, of nodes that no profile counts")
    else:
        nodes = counted(waves.nodes, "node")
        at_once = "all at once" if waves.at_once == "all" else f"in {counted(waves.waves, 'wave')}"
        phrases.append(f"{nodes} {at_once}{each}")
    if lane.kind is DisruptionKind.DRIVER:
        phrases.append("each node is drained" if waves.drains else "nodes are not drained")
    if waves.limit:
        policies = lane.policies[0] if len(lane.policies) == 1 else f"{len(lane.policies):,} upgrade policies"
        phrases.append(f"`{waves.limit}` of {policies} sets the pace")
    if waves.minutes is not None:
        phrases.append(f"about {_duration(waves.minutes)}{each}")
    return "; ".join(phrases)


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return " ".join(filter(None, (f"{hours:,} h" if hours else "", f"{rest} min" if rest or not hours else "")))


_MOST_FIELDS, _MOST_LINES, _MOST_IN_ALL, _MOST_HUNKS, _COMPARED = 60, 80, 240, 40, 300
_THERE_IS_MORE = "# there is more: the JSON report has all of it"


def hunks(found: Sequence[Hunk]) -> list[Html]:
    """What each object was and is, folded."""
    shown = [_hunk(item) for item in found[:_MOST_HUNKS]]
    if len(found) > _MOST_HUNKS:
        shown.append(tag("p", f"{len(found) - _MOST_HUNKS:,} more are in the JSON report", class_="scope"))
    return shown


def _hunk(hunk: Hunk) -> Html:
    lines = list(islice((line for field in hunk.fields[:_MOST_FIELDS] for line in _field(field)), _MOST_IN_ALL))
    if len(hunk.fields) > _MOST_FIELDS or len(lines) == _MOST_IN_ALL:
        lines.append(tag("span", _THERE_IS_MORE, class_="faint"))
    label = f"Before and after: {hunk.title}"
    body = tag("pre", joined(lines, Html("\n")), tabindex="0", role="region", aria_label=label, class_="hunk")
    return tag("details", tag("summary", "Before and after: ", code(hunk.title)), body, class_="more")


def _field(field: FieldChange) -> Iterator[Html]:
    """The path, then lines of YAML that are gone and that are there instead."""
    yield tag("span", f"@ {masked('.'.join(split(field.pointer))) or 'all'}", class_="path")
    before = _lines(field.old) if field.standing is not Standing.ADDED else []
    after = _lines(field.new) if field.standing is not Standing.REMOVED else []
    told = list(_compared(before, after))
    for line in told[:_MOST_LINES]:
        yield tag("span", line, class_={"-": "gone", "+": "come"}.get(line[0], "same"))
    if len(told) > _MOST_LINES or max(len(before), len(after)) > _COMPARED:
        yield tag("span", _THERE_IS_MORE, class_="faint")


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Lines that are gone and that come, each with two around it that stay."""
    found = list(difflib.unified_diff(before[:_COMPARED], after[:_COMPARED], lineterm="", n=2))
    for line in found[3:]:
        yield "  ..." if line.startswith("@@") else f"{line[0]} {line[1:]}"


def _lines(value: object) -> list[str]:
    return masked(emit(value)).splitlines()
