"""Flags that several verbs share."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.rule_info import Severity
from poolsmith.core.record import record
from poolsmith.interface.cli.plain import in_pipeline, project_above, with_verbose
from poolsmith.interface.report.formats import CHECK, DIFF, GROUPS, RULE, Layout, ReportStyle, names_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from click.shell_completion import CompletionItem

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.policies.revision import MergedTree
    from poolsmith.interface.app.report_files import ReportFile
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.run.run_options import Shard

Command = TypeVar("Command", bound=Callable[..., Any])


def completes(what: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """What the shell offers for a value, from the module that is loaded when it asks."""

    def offered(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from poolsmith.interface.cli.completion import complete

        return complete(what, context, incomplete)

    return offered


def _on_its_facts(context: click.Context, option: click.Parameter, folder: Path) -> Path:
    """The project's packs of facts hold while the verb runs; without the flag, a project is found from below it."""
    if option.name is not None and context.get_parameter_source(option.name) is ParameterSource.DEFAULT:
        folder = project_above(str(folder))
    if not context.resilient_parsing:
        from poolsmith.project.run.facts import facts_of

        context.with_resource(facts_of(folder))
    return folder


judge = click.option(
    "--judge",
    "subject",
    type=click.Choice(("commit", "index", "work-tree")),
    help="What is judged: the commit that is checked out, the index (what would be committed), or the files on disk. "
    "Default: the commit with --policies-from and where CI is set, else the work tree.",
)


def subject(root: Path, given: str | None, *, base: str | None = None) -> str:
    """What is judged where no flag says it. A pipeline judges what would be merged; by hand it is what is on disk."""
    if given is not None:
        return given
    if base is not None:
        return "commit"
    if not in_pipeline():
        return "work-tree"
    from poolsmith.project.run.judged_tree import is_committed

    return "commit" if is_committed(root) else "work-tree"


def only_at_a_desk(verb: str) -> None:
    """Raises UsageError where nobody edits."""
    if in_pipeline():
        raise UsageError(f"`{verb}` waits for somebody who edits files, and CI is set here: use `poolsmith check`")


@contextmanager
def judged(
    root: Path, kind: str, *, is_told: bool
) -> Iterator[tuple[Path, MergedTree | None, Callable[[Outcome], Outcome]]]:
    """The folder to read, the tree that would be merged, and what the outcome gets besides."""
    if kind == "work-tree":
        from dataclasses import replace

        yield root, None, lambda outcome: replace(outcome, judged="the work tree") if is_told else outcome
        return
    from poolsmith.guard.policies.revision import MergedTree
    from poolsmith.project.run.judged_tree import JudgedSubject, judged_tree

    with judged_tree(root, JudgedSubject(kind)) as tree:
        assert tree.files is not None, "only the work tree has none"
        yield tree.root, MergedTree(repository=tree.repository, files=tree.files, subject=kind), tree.named_in


root = click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="the current folder, or the nearest one above it with profiles/",
    callback=_on_its_facts,
    help="Folder that contains profiles/ and output/.",
)
clusters = click.option(
    "--cluster",
    "clusters",
    multiple=True,
    metavar="NAME",
    shell_complete=completes("cluster"),
    help="Only this cluster; repeatable.",
)
names = click.argument("names", nargs=-1, metavar="[CLUSTER]...", shell_complete=completes("cluster"))
"""Of a verb with a report: the same as --cluster."""
root_here = click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="the current folder",
    help="Folder of the project.",
)
today = click.option(
    "--today",
    type=click.DateTime(("%Y-%m-%d",)),
    metavar="DAY",
    callback=lambda _context, _option, given: (given or dt.datetime.now(dt.UTC)).date(),
    help="The day for grants and waivers, such as 2027-06-30. Default: today, in UTC.",
)
jobs = click.option("--jobs", type=click.IntRange(1, 64), default=None, help="Processes for many clusters.")
scheduler = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="A Dask scheduler, such as tcp://10.0.0.5:8786: its workers take the clusters. They must share this folder.",
)
shard = click.option(
    "--shard",
    metavar="N/M",
    callback=lambda _context, _option, text: _shard(text),
    help="Only the Nth of M parts of the clusters, such as 3/8. `poolsmith report merge` takes their JSON reports.",
)
color = click.option("--no-color", "color", flag_value=False, default=None, type=bool, help="Never use colour.")


