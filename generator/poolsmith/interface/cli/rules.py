"""poolsmith rules."""

from __future__ import annotations

import json

import click

from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit


@click.command("rules")
@click.option("--format", "output_format", type=click.Choice(("text", "json", "markdown")), default="text")
def command(output_format: str) -> int:
    """List every rule: code, name, default severity."""
    from poolsmith.guard.rules.rule_book import rule_book
    from poolsmith.interface.report.rule_page import format_rule_book

    book = rule_book()
    if output_format == "markdown":
        write(format_rule_book(book))
    elif output_format == "json":
        entries = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity,
                "appliesTo": rule.applies_to,
                "what": rule.what,
            }
            for rule in book
        ]
        write(json.dumps({"version": 1, "rules": entries}, indent=2) + "\n")
    else:
        width = max(len(rule.name) for rule in book)
        write("".join(f"{rule.code}  {rule.name:<{width}}  {rule.severity:<7}  {rule.what}\n" for rule in book))
    return Exit.CLEAN
