"""poolsmith grants: grants that are missing, as YAML and as a summary for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from poolsmith.core.diagnostics.diagnostic import UsageError
from poolsmith.core.pattern import pattern
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_problems
from poolsmith.interface.cli.terminal import tell, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping
    from pathlib import Path


_NAMESPACE = pattern(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@click.command("grants")
@options.root
@options.clusters
@click.option("--write", "writes", is_flag=True, help="Write them to policies/privileges/, as new files.")
@click.option("--reason", metavar="TEXT", default="", help="What the privileges are needed for, in each grant.")
@click.option("--owner", metavar="TEXT", default="", help="The team that is responsible, in each grant.")
@click.option(
    "--expires", metavar="DAY", type=click.DateTime(("%Y-%m-%d",)), default=None, help="The last day, in each grant."
)
@click.option(
    "--export",
    "engine",
    type=click.Choice(["kyverno"]),
    default=None,
    help="Print what is granted in one cluster as PolicyExceptions of Kyverno.",
)
@click.option(
    "--exception-namespace",
    metavar="NAME",
    default="kyverno",
    show_default=True,
    help="The namespace from which Kyverno takes exceptions.",
)
@options.today
def command(
    root: Path,
    clusters: tuple[str, ...],
    writes: bool,
    reason: str,
    owner: str,
    expires: dt.datetime | None,
    engine: str | None,
    exception_namespace: str,
    today: dt.date,
) -> int:
    """Print the smallest grants for all privileges that nobody has granted yet.

    Who reviews them says reason, owner and the last day, here for all of them or in the files; until then `poolsmith
    check` reports them. Files that exist are never changed.
    """
    if engine is not None:
        if writes or reason or owner or expires is not None:
            raise UsageError("--export takes no --write, --reason, --owner or --expires: these make new grants")
        return _export(root, clusters, exception_namespace, today)
    if click.get_current_context().get_parameter_source("today") is not ParameterSource.DEFAULT:
        raise UsageError("--today is for --export: which grants are still valid")
    from poolsmith.guard.ledger.grants.grant_proposal import Answers
    from poolsmith.interface.app.grants import missing_grants

    answers = Answers(reason=reason, owner=owner, expires=expires.date().isoformat() if expires is not None else "")
    result = missing_grants(root, clusters, write=writes, answers=answers)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format="text")
        return Exit.FINDINGS
    told = summary(grants=result.grants, lines=result.lines, granted=result.granted)
    if result.written:
        write("".join(f"wrote {path}\n" for path in result.files))
        is_answered = reason and owner and expires is not None
        write(f"{told}; next: {'' if is_answered else 'say in each why, who answers for it, and until when; then '}")
        write("run `poolsmith generate` and `poolsmith check`\n")
    elif result.files:
        write(grants_yaml(result.files))
        tell([f"{told}; --write writes them"])
    else:
        write(f"{told}\n")
    for text in result.unknown:
        tell([f"unknown: {text}"])
    return Exit.CLEAN


def _export(root: Path, clusters: tuple[str, ...], namespace: str, today: dt.date) -> int:
    from poolsmith.core.sources.yaml_writer import emit_all
    from poolsmith.interface.app.exported_grants import exported_grants

    if not _NAMESPACE.fullmatch(namespace):
        raise UsageError("--exception-namespace takes the name of a namespace")
    result = exported_grants(root, clusters, today=today, namespace=namespace)
    if result.export is None:
        print_problems(result.diagnostics, output_format="text")
        return Exit.FINDINGS
    write(emit_all(result.export.documents))
    tell([f"left out: {text}" for text in result.export.unsaid])
    tell([f"unknown: {text}" for text in result.unknown])
    return Exit.CLEAN


_SEPARATOR = "---\n"


def grants_yaml(files: Mapping[str, str]) -> str:
    """One stream of all files, each with its path above it."""
    return _SEPARATOR.join(f"# {path}\n{text}" for path, text in files.items())


def summary(*, grants: int, lines: int, granted: int) -> str:
    """What there is, and what it is for."""
    if not lines:
        return "no workload has any privilege"
    if not grants:
        return "the one line of the ledger is granted" if lines == 1 else f"all {lines:,} lines of ledgers are granted"
    missing = lines - granted
    what = "1 grant" if grants == 1 else f"{grants:,} grants"
    which = f"{missing:,} of the {lines:,} lines of ledgers" if missing < lines else f"all {lines:,} lines of ledgers"
    if lines == 1:
        which = "the one line of the ledger"
    return f"{what} for {which}"
