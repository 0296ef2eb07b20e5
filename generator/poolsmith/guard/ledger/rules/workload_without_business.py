"""A privileged workload on a pool whose profile has nothing for it to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.catalog.switches import read_switches
from poolsmith.guard.ledger.ledger_view import FEW, said
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.fleet.plan.origin import FromProfile
    from poolsmith.fleet.plan.plan import PoolPlan, ValuePath
    from poolsmith.gpu.catalog.switches import Business
    from poolsmith.guard.ledger.ledger_view import PrivilegeView, SeenWorkload

RULE = RuleInfo.of("PSM401")


def check(view: PrivilegeView) -> Iterator[Finding[Location]]:
    switches = read_switches()
    for workload in view.workloads:
        business = switches.business_of(workload.name)
        if business is None or workload.reach is Reach.NONE:
            continue
        pools = view.pools_of(workload)
        asked = [(pool, _asks(pool, business)) for pool in pools]
        if idle := [pool for pool, asks in asked if not asks]:
            yield _finding(view, workload, business, idle, [pool for pool, asks in asked if asks])


def _asks(pool: PoolPlan, business: Business) -> bool:
    for pointer, words in business.asked:
        value = said(pool, pointer)
        if value is not None and (not words or value in words):
            return True
    return False


def _finding(
    view: PrivilegeView, workload: SeenWorkload, business: Business, idle: Sequence[PoolPlan], busy: Sequence[PoolPlan]
) -> Finding[Location]:
    undo = {path: line for path in business.unset if (line := view.value_line(path)) is not None}
    if business.switch is not None and not busy and (line := view.value_line(business.switch)) is not None:
        undo[business.switch] = line
    lines = [*_undone(undo), *_lines(view, workload, idle)] or [(view.plan.stack_line, "")]
    where, profile = ("pools", "their profiles") if len(idle) > 1 else ("pool", "its profile")
    return view.finding(
        message=f"{workload.shown} runs with {workload.reach} on {where} {listed([pool.name for pool in idle], FEW)} "
        f"of `{view.cluster}`, and nothing in {profile} asks for it",
        line=lines[0][0],
        related=tuple(lines),
        help=_help(view, business, busy, tuple(undo)),
        about=workload,
    )


def _undone(undo: Mapping[ValuePath, FromProfile]) -> Iterator[tuple[FromProfile, str]]:
    for path, line in undo.items():
        yield line, f"sets `{dotted(path)}`"


def _lines(view: PrivilegeView, workload: SeenWorkload, idle: Sequence[PoolPlan]) -> Iterator[tuple[FromProfile, str]]:
    """What gets the workload to these pools, first what is said of each pool itself."""
    by_pool = {pool.name: view.profile_lines(view.reasons(workload, pool.name)) for pool in idle}
    shared = set.intersection(*map(set, by_pool.values()))
    for pool, lines in by_pool.items():
        yield from ((line, f"of pool `{pool}`") for line in lines if line not in shared or len(idle) == 1)
    yield from ((line, f"brings {workload.shown}") for lines in by_pool.values() for line in lines if line in shared)


def _help(view: PrivilegeView, business: Business, busy: Sequence[PoolPlan], undo: Sequence[ValuePath]) -> str | None:
    """What a user can really write, and what ends the finding."""
    if undo:
        return f"remove {' and '.join(f'`{dotted(path)}`' for path in undo)} from `stack.values`"
    if business.switch is not None and not busy and view.plan.setting(*business.switch) is None:
        return f"no pool needs it: write `{_as_values(business.switch, 'false')}` in the cluster's profile"
    if business.declare:
        why = f"pool `{busy[0].name}` needs it" if busy else "profiles decide on it"
        return (
            f"{why}, so it can't be switched off: where it is to keep the nodes as they are, "
            f"write `{business.declare}` in the pool's profile"
        )
    return None


def _as_values(path: ValuePath, text: str) -> str:
    """How a value of the operator's chart is written into a cluster's profile, in one line."""
    for key in reversed(("stack", "values", *path)):
        text = f"{{{key}: {text}}}"
    return text[1:-1]
