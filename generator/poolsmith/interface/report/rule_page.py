"""A rule's documentation page, from its entry in the code book."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.known_rules import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.guard.rules.rule_book import RulePage


def family_of(rule: RulePage) -> str:
    return next((title for prefixes, title in FAMILIES if rule.code.startswith(prefixes)), "")


def format_rule(rule: RulePage) -> str:
    """One rule as Markdown, as `explain` prints it and the docs show it."""
    parts = [
        f"### {rule.code} {rule.name}",
        f"Default severity: {rule.severity}. Looks at: {rule.applies_to}."
        + (f" Releases: {rule.releases}." if rule.releases else ""),
        f"**What it finds.** {rule.what}",
        f"**Why it matters.** {rule.why}",
    ]
    if rule.symptom:
        parts.append(f"**What you see in the cluster.** {rule.symptom}")
    if rule.fix:
        parts.append(f"**What to do.** {rule.fix[:1].upper()}{rule.fix[1:]}.")
    if rule.parameters:
        shown = ", ".join(f"`{name}` ({default})" for name, default in rule.parameters)
        parts.append(f"Parameters, with their defaults, for `policies/rules.yaml`: {shown}.")
    if rule.bad:
        parts.append(f"Bad:\n\n```yaml\n{rule.bad}```")
    if rule.good:
        parts.append(f"Good:\n\n```yaml\n{rule.good}```")
    if rule.references:
        parts.append("Source: " + "; ".join(rule.references) + ".")
    return "\n\n".join(parts) + "\n"


def format_rule_book(rules: Iterable[RulePage]) -> str:
    """All rules on one page, by family."""
    book = sorted(rules, key=lambda rule: rule.code)
    parts = ["# Rules\n\nGenerated from the rules; do not edit. `poolsmith explain PSM101` prints one of them.\n"]
    for prefixes, title in FAMILIES:
        family = [rule for rule in book if rule.code.startswith(prefixes)]
        if family:
            parts.append(f"## {title}\n")
            parts.extend(format_rule(rule) for rule in family)
    return "\n".join(parts)
