"""What settings and waivers need to know of each rule, without loading the rules: a table generated from them.

Codes are grouped by hundred; the second half of the first hundred goes on where PSM2 was full.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from poolsmith.core.diagnostics.diagnostic import Severity
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


SHAPE: Final = ("PSM10", "PSM11")
COMPATIBILITY: Final = ("PSM2", "PSM12", "PSM13", "PSM14", "PSM15", "PSM16", "PSM17", "PSM18", "PSM19", "PSM91")
BESIDE: Final = ("PSM80", "PSM81", "PSM82", "PSM83", "PSM84")
LIVE: Final = ("PSM85", "PSM86", "PSM87")
FAMILIES: Final = (
    (("PSM0",), "Reading files"),
    (SHAPE, "Shape of profiles"),
    (COMPATIBILITY, "Compatibility"),
    (("PSM3",), "Helm values and schemas"),
    (("PSM4",), "Privileges"),
    (("PSM5",), "Output and GitOps hygiene"),
    (("PSM6",), "Policy files"),
    (("PSM7",), "What comes from elsewhere, and what is switched off"),
    (BESIDE, "What stands beside the GPU stack"),
    (LIVE, "The cluster that runs"),
    (("PSM90",), "Your own policies"),
)
"""Prefixes and titles, in the order of the page of rules."""
