"""poolsmith ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_problems
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.interface.app.ledger import LedgerFilter, LedgerView
    from poolsmith.interface.app.ledger_diff import ReleaseChanges, ReleaseDiff


@click.command("ledger")
@options.root
@options.clusters
@click.option(
    "--pool",
    "pools",
    multiple=True,
    metavar="NAME",
    shell_complete=options.completes("pool"),
    help="Only this pool, in detail; repeatable.",
)
@click.option(
    "--against",
    metavar="NAME",
    shell_complete=options.completes("pool"),
    help="Which privileges --pool has and this pool has not, and the reverse.",
)
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    help="Only this workload, such as nvidia-mig-manager or DaemonSet/nvidia-mig-manager; repeatable.",
)
@click.option("--reach", metavar="REACH", help="Only privileges that reach at least that far, such as node-root.")
@click.option(
    "--holds",
    metavar="PRIVILEGE",
    help="Only who has this privilege or a wider one, such as host-path:/:rw:none or rbac:core/nodes:patch@cluster.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Which privileges this value of the operator's chart adds and removes; repeatable.",
)
@click.option(
    "--release-diff",
    nargs=2,
    metavar="FROM TO",
    shell_complete=options.completes("release"),
    help="Which privileges a release adds and removes in a default installation, or with --set; needs no project.",
)
@click.option(
    "--since",
    metavar="REV",
    help="Which privileges were added and removed since this git revision, and which driver pods are replaced.",
)
@options.form("text", "json")
def command(
    root: Path,
    clusters: tuple[str, ...],
    pools: tuple[str, ...],
    against: str | None,
    workloads: tuple[str, ...],
    reach: str | None,
    holds: str | None,
    settings: tuple[str, ...],
    release_diff: tuple[str, str] | None,
    since: str | None,
    output_format: str,
) -> int:
    """Print who may do what to the nodes and to the cluster, and which profile line causes it.

    A table of workloads and pools, worst first; with --reach or --holds, who holds it; with --pool or --workload,
    each privilege.
    """
    from poolsmith.interface.app.ledger import LedgerFilter, ledger, ledger_json, parse_privilege, parse_reach

    chosen = LedgerFilter(
        pools=pools,
        against=against,
        workloads=workloads,
        reach=None if reach is None else parse_reach(reach),
        holds=None if holds is None else parse_privilege(holds),
    )
    if against is not None and (len(pools) != 1 or settings or release_diff is not None):
        raise UsageError("--against compares two pools of a cluster: name the other one with --pool, and no --set")
    if since is not None and (against is not None or settings or release_diff is not None):
        raise UsageError("--since compares the project with a revision; it takes no --against, --set or --release-diff")
    if release_diff is not None:
        if clusters:
            raise UsageError("--release-diff compares default installations; it takes no --cluster")
        return _release_diff(release_diff, chosen, settings, output_format)
    if since is None:
        result = ledger(root, clusters, chosen, settings, by_workload=output_format == "text")
    else:
        from poolsmith.interface.app.ledger_diff import ledger_since

        result = ledger_since(root, clusters, chosen, since)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format=output_format)
    elif output_format == "json":
        write(ledger_json(result))
    else:
        write("\n".join(_view(view, chosen, settings, since) for view in result.views))
    return Exit.FINDINGS if result.failed else Exit.CLEAN


def _release_diff(tags: tuple[str, str], chosen: LedgerFilter, settings: tuple[str, ...], output_format: str) -> int:
    from poolsmith.interface.app.ledger_diff import release_diff, release_diff_json

    result = release_diff(*tags, chosen, settings)
    if output_format == "json":
        write(release_diff_json(result))
    else:
        write("\n".join(_part(part, result) for part in result.parts))
    return Exit.CLEAN


def _part(part: ReleaseChanges, result: ReleaseDiff) -> str:
    from poolsmith.interface.report.ledger_text import changes_text, printable_lines

    title = f"{part.title}, {result.before} to {result.after}"
    told = [f"unknown: {item}" for item in part.unknown]
    with_values = [f"with {', '.join(part.settings)}"] if part.settings else []
    return printable_lines([title, *with_values]) + changes_text(part.changes, result.pools) + printable_lines(told)


def _view(view: LedgerView, chosen: LedgerFilter, settings: tuple[str, ...], since: str | None) -> str:
    from poolsmith.interface.report.ledger_text import (
        changes_text,
        drivers_text,
        ledger_answer,
        ledger_details,
        ledger_table,
        printable_lines,
    )

    title = f"{view.cluster}  {view.release}"
    if view.changes is not None:
        body = changes_text(view.changes, chosen.pools or view.pools) + drivers_text(view.drivers)
        title += f"  with {', '.join(settings)}" if since is None else f"  since {since}"
    elif view.lacks is not None:
        pool, other = chosen.pools[0], chosen.against
        more, less = (
            ledger_details(lines, view.starts) if lines else "nothing\n\n" for lines in (view.lines, view.lacks)
        )
        body = f"\n{pool} has, and {other} has not:\n{more}{other} has, and {pool} has not:\n{less}"
    elif not view.lines and not view.workloads:
        body = "nothing\n"
    elif chosen.pools or chosen.workloads:
        body = ledger_details(view.lines, view.starts)
    elif chosen.narrows:
        body = ledger_answer(view.lines, view.starts)
    else:
        body = ledger_table(view.workloads, view.pools, view.starts)
    told = [f"unknown: {item}" for item in view.unknown] + [f"error: {item}" for item in view.errors]
    return printable_lines([title]) + body + printable_lines([*told, *(f"note: {item}" for item in view.notes)])
