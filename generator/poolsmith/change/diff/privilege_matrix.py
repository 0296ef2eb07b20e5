"""Privileges that a change gives and takes, as a matrix: families of workloads, and pools.

Pools whose cells say the same are one column, workloads whose names differ by a system or a digest are one row. A fleet
of any size has few columns: beyond, pools are one, with the worst of each.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_sections import Part
from poolsmith.change.diff.report_rows import rows_of
from poolsmith.change.diff.rows import By, RowKind
from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger import NO_KNOWN_NODE
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.change.diff.rows import Row

MOST_COLUMNS = 10
PoolName = tuple[str, str]
"""Cluster and pool."""


@record
class Cell:
    """What containers of the workloads may do on a pool that they might not (`new`, `wider`), and no longer (`less`).

    Numbers are of privileges. `reach` is the worst of what they gain, else of what they lose.
    """

    reach: Reach
    new: int = 0
    wider: int = 0
    less: int = 0
    granted: int = 0
    ungranted: int = 0

    @property
    def sign(self) -> tuple[Reach, bool, bool, bool, bool, bool]:
        """What two cells have in common that look alike."""
        return self.reach, self.new > 0, self.wider > 0, self.less > 0, self.granted > 0, self.ungranted > 0

    def beside(self, other: Cell) -> Cell:
        """The worst of both, for pools that are shown as one."""
        return Cell(
            reach=min(self.reach, other.reach),
            new=max(self.new, other.new),
            wider=max(self.wider, other.wider),
            less=max(self.less, other.less),
            granted=max(self.granted, other.granted),
            ungranted=max(self.ungranted, other.ungranted),
        )


@record
class MatrixRow:
    """`workloads` are `Kind/name`. `cells` has one for each column, None where nothing changes there.

    `by`: who brought most of it about.
    """

    family: str
    workloads: tuple[str, ...]
    cells: tuple[Cell | None, ...]
    by: By

    @property
    def weight(self) -> tuple[object, ...]:
        """What a person chose comes first, then what no grant allows, then the worst reach."""
        found = [cell for cell in self.cells if cell is not None]
        gains = any(cell.new or cell.wider for cell in found)
        return self.by, not any(cell.ungranted for cell in found), not gains, min(cell.reach for cell in found)


@record
class PrivilegeMatrix:
    """`columns` are pools that look alike in all rows; the last may be all others, where there are more (`is_cut`)."""

    columns: tuple[tuple[PoolName, ...], ...]
    rows: tuple[MatrixRow, ...]
    is_cut: bool = False


def privilege_matrix(report: ChangeReport) -> PrivilegeMatrix:
    """Of a change that gives or takes nothing it has no rows."""
    rows = tuple(row for row in chain(rows_of(Part.MORE, report), rows_of(Part.LESS, report)) if _is_privilege(row))
    families = name_families(row.name for row in rows)
    cells: dict[str, dict[PoolName, Cell]] = defaultdict(dict)
    by: dict[str, By] = {}
    for row in rows:
        family = families[row.name]
        by[family] = min(by.get(family, row.by), row.by)
        for pool, cell in _cells(row):
            held = cells[family].get(pool)
            cells[family][pool] = cell if held is None else _and(held, cell)
    columns, is_cut = _columns(cells)
    members: dict[str, list[str]] = defaultdict(list)
    for name, family in sorted(families.items()):
        members[family].append(name)
    found = (
        MatrixRow(
            family=family,
            workloads=tuple(members[family]),
            cells=tuple(_of_column(held, column) for column in columns),
            by=by[family],
        )
        for family, held in cells.items()
    )
    return PrivilegeMatrix(
        columns=columns, rows=tuple(sorted(found, key=lambda row: (row.weight, row.family))), is_cut=is_cut
    )


def name_families(names: Iterable[str]) -> dict[str, str]:
    """By `Kind/name`: its own name, or for several of a kind what their names have in common before a part with a
    digit, such as `nvidia-gpu-driver-*` for those of each system."""
    by_family: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        kind, _, own = name.partition("/")
        by_family[kind, _stem(own)].append(name)
    return {
        name: name.partition("/")[2] if len(alike) == 1 else f"{stem}-*"
        for (_, stem), alike in by_family.items()
        for name in alike
    }


def _stem(name: str) -> str:
    first, *rest = name.split("-")
    kept = [first]
    for part in rest:
        if any(char.isdigit() for char in part):
            break
        kept.append(part)
    return "-".join(kept)


def _is_privilege(row: Row) -> bool:
    return row.kind is RowKind.PRIVILEGE


def _cells(row: Row) -> Iterator[tuple[PoolName, Cell]]:
    item = row.item[0]
    change = item.change
    gone = ChangeKind.NARROWED, ChangeKind.REMOVED
    after = () if change.kind in gone else change.pools_after
    grants = {"granted": row.count * (item.granted is True), "ungranted": row.count * (item.granted is False)}
    is_wider = change.kind is ChangeKind.WIDENED
    for pool in after:
        reach = Reach(row.rank)
        yield (
            (row.cluster, pool),
            Cell(reach=reach, new=row.count * (not is_wider), wider=row.count * is_wider, **grants),
        )
    for pool in change.pools_before:
        if pool not in after and pool != NO_KNOWN_NODE:
            yield (row.cluster, pool), Cell(reach=Reach(row.rank), less=row.count)


def _and(one: Cell, other: Cell) -> Cell:
    """Both on the same pool. What is gained decides the reach."""
    alike = (one.new + one.wider > 0) == (other.new + other.wider > 0)
    gaining = min(one, other, key=lambda cell: cell.new + cell.wider == 0)
    return Cell(
        reach=min(one.reach, other.reach) if alike else gaining.reach,
        new=one.new + other.new,
        wider=one.wider + other.wider,
        less=one.less + other.less,
        granted=one.granted + other.granted,
        ungranted=one.ungranted + other.ungranted,
    )


def _columns(cells: dict[str, dict[PoolName, Cell]]) -> tuple[tuple[tuple[PoolName, ...], ...], bool]:
    """What asks for most attention first; whether the last has all others."""
    alike: dict[tuple[object, ...], list[PoolName]] = defaultdict(list)
    ungranted: dict[PoolName, int] = defaultdict(int)
    for pool in sorted({pool for held in cells.values() for pool in held}):
        found = [held.get(pool) for held in cells.values()]
        ungranted[pool] = sum(cell.ungranted for cell in found if cell is not None)
        alike[tuple(cell.sign if cell is not None else None for cell in found)].append(pool)
    groups = sorted(map(tuple, alike.values()), key=lambda pools: (-ungranted[pools[0]], -len(pools), pools[0]))
    if len(groups) <= MOST_COLUMNS:
        return tuple(groups), False
    return (*groups[: MOST_COLUMNS - 1], tuple(sorted(chain.from_iterable(groups[MOST_COLUMNS - 1 :])))), True


def _of_column(held: dict[PoolName, Cell], pools: Iterable[PoolName]) -> Cell | None:
    found: Cell | None = None
    for pool in pools:
        cell = held.get(pool)
        if cell is not None:
            found = cell if found is None else found.beside(cell)
    return found
