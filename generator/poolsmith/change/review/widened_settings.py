"""Waivers, rule settings and enforcement that let more pass than those of the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.review.globs import any_includes
from poolsmith.change.review.widening import Widening
from poolsmith.core.diagnostics import Severity, whole_file
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.diagnostics.printable import cut
from poolsmith.guard.policies.enforcement import DEFAULT_ACTIONS, EnforcementAction, EnforcementSpec
from poolsmith.guard.policies.files import ENFORCEMENT, RULES
from poolsmith.guard.policies.rule_settings import RuleSetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics.known_rules import KnownRule
    from poolsmith.guard.policies.policies import Policies

_LONGEST = 200
_FEW = 6
_MORE_IS_STRICTER = frozenset((("PSM413", "days"),))
"""Parameters whose greater values find more; a change of any other is for people to judge."""
_BY_DEFAULT = RuleSetting()
_Actions = tuple[EnforcementAction, ...]


def widened_waivers(base: Policies, head: Policies) -> Iterator[Widening]:
    """Findings that would be accepted, or accepted for longer."""
    known = {(item.rule.code, item.waiver.subject): item.last_day for item in base.waivers[0]}
    for item in head.waivers[0]:
        before = known.get((item.rule.code, item.waiver.subject))
        if before is not None and item.last_day <= before:
            continue
        how = f"until {item.last_day}" + (f", and not {before}" if before is not None else "")
        what = f"waiver: `{item.rule.name}` on {cut(item.waiver.subject, _LONGEST)} would pass {how}"
        yield Widening(what, item.place, item.rule.name)


_OF_ONE_SEVERITY = ("PSM4", "PSM6", "PSM7")


def widened_rules(base: Policies, head: Policies) -> Iterator[Widening]:
    """Rules that would find less, or whose findings would weigh less."""
    old, new = base.settings[0].by_code, head.settings[0].by_code
    book = known_rules()
    for code in sorted(old.keys() | new.keys()):
        rule = book[code]
        for what in _weaker(rule, old.get(code, _BY_DEFAULT), new.get(code, _BY_DEFAULT)):
            yield Widening(f"rule `{rule.name}`: {what}", whole_file(head.files.rules or RULES), rule.name)


def _weaker(rule: KnownRule, old: RuleSetting, new: RuleSetting) -> Iterator[str]:
    if old.enabled and not new.enabled:
        yield "its findings would pass: it is turned off"
    elif old.enabled and _is_less(rule, old.severity, new.severity):
        was, now = old.severity or rule.severity, new.severity or "what the rule itself says"
        yield f"its findings would be {now}, and not {was}"
    for name, default in rule.parameters:
        before, after = old.parameters.get(name, default), new.parameters.get(name, default)
        if after < before or (after != before and (rule.code, name) not in _MORE_IS_STRICTER):
            yield f"`{name}` would be {after}, and not {before}: it would find less"


def _is_less(rule: KnownRule, old: Severity | None, new: Severity | None) -> bool:
    """A rule may give its findings other severities than its own, as long as nobody sets one for all of them.

    What policies and grants say is never graver than their rules.
    """
    if old == new:
        return False
    if old is None and not rule.code.startswith(_OF_ONE_SEVERITY):
        return new is not Severity.ERROR
    return (new or rule.severity).rank > (old or rule.severity).rank


def widened_enforcement(base: Policies, head: Policies) -> Iterator[Widening]:
    """Pods that API servers would let in, or say less about."""
    old, new = base.enforcement[0], head.enforcement[0]
    place = whole_file(head.files.enforcement or ENFORCEMENT)
    for where, before, after in _weaker_places(old, new):
        what = f"in clusters {listed(where, _FEW)} pods that want more than is granted would meet {_said(after)}"
        yield Widening(f"enforcement: {what}, and not {_said(before)}", place, "enforcement")
    for script in new.scripts:
        if script not in old.scripts:
            what = f"enforcement: containers that run the script `{cut(' '.join(script.split()), _LONGEST)}` would pass"
            yield Widening(what, place, "enforcement")


def _weaker_places(old: EnforcementSpec, new: EnforcementSpec) -> Iterator[tuple[list[str], _Actions, _Actions]]:
    """Patterns of clusters, and the actions there before and after; clusters that nobody chooses have the default."""
    lost = [item for item in old.clusters if not any_includes(new.clusters, item)]
    won = [item for item in new.clusters if not any_includes(old.clusters, item)]
    both = [item for item in (*old.clusters, *new.clusters) if item not in (*lost, *won)]
    if both and _is_weaker(new.actions, old.actions):
        yield list(dict.fromkeys(both)), old.actions, new.actions
    if lost and _is_weaker(DEFAULT_ACTIONS, old.actions):
        yield lost, old.actions, DEFAULT_ACTIONS
    if won and _is_weaker(new.actions, DEFAULT_ACTIONS):
        yield won, DEFAULT_ACTIONS, new.actions


def _is_weaker(now: _Actions, before: _Actions) -> bool:
    """A pod that is denied never gets in, so that what else is said of it does not matter."""
    hardest = next(action for action in EnforcementAction if action in before)
    if hardest not in now:
        return EnforcementAction.DENY not in now
    return hardest is not EnforcementAction.DENY and not set(now) >= set(before)


def _said(actions: _Actions) -> str:
    return " and ".join(action.value for action in EnforcementAction if action in actions)
