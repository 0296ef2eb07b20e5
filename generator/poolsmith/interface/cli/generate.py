"""poolsmith generate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.plain import result_store
from poolsmith.interface.cli.reports import report_outcome
from poolsmith.interface.cli.terminal import exit_code, progress_bar, tell
from poolsmith.interface.cli.verbs import Exit
from poolsmith.interface.report.formats import CHECK

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.interface.cli.options import ReportFlags
    from poolsmith.interface.report.formats import ReportStyle


@click.command("generate")
@click.option("--check", is_flag=True, help="Write nothing; fail if the output is out of date.")
@options.hook
@options.output_elsewhere
@options.cache
@options.rehash
@options.outputs
@options.names
@options.report_flags
def command(
    flags: ReportFlags,
    how: ReportStyle,
    names: tuple[str, ...],
    *,
    outputs: tuple[str, ...],
    check: bool,
    hook: bool,
    against: str | None,
    output_root: Path | None,
    cache: bool | None,
    rehash: bool,
) -> int:
    """Generate output/ from profiles/.

    Of all clusters, or of those that are named. Every cluster's folder is replaced as a whole, and only when all
    profiles are sound.
    """
    from poolsmith.interface.app.check_project import compare

    clusters, shard = (*flags.clusters, *names), flags.shard
    elsewhere = {"--cluster": clusters, "--against": against, "--output-root": output_root, "--hook": hook}
    options.no_shard(shard, elsewhere | {"--cache": cache or None, "--rehash": rehash})
    if check and hook:
        raise UsageError("--check writes nothing, and --hook is about what was written: take one of them")
    if against is not None and not check:
        raise UsageError("--against compares with a revision, and writes nothing: it goes with --check")
    if hook and output_root is not None:
        raise UsageError("--hook is about the repository of the profiles, and --output-root names another folder")
    store, workers = result_store(cache), flags.workers
    files = options.report_files(outputs, flags.root, CHECK)
    root = flags.shared_root
    with (
        options.place_of_output(root, output_root, against) as place,
        progress_bar("comparing" if check else "generating") as progress,
    ):
        if shard is not None:
            from poolsmith.interface.app.sharded import compare_shard, generate_shard

            work = compare_shard if check else generate_shard
            result = work(root, shard, jobs=workers, progress=progress)
        elif check:
            result = compare(
                root, clusters=clusters, jobs=workers, progress=progress, store=store, rehash=rehash, output_at=place
            )
        else:
            from poolsmith.interface.app.generate import generate  # the whole generator

            result = generate(
                root, clusters=clusters, jobs=workers, progress=progress, store=store, rehash=rehash, output_at=place
            )
    report_outcome(result.outcome, root, files, how)
    if check and not result.is_current:
        return Exit.FINDINGS
    if hook:
        from poolsmith.interface.app.commit_hook import to_be_added

        if lacking := list(to_be_added(root, result)):
            tell(lacking)
            return Exit.FINDINGS
    return exit_code(result.outcome, how.layout.fail_on)
