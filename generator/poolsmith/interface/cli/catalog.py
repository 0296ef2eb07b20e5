"""poolsmith catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.options import completes
from poolsmith.interface.cli.terminal import tell, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    import datetime as dt

    from poolsmith.interface.app.catalog_packs import Pinned

_FORMAT = click.option(
    "--format", "output_format", type=click.Choice(("text", "json")), default="text", help="Output format."
)


@click.group("catalog")
def command() -> None:
    """What poolsmith knows about the gpu-operator's releases."""


@command.command("list")
@options.root
@_FORMAT
def list_releases(root: Path, output_format: str) -> int:
    """List the releases of the gpu-operator chart whose values are known: built in, or from packs of the project."""
    from poolsmith.interface.app.catalog_verbs import catalog_releases, release_json

    del root
    releases = catalog_releases()
    if output_format == "json":
        write(json.dumps({"version": 1, "releases": [release_json(item) for item in releases]}, indent=2) + "\n")
        return Exit.CLEAN
    for item in releases:
        use = "generate, check" if item.generated else "check"
        pack = f"   pack {item.pack.name} {item.pack.version}" if item.pack else ""
        write(f"{item.release:<9} {item.values:>4} values, {len(item.dead)} dead   {use}{pack}\n")
    return Exit.CLEAN


@command.command("show")
@click.argument("release", shell_complete=completes("release"))
@options.root
@_FORMAT
def show(release: str, root: Path, output_format: str) -> int:
    """Show the keys that a RELEASE adds and removes, those that have no effect, and where its facts come from."""
    from poolsmith.interface.app.catalog_verbs import catalog_release, release_json

    del root
    item = catalog_release(release)
    if output_format == "json":
        write(json.dumps({"version": 1, **release_json(item)}, indent=2) + "\n")
        return Exit.CLEAN
    write(f"{item.release}: {item.values} value paths; node-feature-discovery chart {item.node_feature_discovery}\n")
    write(f"clusters are generated for it: {'yes' if item.generated else 'no'}\n")
    if item.pack:
        write(f"from the pack {item.pack.name}, version {item.pack.version}: {item.pack.source}\n")
        write(f"       {item.pack.path} {item.pack.sha256}\n")
    for what in item.unknown:
        write(f"unknown {what}\n")
    for title, paths in (("comes", item.comes), ("goes", item.goes), ("dead", item.dead)):
        for path in paths:
            write(f"{title:<6} {path}\n")
    return Exit.CLEAN


@command.command("import")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--release", metavar="TAG", help="The release; default: the version in Chart.yaml.")
@click.option("--output", "target", type=click.Path(path_type=Path), help="Write the entry there, not to stdout.")
@click.option("--pack", metavar="NAME", help="Make a pack in profiles/_catalog/NAME, and pin it.")
@click.option("--like", metavar="TAG", help="With --pack: a built-in release that has what no file of SOURCE says.")
@click.option(
    "--facts", type=click.Path(path_type=Path), help="With --pack: YAML with what you know better than --like."
)
@options.root
def import_entry(
    source: Path,
    release: str | None,
    target: Path | None,
    pack: str | None,
    like: str | None,
    facts: Path | None,
    root: Path,
) -> int:
    """Make a catalog entry from SOURCE, a chart's folder or .tgz archive; or, with --pack, a pack of facts.

    For a pack, SOURCE is a release of the operator (a checkout of its repository at the tag, or the chart alone, which
    does not say what the operator creates); another chart of the stack; or a file: a CVE record, OSV, the vendor's list
    of drivers, or rows of a table by hand.
    """
    from poolsmith.core.diagnostics import UsageError, WriteError

    if pack is not None:
        if target is not None:
            raise UsageError("--pack writes into the project, and --output writes one entry: take one of them")
        return _import_pack(root, source, release, name=pack, like=like, facts=facts)
    if like is not None or facts is not None:
        raise UsageError("--like and --facts go with --pack")
    from poolsmith.interface.app.catalog_verbs import import_chart

    entry = import_chart(source, release)
    if target is None:
        write(entry)
        return Exit.CLEAN
    try:
        target.write_text(entry, encoding="utf-8")
    except OSError as error:
        raise WriteError(f"{target} can't be written: {error.strerror or error}") from None
    return Exit.CLEAN


@command.command("outdated")
@click.option(
    "--from", "folder", type=click.Path(path_type=Path), help="A folder of charts, indexes, CVE records and lists."
)
@options.today
@options.root
@_FORMAT
def outdated(folder: Path | None, today: dt.date, root: Path, output_format: str) -> int:
    """Say how old each table of facts is, and from which source; and what a folder has that is newer. Offline.

    The folder may hold what vendors publish: charts (folders or .tgz archives), index.yaml of a Helm repository, CVE
    records, OSV, the list of drivers. Exit code 1: something there is newer.
    """
    from poolsmith.interface.app import catalog_outdated as use_case

    del root
    found = use_case.outdated(today, folder)
    write(use_case.outdated_json_text(found) if output_format == "json" else use_case.outdated_text(found))
    return Exit.FINDINGS if found.newer else Exit.CLEAN


@command.command("add")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--hash", "sha256", metavar="HASH", help="Hash of its pack.yaml, as its maker states it.")
@options.root
def add(source: Path, sha256: str | None, root: Path) -> int:
    """Take a pack of facts that somebody else made, a folder or .tgz archive, into profiles/_catalog/, and pin it."""
    from poolsmith.interface.app.catalog_packs import add_pack

    return _reported(add_pack(root, source, sha256))


@command.command("pin")
@options.root
def pin(root: Path) -> int:
    """Pin the packs of facts in profiles/_catalog/ by their hashes, in its lock.yaml."""
    from poolsmith.interface.app.catalog_packs import pin_packs

    return _reported(pin_packs(root))


def _import_pack(
    root: Path, source: Path, release: str | None, *, name: str, like: str | None, facts: Path | None
) -> int:
    from poolsmith.core.diagnostics.message_text import printable
    from poolsmith.interface.app.catalog_packs import import_pack

    made, pinned = import_pack(root, source, release, name=name, like=like, facts=facts)
    for title, lines in (("took", made.taken), ("assumed", made.assumed), ("unknown", made.unknown)):
        for line in lines:
            write(f"{title:<9} {printable(line)}\n")
    if made.failed:
        from poolsmith.core.diagnostics.outcome import Outcome
        from poolsmith.interface.report.text import format_text

        if made.diagnostics:
            write(format_text(Outcome(diagnostics=made.diagnostics)))
        tell((*made.errors, "nothing was written"))
        return Exit.FINDINGS
    return _reported(pinned)


def _reported(pinned: Pinned) -> int:
    if pinned.problems:
        from poolsmith.core.diagnostics.outcome import Outcome
        from poolsmith.interface.report.text import format_text

        write(format_text(Outcome(diagnostics=pinned.problems)))
        return Exit.FINDINGS
    for pack in pinned.packs:
        parts = (*(f"rows of {table}" for table in pack.tables), *(f"values of {' '.join(one)}" for one in pack.charts))
        holds = ", ".join((*pack.releases, *parts))
        write(f"pinned    {pack.name} {pack.version}: {holds}, {pack.sha256}\n")
    return Exit.CLEAN
