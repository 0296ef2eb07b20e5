"""A privilege that no grant allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, plural
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.ledger.grants.grant_proposal import named_proposals, snippet
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.guard.ledger.ledger_view import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_proposal import ClusterNeeds
    from poolsmith.guard.ledger.grants.grant_use import UngrantedView
    from poolsmith.guard.ledger.ledger import LedgerLine

RULE = RuleInfo.of("PSM410")


def check(view: UngrantedView) -> Iterator[Finding[Location]]:
    for family, needs in view.needs.by_family():
        yield _finding(view, family, needs)


def _finding(view: UngrantedView, family: str, needs: ClusterNeeds) -> Finding[Location]:
    from poolsmith.guard.ledger.grants.almost import near_miss  # on demand

    lines = sorted(needs.lines, key=lambda line: line.reach)
    places = view.profile_lines(lines)
    found = named_proposals(view.proposed(family, needs))
    first = lines[0]
    return Finding(
        message=f"`{family}` of `{view.cluster}` holds {_held(lines)} {_where(lines)}, and no grant allows it",
        place=view.privileges.locate(places[0][0]),
        subject=f"{view.cluster}/{first.namespace}/{first.workload.partition('/')[0]}/{family}",
        help=str(near)
        if (near := near_miss(view.grants, needs)) is not None
        else "once it is reviewed, this in `policies/privileges/` allows it, as `poolsmith grants --write` writes it:\n"
        + snippet(found, f"poolsmith grants --cluster {view.cluster}"),
        related=tuple(
            view.privileges.locate(origin, f"brings `{line.privilege}`") for origin, line in places[1 : FEW + 1]
        ),
    )


def _held(lines: Sequence[LedgerLine]) -> str:
    """The worst first."""
    return listed(dict.fromkeys(str(line.privilege) for line in lines), FEW)


def _where(lines: Sequence[LedgerLine]) -> str:
    containers = sorted({line.container for line in lines} - {""})
    pools = sorted({line.pool for line in lines} - {ANY_NODE, NO_KNOWN_NODE})
    inside = f"in {plural(len(containers), 'container')} {listed(containers, FEW)} " if containers else ""
    if pools:
        return f"{inside}on {plural(len(pools), 'pool')} {listed(pools, FEW)}"
    return inside + ("on any node" if any(line.pool == ANY_NODE for line in lines) else "wherever it will run")
