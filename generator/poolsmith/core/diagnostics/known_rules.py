"""What settings and waivers need to know of a rule, without loading the rules: a table generated from them."""

from __future__ import annotations

from functools import cache

from poolsmith.core.diagnostics.severity import Severity
from poolsmith.core.record import record


@record(kw_only=False)
class KnownRule:
    """`severity` is the one where nobody sets another; `parameters` are numbers with their defaults."""

    code: str
    name: str
    severity: Severity
    parameters: tuple[tuple[str, int], ...] = ()


@cache
def known_rules() -> dict[str, KnownRule]:
    """Every rule by its code and by its name."""
    from poolsmith.core.diagnostics.rule_table import RULES  # on demand

    found = [KnownRule(code, name, Severity(severity), parameters) for code, name, severity, parameters in RULES]
    return {word: rule for rule in found for word in (rule.code, rule.name)}