def form(*known: str, told: str = "Output format.") -> Callable[[Command], Command]:
    """The flag of a verb whose formats are these, the first one where nothing is said."""
    choice = click.Choice(known)
    return click.option("--format", "output_format", type=choice, default=known[0], show_default=True, help=told)


output_format = click.option(
    "--format",
    "output_format",
    type=click.Choice(names_for(CHECK)),
    default=None,
    help="Report format. Default: github inside GitHub Actions, else text.",
)
cache = click.option(
    "--cache/--no-cache",
    "cache",
    default=None,
    help="Remember results in your cache folder. Default: yes, but no if CI is set.",
)
rehash = click.option(
    "--rehash", is_flag=True, help="Read every file again, instead of comparing size and times with remembered results."
)
fail_on = click.option(
    "--fail-on",
    type=click.Choice(("error", "warning", "note")),
    default="error",
    show_default=True,
    help="Exit with 1 if a finding is at least this severe.",
)
verbose = click.option("-v", "--verbose", is_flag=True, help="Show every finding and each note, in full.")
group_by = click.option(
    "--group-by",
    type=click.Choice(GROUPS),
    default=RULE,
    show_default=True,
    help="What findings stand together by in the text report.",
)
outputs = click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="[FORMAT=]PATH",
    shell_complete=completes("report file"),
    help="Also write the report of this run to a file; repeatable. Without FORMAT the file's ending says it.",
)
api_versions = click.option(
    "--api-versions",
    multiple=True,
    metavar="API",
    callback=lambda _context, _option, words: frozenset(api for word in words for api in word.split(",")),
    help="API that the cluster serves, such as resource.k8s.io/v1/DeviceClass; repeatable.",
)
chart_set = click.option(
    "--set", "settings", multiple=True, metavar="PATH=VALUE", help="One more value, as Helm reads it."
)
object_format = form("yaml", "json")
change_format = form("text", *(name for name in names_for(DIFF) if name not in ("text", "html")), told="Report format.")
strict = click.option("--strict", is_flag=True, help="Report as an error what could not be evaluated.")
dry_run = click.option("--dry-run", is_flag=True, help="Write nothing; print what it would do.")
hook = click.option(
    "--hook",
    is_flag=True,
    help="For a hook of commits: fail if anything was written or a generated file is not in git, and say what to add.",
)


def no_shard(shard: Shard | None, flags: Mapping[str, object]) -> None:
    """Raises UsageError where one of these flags is given beside --shard."""
    given = [name for name, value in flags.items() if value not in (None, False, ())] if shard is not None else []
    if given:
        raise UsageError(f"--shard takes its part of all clusters, as they are committed: leave out {given[0]}")


def baseline(function: Command) -> Command:
    """Flags about findings that are accepted for now."""
    for option in (
        click.option(
            "--baseline-from",
            metavar="REV",
            help="For PATHS: baseline and waivers of this git revision, such as the base of a pull request.",
        ),
        click.option("--no-baseline", is_flag=True, help="For PATHS: show what the baseline accepts, too."),
        click.option(
            "--baseline",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="For PATHS: another baseline than policies/baseline.yaml or .poolsmith-baseline.yaml.",
        ),
        click.option(
            "--write-baseline",
            is_flag=False,
            flag_value="",
            default=None,
            metavar="[FILE]",
            help="Accept the errors and warnings of PATHS for 90 days: writes the baseline, or --write-baseline=FILE.",
        ),
    ):
        function = option(function)
    return function


