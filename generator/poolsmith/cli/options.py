"""Flags that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("text", "json", "github")
root = click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="the current folder",
    help="Folder that holds profiles/ and output/.",
)
clusters = click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only this cluster; repeatable.")
jobs = click.option("--jobs", type=click.IntRange(1, 64), default=None, help="Processes for many clusters.")
color = click.option("--no-color", "color", flag_value=False, default=None, type=bool, help="Never use colour.")
output_format = click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default=None,
    help="Report format. Default: github inside GitHub Actions, else text.",
)
fail_on = click.option(
    "--fail-on",
    type=click.Choice(("error", "warning", "note")),
    default="error",
    show_default=True,
    help="Exit with 1 when a finding is at least this bad.",
)


def report_flags(command: Command) -> Command:
    """Everything that a verb with a report takes."""
    for option in (fail_on, output_format, color, jobs, clusters, root):
        command = option(command)
    return command


class SeveralFiles(click.Command):
    """Every value after a repeatable flag belongs to it: `--policy a.yaml b.yaml`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        repeatable = {name for item in self.params if getattr(item, "multiple", False) for name in item.opts}
        spread: list[str] = []
        flag, has_value = "", False
        for part in args:
            if part.startswith("-"):
                flag, has_value = part.partition("=")[0], "=" in part
            elif flag in repeatable and has_value:
                spread.append(flag)
            else:
                has_value = True
            spread.append(part)
        return super().parse_args(ctx, spread)
