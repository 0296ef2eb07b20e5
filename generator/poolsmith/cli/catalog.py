"""poolsmith catalog."""

from __future__ import annotations

import json
from pathlib import Path

import click

from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.options import completes
from poolsmith.cli.terminal import write

_FORMAT = click.option(
    "--format", "output_format", type=click.Choice(("text", "json")), default="text", help="Output format."
)


@click.group("catalog")
def command() -> None:
    """What poolsmith knows about the gpu-operator's releases."""


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
@click.argument("release", shell_complete=completes("release"))
@_FORMAT
def show(release: str, output_format: str) -> int:
    """Show the keys that a RELEASE adds and removes, and those that have no effect."""
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