def output_elsewhere(function: Command) -> Command:
    """Flags that say where the output stands."""
    for option in (
        click.option(
            "--against",
            metavar="REV[:PATH]",
            help="Take the output of this git revision instead, such as a branch that holds what is rendered.",
        ),
        click.option(
            "--output-root",
            type=click.Path(path_type=Path),
            help="Folder that contains output/, where that is not --root: another work tree, or a pulled artefact.",
        ),
    ):
        function = option(function)
    return function


def place_of_output(root: Path, folder: Path | None, revision: str | None) -> AbstractContextManager[Path | None]:
    """What these flags name; None for the project's own output."""
    if folder is None and revision is None:
        return nullcontext()
    from poolsmith.project.run.project import output_place

    return output_place(root, folder, revision)


@record
class ReportFlags:
    """What a verb with a report was asked, by the names of its flags: which clusters, and who works."""

    root: Path
    clusters: tuple[str, ...]
    jobs: int | None
    scheduler: str | None
    shard: Shard | None

    @property
    def shared_root(self) -> Path:
        """The project's folder, for whoever works on it: workers elsewhere stand in other folders."""
        return self.root if self.scheduler is None else self.root.resolve()

    @property
    def workers(self) -> int | Workers:
        """Who works on many clusters. Raises UsageError."""
        return workers(self.jobs, self.scheduler)


def with_style(command: Callable[..., int]) -> Callable[..., int]:
    """A verb with the flags that say how a report is told gets them as one record, `how`."""

    @wraps(command)
    def with_record(
        *, output_format: str | None, color: bool | None, verbose: bool, group_by: str, fail_on: str, **given: Any
    ) -> int:
        shown = layout(verbose=verbose, group_by=group_by, fail_on=fail_on)
        return command(how=ReportStyle(output_format=output_format, color=color, layout=shown), **given)

    return with_record


def report_flags(command: Callable[..., int]) -> Callable[..., int]:
    """Everything that a verb with a report takes; it gets them as two records, `flags` and `how`."""
    of_report = (fail_on, output_format, verbose, group_by, color, shard, scheduler, jobs, clusters, root)
    return with_flags(ReportFlags, with_style(command), of_report)


def with_flags(kind: type, command: Callable[..., int], known: Iterable[Callable[[Any], Any]]) -> Callable[..., int]:
    """A verb with options, of which it gets those that a record has as this record."""

    @wraps(command)
    def found(**given: Any) -> int:
        return command(flags=kind(**{name: given.pop(name) for name in kind.__annotations__}), **given)

    for option in known:
        found = option(found)
    return found


def _shard(text: str | None) -> Shard | None:
    if text is None:
        return None
    from poolsmith.project.run.run_options import shard_of

    return shard_of(text)


def workers(jobs: int | None, scheduler: str | None) -> int | Workers:
    """Who works on many clusters. Raises UsageError."""
    if scheduler is None:
        from poolsmith.project.output.batches import default_jobs

        return jobs or default_jobs()
    if jobs is not None:
        raise UsageError("--jobs is for processes of this machine, and --scheduler has workers of its own: take one")
    from poolsmith.interface.app.dask_workers import DaskWorkers

    return DaskWorkers(address=scheduler)


def report_files(wanted: tuple[str, ...], root: Path, kind: str) -> tuple[ReportFile, ...]:
    """What --output asks for, of a check or of a diff. Raises UsageError."""
    if not wanted:
        return ()
    from poolsmith.interface.app.report_files import report_files as checked

    return checked(root, wanted, names_for(kind))


def layout(*, verbose: bool, group_by: str = RULE, fail_on: str = Severity.ERROR) -> Layout:
    """What flags say of the report; `rest` is the command as it was given, and `-v`."""
    return Layout(group_by=group_by, verbose=verbose, fail_on=Severity(fail_on), rest=_with_verbose())


def _with_verbose() -> str:
    context = click.get_current_context()
    verb = len(context.command_path.split()) - 1
    return with_verbose(context.command_path, (context.find_root().obj or ())[verb:])


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
