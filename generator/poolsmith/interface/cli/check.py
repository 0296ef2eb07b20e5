"""poolsmith check."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poolsmith.core.diagnostics import NoInputError, UsageError
from poolsmith.core.record import record
from poolsmith.interface.cli import options
from poolsmith.interface.cli.fixing import fixed, print_patch
from poolsmith.interface.cli.plain import by_hand, of_hook, refuse_clusters, result_store
from poolsmith.interface.cli.reports import fleet_of, report_outcome
from poolsmith.interface.cli.terminal import exit_code, progress_bar
from poolsmith.interface.cli.verbs import Exit
from poolsmith.interface.report.formats import CHECK

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.guard.policies.revision import BaseRevision
    from poolsmith.guard.rules.pod_security import PodSecurityStandard
    from poolsmith.interface.cli.options import ReportFlags
    from poolsmith.interface.report.formats import ReportStyle


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
@click.option("--fix", is_flag=True, help="Write the edits of which findings are certain, then check again.")
@click.option("--diff", "patch", is_flag=True, help="Print those edits as a patch, and write nothing.")
@click.option("--dirty", is_flag=True, help="With --fix or --diff: also files with edits that are not committed.")
@options.baseline
@options.strict
@options.today
@options.output_elsewhere
@options.cache
@options.rehash
@options.outputs
@options.report_flags
def command(
    flags: ReportFlags, how: ReportStyle, paths: tuple[Path, ...], outputs: tuple[str, ...], **asked: Any
) -> int:
    """Check the project and its output, or the manifests in PATHS."""
    check = CheckFlags(**asked)
    if check.accepted and check.policies_from is None:
        raise UsageError("--accept is about a change: it needs --policies-from")
    if (check.fix or check.patch) and (check.policies_from is not None or check.subject is not None):
        raise UsageError("--fix and --diff are for who writes a change, not for who judges one")
    root = flags.root
    refuse_clusters(root, paths)
    files = options.report_files(outputs, root, CHECK)
    is_there = not paths and flags.shard is None
    fleet = partial(fleet_of, root, () if paths else flags.clusters, is_there=is_there)
    judge = partial(_of_paths, flags, paths, check) if paths else partial(_of_project, flags, check)
    code = None
    try:
        outcome = fixed(root, judge, dirty=check.dirty) if check.fix else judge()
    except NoInputError as error:
        if check.patch or (how.output_format in (None, "text") and not files):
            raise
        outcome, code = nothing_found(str(error)), Exit.NO_INPUT
    if check.patch:
        print_patch(root, outcome, dirty=check.dirty)
        return exit_code(outcome, how.layout.fail_on)
    report_outcome(outcome, root, files, how, fleet=fleet)
    return exit_code(outcome, how.layout.fail_on) if code is None else code


def nothing_found(why: str) -> Outcome:
    """What a report says of it: who reads one gets one, whatever the exit code."""
    from poolsmith.core.diagnostics.outcome import Outcome, Skipped

    return Outcome(skipped=(Skipped("everything", why),))


@record
class CheckFlags:
    """What `check` was asked, by the names of its flags."""

    kubernetes: str | None
    release: str | None
    everything: bool
    kubeconform: str | None
    pod_security: str | None
    nodes: Path | None
    policies_from: str | None
    subject: str | None
    accepted: tuple[str, ...]
    hook: bool
    fix: bool
    patch: bool
    dirty: bool
    write_baseline: str | None
    baseline: Path | None
    no_baseline: bool
    baseline_from: str | None
    strict: bool
    today: dt.date
    against: str | None
    output_root: Path | None
    cache: bool | None
    rehash: bool

    @property
    def has_baseline(self) -> bool:
        given = (self.write_baseline, self.baseline, self.baseline_from)
        return self.no_baseline or any(flag is not None for flag in given)


def _of_paths(flags: ReportFlags, paths: tuple[Path, ...], check: CheckFlags) -> Outcome:
    """The manifests in folders and files that somebody names. Raises UsageError for flags of the project."""
    from poolsmith.interface.app.baseline import AcceptingOptions, with_accepted
    from poolsmith.interface.app.check import check_paths

    if check.against is not None or check.output_root is not None:
        raise UsageError("--against and --output-root are for the project; PATHS are judged where they stand")
    if flags.scheduler is not None or flags.shard is not None:
        flag = "--scheduler" if flags.shard is None else "--shard"
        raise UsageError(f"{flag} is for the clusters of the project; PATHS are judged in this process")
    if check.policies_from is not None:
        raise UsageError("--policies-from is for the project; for PATHS there is --baseline-from")
    if check.subject is not None:
        raise UsageError("--judge is for the project; PATHS are judged as they stand on disk")
    if len(flags.clusters) > 1:
        raise UsageError("PATHS describe one cluster; name one with --cluster")
    more = {
        "--all": check.everything,
        "--release": check.release,
        "--pod-security": check.pod_security,
        "--nodes": check.nodes,
        "--cluster": flags.clusters,
        "--kubeconform": check.kubeconform is not None,
    }
    accepting = AcceptingOptions(
        file=check.baseline,
        is_off=check.no_baseline,
        revision=check.baseline_from,
        write=check.write_baseline,
        flags=tuple(flag for flag, value in more.items() if value),
        today=check.today,
    )
    judge = partial(
        check_paths,
        flags.root,
        kubernetes=check.kubernetes,
        release=check.release,
        kubeconform=check.kubeconform,
        pod_security=_standard(check.pod_security),
        nodes=check.nodes,
        cluster=flags.clusters[0] if flags.clusters else None,
        everything=check.everything,
        today=check.today,
    )
    outcome = of_hook(flags.root, paths, judge) if check.hook else by_hand(paths, judge)
    outcome = with_accepted(outcome, flags.root, paths, accepting)
    return _strictly(outcome) if check.strict else outcome


def _of_project(flags: ReportFlags, check: CheckFlags) -> Outcome:
    """The project's profiles and output, whole or a shard. Raises UsageError for flags of PATHS."""
    _refuse_flags_of_paths(check)
    alone: dict[str, object] = {
        "--cluster": flags.clusters,
        "--against": check.against,
        "--output-root": check.output_root,
        "--kubeconform": check.kubeconform,
        "--cache": check.cache or None,
        "--rehash": check.rehash,
    }
    options.no_shard(flags.shard, alone)
    root, workers = flags.shared_root, flags.workers
    with _judging(root, check) as (folder, judging, named):
        if flags.shard is not None:
            from poolsmith.interface.app.sharded import check_shard

            with progress_bar("checking") as progress:
                return named(check_shard(folder, flags.shard, jobs=workers, progress=progress, judging=judging))
        from poolsmith.interface.app.check_project import check_project

        with (
            options.place_of_output(root, check.output_root, check.against) as place,
            progress_bar("checking") as progress,
        ):
            outcome = check_project(
                folder,
                clusters=flags.clusters,
                jobs=workers,
                kubeconform=check.kubeconform,
                progress=progress,
                judging=judging,
                store=result_store(check.cache) if folder == root else None,
                rehash=check.rehash,
                output_at=place,
            )
        return named(outcome)


