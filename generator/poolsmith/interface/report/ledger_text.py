"""Ledgers and their changes as tables for a terminal.

Where privileges come from, with the line of the file where that stands today.
"""

from __future__ import annotations

from dataclasses import field
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import split
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE, LedgerLine
from poolsmith.guard.ledger.ledger_delta import Change, ChangeKind, LedgerDelta
from poolsmith.guard.ledger.privilege import Privilege, privilege
from poolsmith.project.output.helm_values import origin_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.guard.ledger.ledger import LineOrigin, LineOrigins


class OriginLines:
    """`starts` are the numbers of the lines. Many lines of a ledger have the same origins: each is written once."""

    def __init__(self, starts: Mapping[FromProfile, int]) -> None:
        self._starts = starts
        self._known: dict[LineOrigins, tuple[str, ...]] = {}

    def of(self, origins: LineOrigins) -> tuple[str, ...]:
        if origins not in self._known:
            self._known[origins] = tuple(map(self.text, origins))
        return self._known[origins]

    def text(self, origin: LineOrigin) -> str:
        if not isinstance(origin, FromProfile) or origin not in self._starts:
            return origin_text(origin)
        return f"{origin.path}:{self._starts[origin]}: {'.'.join(split(origin.pointer))}"


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.fleet.plan.driver.driver_change import DriverChange
    from poolsmith.guard.ledger.ledger import Holder, LineOrigin, LineOrigins
    from poolsmith.guard.ledger.reach import Reach

    Starts = Mapping[FromProfile, int]
    """On which line of its file an origin stands."""

_PLACES = {ANY_NODE: "any node", NO_KNOWN_NODE: "no known node"}
_SIGNS = {
    ChangeKind.ADDED: "+",
    ChangeKind.WIDENED: "^",
    ChangeKind.MOVED: ">",
    ChangeKind.NARROWED: "v",
    ChangeKind.REMOVED: "-",
}
_LEGEND = "+ gained, - lost, ^ wider than before, v narrower, > on other pools"
_REACH_WIDTH = 15
_WIDTH = 118


@record(frozen=False, kw_only=False)
class _Workload:
    """The lines of one workload: what they have in common, and on which pools."""

    name: str
    namespace: str
    lines: list[LedgerLine] = field(default_factory=list)

    @property
    def reach(self) -> Reach:
        return min(line.reach for line in self.lines)

    @property
    def pools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.pool for line in self.lines))

    @property
    def origins(self) -> LineOrigins:
        """What brings the whole workload to some pool: the origins that all of its lines there share."""
        found: dict[LineOrigin, None] = {}
        for _, lines in groupby(self.lines, lambda line: line.pool):
            here = list(lines)
            several = {id(line.origins): line.origins for line in here}
            shared = set(here[0].origins).intersection(*several.values())
            found.update(dict.fromkeys(origin for origin in here[0].origins if origin in shared))
        return tuple(found)


def ledger_table(workloads: Iterable[tuple[Holder, LineOrigins]], pools: Sequence[str], starts: Starts) -> str:
    """Workloads, worst first, and the pools where they run."""
    texts = OriginLines(starts)
    numbers = {pool: str(index) for index, pool in enumerate(pools, 1)}
    rows = _table_rows(workloads)
    marks_width = max(sum(len(number) + 1 for number in numbers.values()), len(_PLACES[NO_KNOWN_NODE]) + 1)
    name_width = max((len(name) for _, name, _, _, _ in rows), default=0) + 2
    legend = "  ".join(f"{number}\xa0{pool}" for pool, number in numbers.items())
    out = [line.replace("\xa0", " ") for line in wrap(f"pools: {legend}", _WIDTH, subsequent_indent="       ")] + [""]
    header = "".join(f"{number} " for number in numbers.values()).ljust(marks_width)
    out.append(f"{'REACH':{_REACH_WIDTH}}{header} {'WORKLOAD':{name_width}}CAUSED BY\n")
    for reach, name, _, found, origins in rows:
        marks = _marks(found, numbers).ljust(marks_width)
        out.append(f"{reach!s:{_REACH_WIDTH}}{marks} {name:{name_width}}{_first(origins, texts)}".rstrip() + "\n")
    return printable_lines(out)


def _table_rows(
    workloads: Iterable[tuple[Holder, LineOrigins]],
) -> list[tuple[Reach, str, str, tuple[str, ...], LineOrigins]]:
    """Reach, name, namespace, pools and origins; worst first, then by name."""
    found: dict[tuple[str, str], list[tuple[Holder, LineOrigins]]] = {}
    for holder, origins in workloads:
        found.setdefault((holder.workload, holder.namespace), []).append((holder, origins))
    rows = [
        (
            min(reach for holder, _ in same for _, _, reach in holder.rows),
            *name,
            tuple(sorted({pool for holder, _ in same for pool in holder.pools})),
            tuple(dict.fromkeys(origin for _, origins in same for origin in origins)),
        )
        for name, same in found.items()
    ]
    return sorted(rows, key=lambda row: row[:3])


