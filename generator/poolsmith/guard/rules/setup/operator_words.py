"""Words in values and custom resources that their definition takes, and that the operator can't read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.configured import Leaf, Part
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM162")
NEEDS = ()
_POLICY = "upgradePolicy"
_SHARE = ("maxUnavailable",)
_SELECTORS = (("podDeletion", "podSelector"), ("drain", "podSelector"), ("waitForCompletion", "podSelector"))
_PULL = "imagePullPolicy"
_PULLS = ("Always", "IfNotPresent", "Never")
_OTHERS = ("operator", "node-feature-discovery")
"""What the chart installs itself: an unknown word is refused there."""
_PERCENT = pattern(r"[+-]?[0-9]+%", re.ASCII)
_KEY = r"(?:[A-Za-z0-9.-]+/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
_WORD = r"(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?"
_REQUIREMENT = (
    rf"\s*(?:!\s*{_KEY}|{_KEY}|{_KEY}\s*(?:==?|!=)\s*{_WORD}|{_KEY}\s+(?:in|notin)\s*\(\s*{_WORD}(?:\s*,\s*{_WORD})*\s*\)"
    rf"|{_KEY}\s*[<>]\s*[0-9]+)\s*"
)
_SELECTOR = pattern(rf"{_REQUIREMENT}(?:,{_REQUIREMENT})*", re.ASCII)
_LONGEST = 500


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated and not (view.values is not None and view.values.own):
        return
    from poolsmith.guard.rules.setup.configured import configured  # on demand

    made = configured(view)
    for leaf in made.leaves:
        part = made.parts[leaf.part]
        at = leaf.steps.index(_POLICY) if _POLICY in leaf.steps else None
        if at is not None and _upgrades(part, leaf.steps[: at + 1]):
            yield from _of_policy(part, leaf, leaf.steps[at + 1 :])
        elif (
            leaf.steps[-1] == _PULL and leaf.steps[0] not in _OTHERS and (part.body or {}).get("kind") != "NVIDIADriver"
        ):
            yield from _pull(part, leaf)


def _upgrades(part: Part, policy: tuple[str, ...]) -> bool:
    return value_at(part.tree, (*policy, "autoUpgrade")) is not False


def _of_policy(part: Part, leaf: Leaf, below: tuple[str, ...]) -> Iterator[Finding[Location]]:
    is_share = below == _SHARE
    why = _share(leaf.value) if is_share else _selector(leaf.value) if below in _SELECTORS else None
    if why is not None:
        yield Finding(
            message=f"`{leaf.dotted}` is `{shorten(str(leaf.value))}`, {why}",
            place=part.at(leaf.steps),
            help="write a number like 1, or a percentage like `25%`"
            if is_share
            else "write a selector like `app=training,team in (a, b)`",
        )


def _share(value: Any) -> str | None:
    if isinstance(value, str):
        if not value:
            return None
        if not _PERCENT.fullmatch(value):
            return "which is no number and no percentage: the operator upgrades no driver"
        return "which lets no node be upgraded" if not value.strip("+-0%") or value.startswith("-") else None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return "which lets no node be upgraded" if is_number and value <= 0 else None


def _selector(value: Any) -> str | None:
    if not isinstance(value, str) or not value or len(value) > _LONGEST or _SELECTOR.fullmatch(value):
        return None
    return "which is no label selector: the operator finds no pods by it"


def _pull(part: Part, leaf: Leaf) -> Iterator[Finding[Location]]:
    value = leaf.value
    if isinstance(value, str) and value and value not in _PULLS:
        yield Finding(
            message=f"`{leaf.dotted}` is `{shorten(value)}`, which is none: the operator takes IfNotPresent",
            place=part.at(leaf.steps),
            help=did_you_mean(value, _PULLS),
            severity=Severity.WARNING,
        )
