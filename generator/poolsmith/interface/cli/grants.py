"""poolsmith grants."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics.errors import UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.exit_codes import Exit
from poolsmith.interface.cli.main import TOOL
from poolsmith.interface.cli.reports import print_problems
from poolsmith.interface.cli.terminal import tell, write

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


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
    expires: datetime | None,
    engine: str | None,
    exception_namespace: str,
    today: datetime | None,
) -> int:
    """Print the smallest grants for all privileges that nobody has granted yet.

    Who reviews them says reason, owner and the last day, here for all of them or in the files; until then `poolsmith
    check` reports them. Files that exist are never changed.
    """
    if engine is not None:
        if writes or reason or owner or expires is not None:
            raise UsageError("--export takes no --write, --reason, --owner or --expires: these make new grants")
        return _export(root, clusters, exception_namespace, today)
    if today is not None:
        raise UsageError("--today is for --export: which grants are still valid")
    from poolsmith.guard.ledger.grants.proposal_text import Answers
    from poolsmith.interface.app.grants import missing_grants
    from poolsmith.interface.report.grants_text import grants_yaml, summary

    answers = Answers(reason=reason, owner=owner, expires=expires.date().isoformat() if expires is not None else "")
    result = missing_grants(root, clusters, write=writes, answers=answers)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format="text", tool=TOOL)
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


def _export(root: Path, clusters: tuple[str, ...], namespace: str, day: datetime | None) -> int:
    import datetime as dt

    from poolsmith.core.sources.yaml_writer import emit_all
    from poolsmith.interface.app.exported_grants import exported_grants

    if not _NAMESPACE.fullmatch(namespace):
        raise UsageError("--exception-namespace takes the name of a namespace")
    today = day.date() if day is not None else dt.datetime.now(dt.UTC).date()
    result = exported_grants(root, clusters, today=today, namespace=namespace)
    if result.export is None:
        print_problems(result.diagnostics, output_format="text", tool=TOOL)
        return Exit.FINDINGS
    write(emit_all(result.export.documents))
    tell([f"left out: {text}" for text in result.export.unsaid])
    tell([f"unknown: {text}" for text in result.unknown])
    return Exit.CLEAN