def ledger_answer(lines: Sequence[LedgerLine], starts: Starts) -> str:
    """One line for each holder of a privilege: where it runs, and the first thing that causes it."""
    texts = OriginLines(starts)
    rows = [
        (
            str(reach),
            f"{item.name}{f' {container}' if container else ''}",
            text,
            _first(item.origins, texts),
            _where(item.pools),
        )
        for item in _workloads(lines)
        for container, held in groupby(_on_first_pool(item), lambda line: line.container)
        for text, reach, _ in _rows((line.privilege, line.reach, ()) for line in held)
    ]
    header = ("REACH", "WHO", "PRIVILEGE", "CAUSED BY", "ON")
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    return printable_lines(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )


def ledger_details(lines: Sequence[LedgerLine], starts: Starts) -> str:
    """Each workload with what it holds, and what causes it."""
    texts = OriginLines(starts)
    out: list[str] = []
    for item in _workloads(lines):
        out.append(f"{item.reach!s:{_REACH_WIDTH}}{item.name}{_in(item.namespace)} on {_where(item.pools)}\n")
        origins = item.origins
        out.extend(
            f"{'':{_REACH_WIDTH}}{'caused by ' if not index else '          '}{origin}\n"
            for index, origin in enumerate(texts.of(origins))
        )
        out.extend(_held(item, origins, texts))
        out.append("\n")
    return printable_lines(out)


def changes_text(changes: LedgerDelta, pools: Sequence[str] = ()) -> str:
    """What is gained and lost, workload by workload; `pools` are all there are, which need no mention together.

    What several workloads gain and lose alike, because they share an account, stands once.
    """
    if not changes.changes:
        return "no privilege changes\n"
    by_workload: dict[str, list[Change]] = {}
    for change in changes.changes:
        by_workload.setdefault(f"{change.workload}{_in(change.namespace)}", []).append(change)
    own = {
        name: tuple(_changed([item for item in found if not _right(item)], pools))
        for name, found in by_workload.items()
    }
    rights = {
        name: tuple(_changed([item for item in found if _right(item)], pools)) for name, found in by_workload.items()
    }
    holders: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(by_workload):
        holders.setdefault(rights[name], []).append(name)
    out = [_LEGEND]
    for name in sorted(by_workload):
        shared = len(holders[rights[name]]) > 1
        lines = own[name] if shared else (*own[name], *rights[name])
        if lines:
            out.extend(("", name, *lines))
        if shared and rights[name] and holders[rights[name]][0] == name:
            out.extend(("", f"the account of {', '.join(holders[rights[name]])}", *rights[name]))
    return printable_lines(out)


def drivers_text(changes: Sequence[DriverChange]) -> str:
    """What becomes of driver pods, pool by pool; nothing where nothing does."""
    if not changes:
        return ""
    width = max(len(change.pool) for change in changes)
    out = ["", "driver pods"]
    for change in changes:
        out.append(f"  {change.pool:{width}}  {change.words}")
        out.append(f"  {'':{width}}  {_driver_sides(change)}")
    return printable_lines(out)


def _driver_sides(change: DriverChange) -> str:
    """Owners and images, only what differs of them."""
    old, new = change.old, change.new
    if old is None or new is None:
        side = new or old
        return f"{side.owner}, {side.image}" if side is not None else ""
    if old.owner == new.owner and old.image == new.image:
        return f"{new.owner}: other settings of its pods"
    owners = new.owner if old.owner == new.owner else f"{old.owner} -> {new.owner}"
    images = new.image if old.image == new.image else f"{old.image} -> {new.image}"
    return f"{owners}, {images}"


def printable_lines(lines: Iterable[str]) -> str:
    return "".join(f"{printable(line.removesuffix(chr(10)))}\n" for line in lines)


def _workloads(lines: Iterable[LedgerLine]) -> list[_Workload]:
    """Worst first, then by name."""
    found: dict[tuple[str, str], _Workload] = {}
    for line in lines:
        key = (line.namespace, line.workload)
        if key not in found:
            found[key] = _Workload(line.workload, line.namespace)
        found[key].lines.append(line)
    return sorted(found.values(), key=lambda item: (item.reach, item.name, item.namespace))


def _marks(pools: tuple[str, ...], numbers: dict[str, str]) -> str:
    """A mark below the number of each pool."""
    for place, words in _PLACES.items():
        if place in pools:
            return words
    return "".join(("x" if pool in pools else ".").ljust(len(number) + 1) for pool, number in numbers.items())


