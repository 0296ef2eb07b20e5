"""poolsmith catalog."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.terminal import write
from poolsmith.diagnostics.printable import printable

if TYPE_CHECKING:
    from poolsmith.catalog.import_operands import OperandImport

_LONGEST = 500
_FORMAT = click.option("--format", "output_format", type=click.Choice(("text", "json")), default="text", help="Form.")


@click.group("catalog")
def command() -> None:
    """What is known of the gpu-operator's releases."""


@command.command("list")
@_FORMAT
def list_releases(output_format: str) -> int:
    """List the releases of the gpu-operator chart whose values are known."""
    from poolsmith.app.catalog_verbs import catalog_releases, release_json

    releases = catalog_releases()
    if output_format == "json":
        write(json.dumps({"version": 1, "releases": [release_json(item) for item in releases]}, indent=2) + "\n")
        return Exit.CLEAN
    for item in releases:
        use = "generate, check" if item.generated else "check"
        write(f"{item.release:<9} {item.values:>4} values, {len(item.dead)} dead   {use}\n")
    return Exit.CLEAN


@command.command("show")
@click.argument("release")
@_FORMAT
def show(release: str, output_format: str) -> int:
    """Show what comes and goes with a RELEASE, and what its chart declares to no effect."""
    from poolsmith.app.catalog_verbs import catalog_release, release_json

    item = catalog_release(release)
    if output_format == "json":
        write(json.dumps({"version": 1, **release_json(item)}, indent=2) + "\n")
        return Exit.CLEAN
    write(f"{item.release}: {item.values} value paths; node-feature-discovery chart {item.node_feature_discovery}\n")
    write(f"clusters are generated for it: {'yes' if item.generated else 'no'}\n")
    for title, paths in (("comes", item.comes), ("goes", item.goes), ("dead", item.dead)):
        for path in paths:
            write(f"{title:<6} {path}\n")
    return Exit.CLEAN


@command.command("import")
@click.argument("chart", type=click.Path(path_type=Path))
@click.option("--release", metavar="TAG", help="The release; default: the version in Chart.yaml.")
@click.option("--output", "target", type=click.Path(path_type=Path), help="Write the entry there, not to stdout.")
def import_entry(chart: Path, release: str | None, target: Path | None) -> int:
    """Make a catalog entry from a CHART: its folder, or a .tgz archive."""
    from poolsmith.app.catalog_verbs import import_chart
    from poolsmith.diagnostics import WriteError

    entry = import_chart(chart, release)
    if target is None:
        write(entry)
        return Exit.CLEAN
    try:
        target.write_text(entry, encoding="utf-8")
    except OSError as error:
        raise WriteError(f"{target} can't be written: {error.strerror or error}") from None
    return Exit.CLEAN


@command.command("import-operands")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--release", required=True, metavar="TAG", help="The tag that the folder holds, as v26.7.0.")
@click.option(
    "--into",
    metavar="DATA_FOLDER",
    type=click.Path(path_type=Path),
    help="The catalog's data folder, generator/poolsmith/catalog/data of a checkout; without it nothing is written.",
)
def import_operand_entries(folder: Path, release: str, into: Path | None) -> int:
    """Make the operand entries of a release from FOLDER, a checkout of the gpu-operator's repository at its tag."""
    from poolsmith.catalog.import_operands import import_operands

    result = import_operands(folder, release, into)
    if result.failed:
        _tell_mistakes(result)
        return Exit.FINDINGS
    for title, lines in (("took", result.taken), ("left out", result.left_out), ("by hand", result.by_hand)):
        for line in lines:
            write(f"{title:<9} {printable(line)}\n")
    for path in result.written or ():
        write(f"wrote     {path}\n")
    if not result.written:
        why = "name a data folder with --into" if into is None else "all of it stands there already"
        write(f"wrote     nothing: {why}\n")
    return Exit.CLEAN


def _tell_mistakes(result: OperandImport) -> None:
    """On standard error, those with a place first."""
    from poolsmith.diagnostics.outcome import Outcome
    from poolsmith.report.text import format_text

    if result.diagnostics:
        _write_error(format_text(Outcome(diagnostics=result.diagnostics)))
    for line in (*result.errors, "nothing was written"):
        _write_error(f"poolsmith: {printable(line)[:_LONGEST]}\n")


def _write_error(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
