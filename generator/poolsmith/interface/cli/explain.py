"""poolsmith explain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_outcome
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.interface.app.explain import ExplainedValue, Explanation


@click.command("explain")
@click.argument("what", shell_complete=options.completes("rule or pool"))
@options.root
@click.option("--format", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(what: str, root: Path, output_format: str) -> int:
    """Explain a rule, a pool, a generated value or a symptom.

    \b
    poolsmith explain PSM101                        a rule
    poolsmith explain prod-eu/a100                  a pool's plan
    poolsmith explain prod-eu:driver.version        where a value comes from
    poolsmith explain output/clusters/prod-eu/platform/values/gpu-operator.yaml
    poolsmith explain "Insufficient nvidia.com/gpu" what is known of a symptom
    """
    from poolsmith.interface.app.explain import explain

    explanation = explain(root, what)
    if explanation.outcome is not None:
        print_outcome(explanation.outcome, output_format=output_format, color=None)
        return Exit.FINDINGS
    if output_format == "json":
        write(json.dumps(_as_json(explanation), indent=2) + "\n")
    else:
        write(explanation.text or "".join(_value_text(value) for value in explanation.values))
    return Exit.CLEAN


def _as_json(explanation: Explanation) -> dict[str, Any]:
    return {
        "version": 1,
        "text": explanation.text,
        "values": [
            {
                "file": value.file,
                "path": value.path,
                "value": value.value,
                "default": value.default,
                "origin": [
                    {
                        "depth": step.depth,
                        "text": step.text,
                        "path": step.path,
                        "line": step.line,
                        "pointer": step.pointer,
                    }
                    for step in value.steps
                ],
            }
            for value in explanation.values
        ],
    }


def _value_text(value: ExplainedValue) -> str:
    lines = [f"{value.path} = {_shown(value.value)}"]
    if value.default != value.value:
        lines.append(f"  the chart's default: {_shown(value.default)}")
    lines += [f"  {'  ' * step.depth}{step.text}" for step in value.steps]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
