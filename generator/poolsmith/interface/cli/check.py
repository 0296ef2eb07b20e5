"""poolsmith check."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.interface.cli import options
from poolsmith.interface.cli.main import TOOL
from poolsmith.interface.cli.reports import fleet_of, print_outcome, write_report_files
from poolsmith.interface.cli.terminal import exit_code, progress_bar
from poolsmith.interface.report.formats import CHECK, format_check

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.guard.policies.revision import BaseRevision
    from poolsmith.guard.rules.pod_security import PodSecurityStandard
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.run.run_options import Shard


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--kubernetes",
    metavar="MINOR",
    shell_complete=options.completes("minor"),
    help="Kubernetes version of the schemas for PATHS. Default: the newest known.",
)
@click.option(
    "--release",
    metavar="TAG",
    shell_complete=options.completes("release"),
    help="gpu-operator release for PATHS: for schemas, and for Helm values that name no release.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also check what is not of the GPU stack in the folders of PATHS.",
)
@click.option(
    "--kubeconform",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[PATH]",
    help="Also ask kubeconform: the one on PATH, or --kubeconform=PATH.",
)
@click.option(
    "--pod-security",
    metavar="LEVEL[:VERSION]",
    help="Check the pods in PATHS against the Pod Security Standards: baseline or restricted, of a minor such as 1.34.",
)
@click.option(
    "--nodes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The cluster's nodes for PATHS: `kubectl get nodes -o yaml`, or a list of {name, labels, runtime, taints}. "
    "With --cluster NAME the pools in profiles/NAME are the nodes.",
)
@click.option(
    "--policies-from",
    metavar="REV",
    help="Use policies/ of this git revision, so that a pull request can't grant itself what it needs.",
)
@options.judge
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    type=click.Choice(("policy-widening", "judge-change")),
    help="With --policies-from: somebody who may do so has accepted what the change widens in policies/, or what it "
    "changes of the files that run and decide this check. Both are still listed, as notes.",
)
@click.option(
    "--hook",
    is_flag=True,
    help="PATHS are single files of a commit: what stands near each says the release, and the rest of the repository "
    "is not read.",
)
@options.baseline
@click.option("--strict", is_flag=True, help="Report as an error what could not be evaluated.")
@options.today
@options.output_elsewhere
@options.cache
@options.rehash
@options.outputs
@options.report_flags
def command(
    paths: tuple[Path, ...],
    root: Path,
    clusters: tuple[str, ...],
    jobs: int | None,
    scheduler: str | None,
    shard: Shard | None,
    color: bool | None,
    output_format: str | None,
    outputs: tuple[str, ...],
    verbose: bool,
    group_by: str,
    fail_on: str,
    kubernetes: str | None,
    release: str | None,
    everything: bool,
    kubeconform: str | None,
    pod_security: str | None,
    nodes: Path | None,
    policies_from: str | None,
    subject: str | None,
    accepted: tuple[str, ...],
    hook: bool,
    write_baseline: str | None,
    baseline: Path | None,
    no_baseline: bool,
    baseline_from: str | None,
    strict: bool,
    today: dt.datetime | None,
    against: str | None,
    output_root: Path | None,
    cache: bool | None,
    rehash: bool,
) -> int:
    """Check the project and its output, or the manifests in PATHS."""
    if accepted and policies_from is None:
        raise UsageError("--accept is about a change: it needs --policies-from")
    files = options.report_files(outputs, root, CHECK)
    fleet = partial(fleet_of, root, () if paths else clusters, is_there=not paths and shard is None)
    if paths:
        from poolsmith.interface.app.baseline import AcceptingOptions, with_accepted
        from poolsmith.interface.app.check import check_paths

        if against is not None or output_root is not None:
            raise UsageError("--against and --output-root are for the project; PATHS are judged where they stand")
        if scheduler is not None or shard is not None:
            flag = "--scheduler" if shard is None else "--shard"
            raise UsageError(f"{flag} is for the clusters of the project; PATHS are judged in this process")
        if policies_from is not None:
            raise UsageError("--policies-from is for the project; for PATHS there is --baseline-from")
        if len(clusters) > 1:
            raise UsageError("PATHS describe one cluster; name one with --cluster")
        judge = partial(
            check_paths,
            root,
            kubernetes=kubernetes,
            release=release,
            kubeconform=kubeconform,
            pod_security=_standard(pod_security),
            nodes=nodes,
            cluster=clusters[0] if clusters else None,
            everything=everything,
        )
        outcome = _of_hook(root, paths, judge) if hook else _by_hand(paths, judge)
        more = {
            "--all": everything,
            "--release": release,
            "--pod-security": pod_security,
            "--nodes": nodes,
            "--cluster": clusters,
            "--kubeconform": kubeconform is not None,
        }
        accepting = AcceptingOptions(
            file=baseline,
            is_off=no_baseline,
            revision=baseline_from,
            write=write_baseline,
            flags=tuple(flag for flag, value in more.items() if value),
        )
        if today is not None:
            accepting = replace(accepting, today=today.date())
        outcome = with_accepted(outcome, root, paths, accepting)
        outcome = _strictly(outcome) if strict else outcome
    else:
        if hook:
            raise UsageError("--hook is for the files that are named after it")
        if write_baseline is not None or baseline is not None or no_baseline or baseline_from is not None:
            raise UsageError("a baseline is for PATHS; what the project accepts stands in policies/waivers.yaml")
        if nodes is not None:
            raise UsageError("--nodes is for PATHS; here the profiles say which pools there are")
        if kubernetes is not None or release is not None:
            raise UsageError("--kubernetes and --release are for PATHS; here the profiles say both")
        if everything:
            raise UsageError("--all is for PATHS; of a project all is checked")
        if pod_security is not None:
            raise UsageError("--pod-security is for PATHS; here each namespace says what it enforces")
        alone: dict[str, object] = {"--cluster": clusters, "--against": against, "--output-root": output_root}
        alone |= {"--kubeconform": kubeconform, "--cache": cache or None, "--rehash": rehash}
        options.no_shard(shard, alone)
        judge_project = partial(_of_shard, shard=shard) if shard is not None else _of_project
        outcome = judge_project(
            root if scheduler is None else root.resolve(),
            options.workers(jobs, scheduler),
            _Judging(policies_from, accepted, strict, today, options.subject(root, subject, base=policies_from)),
            clusters=clusters,
            kubeconform=kubeconform,
            cache=cache,
            rehash=rehash,
            output_root=output_root,
            against=against,
        )
    layout = options.layout(verbose=verbose, group_by=group_by, fail_on=fail_on)
    try:
        write_report_files(root, files, partial(format_check, outcome=outcome), tool=TOOL, layout=layout, fleet=fleet)
    finally:
        print_outcome(
            outcome, output_format=output_format, color=color, tool=TOOL, layout=layout, root=root, fleet=fleet
        )
    return exit_code(outcome, fail_on)


class _Judging(NamedTuple):
    """Flags that say how findings are judged."""

    base: str | None
    accepted: tuple[str, ...]
    strict: bool
    today: dt.datetime | None
    subject: str

    @contextmanager
    def options(self, root: Path) -> Iterator[tuple[Path, JudgingOptions, Callable[[Outcome], Outcome]]]:
        """The folder to judge, how, and what the outcome gets besides: what was judged."""
        from poolsmith.guard.policies.applied_policies import JudgingOptions

        is_told = self.base is not None
        with (
            _base(root, self.base) as base,
            options.judged(root, self.subject, is_told=is_told) as (folder, merged, named),
        ):
            found = JudgingOptions(base=base, strict=self.strict, accepted=frozenset(self.accepted), merged=merged)
            yield folder, found if self.today is None else replace(found, today=self.today.date()), named


def _of_project(
    root: Path,
    workers: int | Workers,
    judging: _Judging,
    *,
    clusters: tuple[str, ...],
    kubeconform: str | None,
    cache: bool | None,
    rehash: bool,
    output_root: Path | None,
    against: str | None,
) -> Outcome:
    from poolsmith.interface.app.check_project import check_project

    with (
        judging.options(root) as (folder, how, named),
        options.place_of_output(root, output_root, against) as place,
        progress_bar("checking") as progress,
    ):
        outcome = check_project(
            folder,
            clusters=clusters,
            jobs=workers,
            kubeconform=kubeconform,
            progress=progress,
            judging=how,
            store=options.result_store(cache) if folder == root else None,
            rehash=rehash,
            output_at=place,
        )
        return named(outcome)


def _of_shard(root: Path, workers: int | Workers, judging: _Judging, *, shard: Shard, **_more: object) -> Outcome:
    from poolsmith.interface.app.sharded import check_shard

    with judging.options(root) as (folder, how, named), progress_bar("checking") as progress:
        return named(check_shard(folder, shard, jobs=workers, progress=progress, judging=how))


def _by_hand(paths: tuple[Path, ...], judge: Callable[..., Outcome]) -> Outcome:
    """Links are told before anything of them is shown: whoever names one may not know where it leads."""
    for path in paths:
        if path.is_symlink():
            click.echo(printable(f"poolsmith: `{path}` is a link to `{path.resolve()}`, which is read"), err=True)
    return judge(paths)


def _of_hook(root: Path, paths: tuple[Path, ...], judge: Callable[..., Outcome]) -> Outcome:
    from poolsmith.interface.app.check_scope import check_named_files

    return check_named_files(root, paths, lambda files, only: judge(files, only=only))


def _strictly(outcome: Outcome) -> Outcome:
    from poolsmith.guard.policies.applied_policies import strictly

    return strictly(outcome)


def _standard(text: str | None) -> PodSecurityStandard | None:
    if text is None:
        return None
    from poolsmith.guard.rules.pod_security import parse_pod_security

    return parse_pod_security(text)


def _base(root: Path, revision: str | None) -> AbstractContextManager[BaseRevision | None]:
    if revision is None:
        return nullcontext()
    from poolsmith.guard.policies.revision import base_at

    return base_at(root, revision)
