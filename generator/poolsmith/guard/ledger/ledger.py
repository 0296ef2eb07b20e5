"""The privileges that a cluster's workloads hold, pool by pool, each line with its origins."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from poolsmith.core.record import record
from poolsmith.fleet.plan.origin import Origin
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.guard.ledger.privilege import Privilege


ANY_NODE = "*"
"""In the place of a pool: nothing ties the workload to nodes; it may run on those of each pool, and on any other."""
NO_KNOWN_NODE = "-"
"""In the place of a pool: no node that is known takes the workload, by its labels and taints as they are known."""


class LedgerLine(NamedTuple):
    """One privilege that one container of a workload (`Kind/name`) holds on the nodes of a pool.

    The container is empty for what the pod holds as a whole: the namespaces of the node, kernel settings, volumes that
    no container mounts, and the rights of its service account. Origins are in order: what switched it on, then what it
    was derived through.
    """

    pool: str
    workload: str
    container: str
    privilege: Privilege
    reach: Reach
    origins: LineOrigins = ()
    namespace: str = ""

    @property
    def workload_name(self) -> str:
        return self.workload.partition("/")[2]

    def with_origins(self, origins: LineOrigins) -> LedgerLine:
        """Part by part: `_replace` takes four times the time, and a fleet has hundreds of thousands of lines."""
        return _make(LedgerLine, (*self[:5], origins, self[6]))


_make = tuple.__new__

Row = tuple[str, "Privilege", Reach]
"""Container, privilege and its reach."""


class Holder(NamedTuple):
    """A workload (`Kind/name`) with what it holds, and the pools that it lands on: it holds the same on each."""

    namespace: str
    workload: str
    rows: tuple[Row, ...]
    pools: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.workload}"

    def lines_on(self, pool: str) -> Iterator[LedgerLine]:
        for container, privilege, reach in self.rows:
            yield LedgerLine(pool, self.workload, container, privilege, reach, (), self.namespace)


def holders_of(lines: Iterable[LedgerLine]) -> tuple[Holder, ...]:
    """Of lines in the order of `line_order`. A workload that does not hold the same everywhere is several."""
    rows: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for line in lines:
        by_pool = rows.setdefault((line.namespace, line.workload), {})
        by_pool.setdefault(line.pool, []).append((line.container, line.privilege, line.reach))
    pools: dict[tuple[str, str, tuple[Row, ...]], list[str]] = {}
    for key, by_pool in sorted(rows.items()):
        for pool, held in by_pool.items():
            pools.setdefault((*key, tuple(held)), []).append(pool)
    return tuple(Holder(*key, tuple(found)) for key, found in pools.items())


LineIdentity = tuple[str, str, str, str, str, tuple[str, ...]]


def line_order(line: LedgerLine) -> LineIdentity:
    """Pool, namespace, workload, container, privilege: no two lines of a ledger have all of them in common."""
    privilege = line.privilege
    return line.pool, line.namespace, line.workload, line.container, privilege.name, privilege.arguments


@record(kw_only=False, slots=False, eq=False)
class Ledger:
    """Given as lines in the order of `line_order`, each once; or as holders by namespace and name. The other one
    follows. `unknown` says what could not be told: it is not in the lines.

    `landing` are the pools of each workload, by namespace/Kind/name: of those without any privilege too.
    """

    written: tuple[LedgerLine, ...] = ()
    unknown: tuple[str, ...] = ()
    landing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    installed: tuple[Holder, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and (self.lines, self.unknown) == (other.lines, other.unknown)

    def __hash__(self) -> int:
        return hash((self.lines, self.unknown))

    @cached_property
    def lines(self) -> tuple[LedgerLine, ...]:
        """By pool: a fleet has hundreds of thousands of them, so that who needs no more asks for the holders."""
        by_pool: dict[str, list[Holder]] = {}
        for holder in self.installed:
            for pool in holder.pools:
                by_pool.setdefault(pool, []).append(holder)
        made = (line for pool in sorted(by_pool) for holder in by_pool[pool] for line in holder.lines_on(pool))
        return self.written or tuple(made)

    @property
    def count(self) -> int:
        """Of the lines, without making any."""
        return len(self.written) or sum(len(item.rows) * len(item.pools) for item in self.installed)

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """Those that hold anything."""
        return tuple(item for item in self.installed if item.rows) or holders_of(self.written)

    @classmethod
    def of(cls, lines: Iterable[LedgerLine], unknown: Iterable[str] = ()) -> Ledger:
        """A ledger of lines in any order. What stands there twice stands here once, with the origins of both."""
        merged: dict[LineIdentity, LedgerLine] = {}
        for line in lines:
            known = merged.setdefault(line_order(line), line)
            if known.origins != line.origins:
                origins = tuple(dict.fromkeys((*known.origins, *line.origins)))
                merged[line_order(line)] = known._replace(origins=origins)
        return cls(tuple(merged[key] for key in sorted(merged)), tuple(sorted(set(unknown))))

    @property
    def pools(self) -> tuple[str, ...]:
        return tuple(sorted({pool for item in self.holders for pool in item.pools}))

    @property
    def workloads(self) -> tuple[str, ...]:
        return tuple(sorted({item.workload for item in self.holders}))

    def only(
        self,
        *,
        pool: str | None = None,
        namespace: str | None = None,
        workload: str | None = None,
        reach: Reach | None = None,
    ) -> Ledger:
        """The lines of a pool, of a workload, or of one reach. What is unknown stays unknown."""
        return Ledger(
            tuple(
                line
                for line in self.lines
                if pool in (None, line.pool)
                and namespace in (None, line.namespace)
                and workload in (None, line.workload)
                and reach in (None, line.reach)
            ),
            self.unknown,
        )


class ChartDefault(NamedTuple):
    """A value of the operator's chart that nobody set; `written` is what the chart has there, as JSON."""

    path: tuple[str, ...]
    written: str

    def __str__(self) -> str:
        return f"chart default {'.'.join(self.path)}: {self.written}"


class Through(NamedTuple):
    """The object that a privilege came through: a chart, a custom resource, or a workload."""

    name: str

    def __str__(self) -> str:
        return self.name


LineOrigin = Origin | ChartDefault | Through
LineOrigins = tuple[LineOrigin, ...]
