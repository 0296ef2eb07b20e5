"""Every rule by what people call it, those that are a part of another now, and the families.

Codes are grouped by hundred; the second half of the first hundred goes on where PSM2 was full.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from poolsmith.core.diagnostics.rule_info import RuleInfo, rules_by_code

RETIRED: Final = (
    ("PSM153", "config-of-another-namespace", "PSM750"),
    ("PSM754", "gpus-given-out-twice", "PSM788"),
    ("PSM756", "selector-of-nobody", "PSM775"),
    ("PSM764", "gke-runtime-source", "PSM282"),
    ("PSM772", "claim-of-nobody", "PSM773"),
    ("PSM781", "exporter-twice", "PSM788"),
    ("PSM785", "definitions-twice", "PSM788"),
    ("PSM933", "brought-by-machines", "PSM782"),
    ("PSM936", "template-taints", "PSM758"),
)
"""Code and name of each rule that is a part of another now, and the code of that one."""


@cache
def known_rules() -> dict[str, RuleInfo]:
    """Every rule by its code and by its name; a retired one is the one that says the same now."""
    book = {word: rule for rule in rules_by_code().values() for word in (rule.code, rule.name)}
    return book | {word: book[now] for code, name, now in RETIRED for word in (code, name)}


def retired_code(word: str) -> str:
    """The code that a word stood for when it was a rule of its own; empty where it is none of those."""
    return next((code for code, name, _ in RETIRED if word.upper() == code or word.lower() == name), "")


def former_codes(code: str) -> tuple[str, ...]:
    """The retired codes that a rule goes on for."""
    return tuple(old for old, _, now in RETIRED if now == code)


SHAPE: Final = ("PSM10", "PSM11")
COMPATIBILITY: Final = ("PSM2", "PSM12", "PSM13", "PSM14", "PSM15", "PSM16", "PSM17", "PSM18", "PSM19", "PSM91")
FROM_ELSEWHERE: Final = ("PSM70", "PSM71")
LINKS: Final = ("PSM75", "PSM76", "PSM77", "PSM78")
BESIDE: Final = ("PSM80", "PSM81", "PSM82", "PSM83", "PSM84")
LIVE: Final = ("PSM85", "PSM86", "PSM87")
ENGINES: Final = ("PSM93", "PSM94")
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
    (ENGINES, "What engines and machines do by themselves"),
)
"""Prefixes and titles, in the order of the page of rules."""
