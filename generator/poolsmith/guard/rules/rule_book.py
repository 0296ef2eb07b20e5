"""Every rule that poolsmith has, with its page."""

from __future__ import annotations

from functools import cache

from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.core.diagnostics.rule_info import RuleInfo, rule_info
from poolsmith.core.facts.store import read_own_yaml
from poolsmith.core.record import record


@record
class RulePage(RuleInfo):
    """What people read of a rule, as an entry of `data/rules/` says it.

    `applies_to` is profile, values, manifest, policy, output or live. `what` is wrong, and `why` it matters. `symptom`
    is what people see who have the mistake in a cluster: a line of a log, an event. `releases` says for which releases
    of the gpu-operator it holds, where not for all. `bad` and `good` are short YAML examples.
    """

    applies_to: str = "profile"
    what: str
    why: str
    symptom: str = ""
    releases: str = ""
    bad: str = ""
    good: str = ""
    references: tuple[str, ...] = ()


@cache
def _hundred(digit: str) -> tuple[RulePage, ...]:
    return tuple(
        rule_info(RulePage, {"code": code, **entry, "references": tuple(entry.get("references", ()))})
        for code, entry in read_own_yaml(f"rules/{digit}xx.yaml").items()
    )


def rule_book() -> tuple[RulePage, ...]:
    """Sorted by code."""
    return tuple(rule for digit in "0123456789" for rule in _hundred(digit))


def find_rule(word: str) -> RulePage | None:
    """By code or name, also those of a rule that is a part of another now."""
    known = known_rules().get(word.upper()) or known_rules().get(word.lower())
    return None if known is None else next(rule for rule in _hundred(known.code[3]) if rule.code == known.code)
