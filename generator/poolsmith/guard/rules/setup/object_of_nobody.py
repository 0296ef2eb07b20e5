"""ConfigMaps, Secrets and classes that fields of the stack name: absent, applied under another name, without a key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.guard.rules.names.messages import changed, elsewhere, lacking, refused, slip, unread
from poolsmith.guard.rules.names.need import State
from poolsmith.guard.rules.setup.named_objects import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.names.need import Verdict
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM750")
NEEDS = ()
_MOST_KEYS = 8
_SAID = {State.CHANGED: changed, State.NEAR: slip}


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for verdict in verdicts(view):
        yield from refused(verdict)
        if verdict.state in _SAID:
            yield _SAID[verdict.state](verdict)
        elif verdict.state is State.LACKS_KEY and _is_short(verdict):
            yield unread(verdict) if verdict.need.values else lacking(verdict)
        elif verdict.state is State.ELSEWHERE and view.namespace is not None and not view.is_generated:
            yield replace(elsewhere(verdict), severity=Severity.WARNING)


def _is_short(verdict: Verdict) -> bool:
    """An object with many keys may be made for several readers."""
    held = verdict.offer.keys if verdict.offer is not None else None
    return isinstance(held, frozenset) and len(held) <= _MOST_KEYS
