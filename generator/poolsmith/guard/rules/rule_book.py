"""Every code that poolsmith can report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.code_book import CODE_BOOK
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.gpu.values.registry import VALUE_RULES
from poolsmith.guard.ledger.privilege_check import GRANT_RULE_INFOS, PRIVILEGE_RULES
from poolsmith.guard.rules.beside.registry import BESIDE_RULES
from poolsmith.guard.rules.links.registry import LINK_RULES
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.repository_rules import CHART_RULES, TEMPLATE_RULES
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.texts.registry import TEXT_RULES

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import RuleInfo


def rule_book() -> tuple[RuleInfo, ...]:
    """Sorted by code. A rule that speaks on several surfaces is one."""
    of_files = (RULES, LINK_RULES, CHART_RULES, TEMPLATE_RULES, TEXT_RULES, BESIDE_RULES)
    families = (*of_files, VALUE_RULES, PRIVILEGE_RULES, SETUP_RULES)
    judges = (rule.RULE for rules in families for rule in rules)
    once = dict.fromkeys((*CODE_BOOK, *GRANT_RULE_INFOS, *judges))
    return tuple(sorted(once, key=lambda rule: rule.code))


def find_rule(word: str) -> RuleInfo | None:
    """By code or name, also those of a rule that is a part of another now."""
    known = known_rules().get(word.upper()) or known_rules().get(word.lower())
    wanted = known.code.lower() if known is not None else word.lower()
    return next((rule for rule in rule_book() if wanted in (rule.code.lower(), rule.name)), None)