def _refuse_flags_of_paths(check: CheckFlags) -> None:
    if check.hook:
        raise UsageError("--hook is for the files that are named after it")
    if check.has_baseline:
        raise UsageError("a baseline is for PATHS; what the project accepts stands in policies/waivers.yaml")
    if check.nodes is not None:
        raise UsageError("--nodes is for PATHS; here the profiles say which pools there are")
    if check.kubernetes is not None or check.release is not None:
        raise UsageError("--kubernetes and --release are for PATHS; here the profiles say both")
    if check.everything:
        raise UsageError("--all is for PATHS; of a project all is checked")
    if check.pod_security is not None:
        raise UsageError("--pod-security is for PATHS; here each namespace says what it enforces")


@contextmanager
def _judging(root: Path, check: CheckFlags) -> Iterator[tuple[Path, JudgingOptions, Callable[[Outcome], Outcome]]]:
    """The folder to judge, how, and what the outcome gets besides: what was judged."""
    from poolsmith.guard.policies.applied_policies import JudgingOptions

    subject = options.subject(root, check.subject, base=check.policies_from)
    is_told = check.policies_from is not None
    with (
        _base(root, check.policies_from) as base,
        options.judged(root, subject, is_told=is_told) as (folder, merged, named),
    ):
        accepted = frozenset(check.accepted)
        how = JudgingOptions(today=check.today, base=base, strict=check.strict, accepted=accepted, merged=merged)
        yield folder, how, named


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
