"""What rules on privileges see of one cluster: its plan, its workloads with what they hold, and its profiles."""

from __future__ import annotations

from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.record import record
from poolsmith.core.shape.field import camel_case
from poolsmith.core.sources.pointer import split
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.guard.ledger.ledger import ANY_NODE
from poolsmith.guard.ledger.privilege import covers
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValuePath
    from poolsmith.guard.ledger.ledger import LedgerLine, LineOrigin, LineOrigins
    from poolsmith.guard.ledger.privilege import Privilege


VALUES = "/spec/stack/values"
FEW = 4
"""So many names and places does a finding show."""


@record
class SeenWorkload:
    """A workload (`Kind/name`) and what it holds; `lines` are those of its first pool, for all pools are alike.

    `maker` creates it, `through` names what it is created through; `account` is its service account.
    """

    namespace: str
    workload: str
    account: str
    maker: str
    through: str
    pools: tuple[str, ...]
    lines: tuple[LedgerLine, ...]
    _held: dict[tuple[Privilege, ...], tuple[LedgerLine, ...]] = field(default_factory=dict, compare=False, repr=False)
    """What was asked for before, by rules or by other clusters that are installed alike."""

    @property
    def key(self) -> str:
        """Namespace, kind and name."""
        return f"{self.namespace}/{self.workload}"

    @property
    def kind(self) -> str:
        return self.workload.partition("/")[0]

    @property
    def name(self) -> str:
        return self.workload.partition("/")[2]

    @property
    def shown(self) -> str:
        return f"`{self.name}`"

    @property
    def reach(self) -> Reach:
        return min((line.reach for line in self.lines), default=Reach.NONE)

    def held(self, *wanted: Privilege) -> tuple[LedgerLine, ...]:
        """The lines of what it holds of these privileges, or of what includes one of them."""
        if wanted not in self._held:
            names = {item.name for item in wanted}
            alike = (line for line in self.lines if line.privilege.name in names)  # nearly none is
            self._held[wanted] = tuple(line for line in alike if any(covers(line.privilege, item) for item in wanted))
        return self._held[wanted]


@record
class PrivilegeView:
    """One cluster. `files` are its profiles by path, bases included; `cluster` is what it is called.

    `reasons` tells what gets a workload to a pool, as origins, nearest first.
    """

    plan: ClusterPlan
    workloads: tuple[SeenWorkload, ...]
    files: Mapping[str, SourceFile]
    reasons: Callable[[SeenWorkload, str], LineOrigins]
    cluster: str

    def pools_of(self, workload: SeenWorkload) -> tuple[PoolPlan, ...]:
        """The pools that it is tied to; none where it may run anywhere, or runs nowhere."""
        positions = self.plan.positions
        found = sorted({positions[name] for name in workload.pools if name in positions})
        return tuple(self.plan.pools[index] for index in found)

    def is_on_nodes(self, workload: SeenWorkload) -> bool:
        """Whether it surely runs on nodes of pools: tied to them, or on each node that there is."""
        return bool(self.pools_of(workload)) or (ANY_NODE in workload.pools and workload.kind == "DaemonSet")

    def profile_lines(self, origins: Iterable[LineOrigin]) -> tuple[FromProfile, ...]:
        """Those of the origins that stand in a profile, each once."""
        found = (item for item in origins if isinstance(item, FromProfile) and item.path in self.files)
        return tuple(dict.fromkeys(found))

    def lines_of(self, workload: SeenWorkload) -> tuple[FromProfile, ...]:
        """The lines of profiles that bring a workload about, on any of its pools."""
        return self.profile_lines(line for pool in workload.pools for line in self.reasons(workload, pool))

    def nearest_line(self, workload: SeenWorkload) -> FromProfile:
        """The first line of a profile that brings a workload about; the stack's where only defaults of a chart do."""
        lines = self.profile_lines(self.reasons(workload, workload.pools[0]))
        return lines[0] if lines else self.plan.stack_line

    def line_of(self, key: str, origins: LineOrigins) -> FromProfile:
        """The same of any workload: one that holds nothing is not in the view, and has only its own `origins`."""
        workload = next((item for item in self.workloads if item.key == key), None)
        if workload is not None:
            return self.nearest_line(workload)
        return (*self.profile_lines(origins), self.plan.stack_line)[0]

    def value_line(self, path: ValuePath) -> FromProfile | None:
        """Where stack.values sets a value; None where it doesn't."""
        setting = self.plan.setting(*path)
        origin = setting.origin if setting is not None else None
        return origin if isinstance(origin, FromProfile) and origin.pointer.startswith(f"{VALUES}/") else None

    def finding(
        self,
        message: str,
        line: FromProfile,
        *,
        related: Iterable[tuple[FromProfile, str]] = (),
        help: str | None = None,
        about: SeenWorkload | None = None,
    ) -> Finding[Location]:
        """At the line that brings it about; `related` are further ones, each with what is to be seen there."""
        notes: dict[FromProfile, str] = {}
        for other, note in related:
            if other != line:
                notes.setdefault(other, note)
        return Finding(
            message=message,
            place=self.locate(line),
            related=tuple(self.locate(other, note) for other, note in notes.items()),
            help=help,
            subject="" if about is None else f"{self.cluster}/{about.key}",
        )

    def locate(self, line: FromProfile, note: str | None = None) -> Location:
        return self.files[line.path].locate(line.pointer, note)


def said(pool: PoolPlan, pointer: str) -> Any:
    """What a pool's profile says at a pointer, its bases and the defaults of fields included; None for nothing.

    Raises KeyError for a pointer that no profile can have.
    """
    node: Any = pool.profile
    for step in split(pointer):
        if node is None:
            return None
        node = getattr(node, {camel_case(item.name): item.name for item in fields(node)}[step])
    return node