def _held(item: _Workload, origins: LineOrigins, texts: OriginLines) -> Iterator[str]:
    """The container's name once, then a line for each privilege; on the first pool, for all are alike."""
    for container, group in groupby(_on_first_pool(item), lambda line: line.container):
        rows = _rows((line.privilege, line.reach, texts.of(_more(line, item, origins))) for line in group)
        for index, (text, reach, why) in enumerate(rows):
            name = (container or "(pod)") if not index else ""
            because = f"  from {'; '.join(why)}" if why else ""
            yield f"  {reach!s:{_REACH_WIDTH}}{name:28} {text}{because}\n"


def _on_first_pool(item: _Workload) -> list[LedgerLine]:
    return [line for line in item.lines if line.pool == item.lines[0].pool]


def _first(origins: LineOrigins, texts: OriginLines) -> str:
    """The line of a profile that is nearest, else whatever comes first; and how many lines more there are."""
    written = [origin for origin in origins if isinstance(origin, FromProfile)]
    if not written:
        return texts.text(origins[0]) if origins else ""
    return texts.text(written[0]) + (f" and {len(written) - 1} more" if len(written) > 1 else "")


def _more(line: LedgerLine, item: _Workload, origins: LineOrigins) -> LineOrigins:
    """What causes this privilege alone, on any of the pools."""
    same = (other for other in item.lines if (other.container, other.privilege) == (line.container, line.privilege))
    return tuple(dict.fromkeys(origin for other in same for origin in other.origins if origin not in origins))


def _rows(
    held: Iterable[tuple[Privilege, Reach, tuple[str, ...]]],
) -> list[tuple[str, Reach, tuple[str, ...]]]:
    """Verbs that reach equally far in one row, worst rows first."""
    verbs: dict[tuple[object, ...], list[str]] = {}
    rows: dict[tuple[object, ...], tuple[Privilege, Reach, tuple[str, ...]]] = {}
    for token, reach, why in held:
        key: tuple[object, ...] = (token, reach, why)
        if token.name == "rbac":
            group, resource, verb, scope, name = token.arguments
            key = (group, resource, scope, name, reach, why)
            verbs.setdefault(key, []).append(verb)
        rows.setdefault(key, (token, reach, why))
    found = [(_with_verbs(token, verbs.get(key)), reach, why) for key, (token, reach, why) in rows.items()]
    return sorted(found, key=lambda row: row[1])


def _with_verbs(token: Privilege, verbs: list[str] | None) -> str:
    if verbs is None:
        return str(token)
    group, resource, _, scope, name = token.arguments
    return str(privilege("rbac", group, resource, ",".join(verbs), scope, name))


def _changed(changes: list[Change], pools: Sequence[str]) -> Iterator[str]:
    """Signs, privileges, and where; verbs of one kind of right in one line."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        old, new = change.old, change.new
        key = (change.kind, change.container, change.pools_before, change.pools_after, change.reach)
        if (right := _right(change)) is not None:
            before, after = (None if token is None else _without_verb(token) for token in (old, new))
            groups.setdefault((*key, right, before, after), []).append(change)
        else:
            groups.setdefault((*key, old, new), []).append(change)
    for group in groups.values():
        yield _change_line(group, pools)


def _right(change: Change) -> tuple[str, ...] | None:
    """Group and resource of a right; None of any other privilege."""
    token = change.new or change.old
    return token.arguments[:2] if token is not None and token.name == "rbac" else None


def _without_verb(token: Privilege) -> tuple[str, ...]:
    group, resource, _, scope, name = token.arguments
    return group, resource, scope, name


def _change_line(changes: list[Change], pools: Sequence[str]) -> str:
    first = changes[0]
    new, old = (_joined([getattr(change, name) for change in changes]) for name in ("new", "old"))
    text = f"{new} (was {old})" if new and old and new != old else new or old
    return (
        f"  {_SIGNS[first.kind]} {first.reach!s:{_REACH_WIDTH}}{first.container or '(pod)':28} {text}"
        f"{_on(first, pools)}".rstrip()
    )


def _joined(tokens: list[Privilege | None]) -> str:
    """One privilege, or one right with all of its verbs."""
    found = [token for token in tokens if token is not None]
    if not found:
        return ""
    verbs = sorted({token.arguments[2] for token in found}) if found[0].name == "rbac" else []
    return _with_verbs(found[0], verbs if len(verbs) > 1 else None)


def _on(change: Change, pools: Sequence[str]) -> str:
    if change.kind is ChangeKind.MOVED:
        gone = f"no longer on {_where(change.pools_before)}" if change.pools_before else ""
        come = f"now on {_where(change.pools_after)}" if change.pools_after else ""
        return "  " + ", ".join(part for part in (come, gone) if part)
    where = change.pools_after or change.pools_before
    return "" if set(pools) == set(where) else f"  on {_where(where)}"


def _where(pools: Sequence[str]) -> str:
    return ", ".join(_PLACES.get(pool, pool) for pool in pools)


def _in(namespace: str) -> str:
    return f" in {namespace}" if namespace else ""
