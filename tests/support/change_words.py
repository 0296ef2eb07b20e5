"""A change of a ledger in one English sentence."""

from __future__ import annotations

from poolsmith.core.diagnostics.message_text import plural
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.guard.ledger.ledger_delta import Change, ChangeKind
from poolsmith.guard.ledger.reach import reach_of


def in_words(change: Change) -> str:
    who = _who(change)
    before, after = _where(change.pools_before), _where(change.pools_after)
    match change.kind:
        case ChangeKind.ADDED:
            return f"{who} gets `{change.new}` ({change.reach}) {after}."
        case ChangeKind.REMOVED:
            return f"{who} loses `{change.old}` ({change.reach}) {before}."
        case ChangeKind.MOVED if not change.pools_before:
            return f"{who} gets `{change.new}` ({change.reach}) {after} too."
        case ChangeKind.MOVED if not change.pools_after:
            return f"{who} loses `{change.old}` ({change.reach}) {before}, but not everywhere."
        case ChangeKind.MOVED:
            return f"{who} gets `{change.new}` ({change.reach}) {after}, and loses it {before}."
    word = "wider" if change.kind is ChangeKind.WIDENED else "narrower"
    return f"{who} gets the {word} `{change.new}` for `{change.old}` ({_reaches(change)}) {after}."


def _who(change: Change) -> str:
    workload = f"{change.workload} in {change.namespace}" if change.namespace else change.workload
    return f"Container {change.container} of {workload}" if change.container else workload


def _where(pools: tuple[str, ...]) -> str:
    words = {ANY_NODE: "any node", NO_KNOWN_NODE: "no known node"}
    named = [pool for pool in pools if pool not in words]
    parts = [f"{plural(len(named), 'pool')} {', '.join(named)}"] if named else []
    parts += [words[pool] for pool in pools if pool in words]
    return f"on {' and '.join(parts)}"


def _reaches(change: Change) -> str:
    before = change.reach if change.old is None else reach_of(change.old)
    return str(before) if before is change.reach else f"{before} to {change.reach}"
