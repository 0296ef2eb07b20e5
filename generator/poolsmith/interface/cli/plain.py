"""What needs no parser of flags: where a project stands, files that are named for a check and nothing else, and a whole
project that is generated, compared or judged.

They run for every commit, and the parser would be an eighth of what they take. Both ways end in the same report.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.cli.exits import Exit
    from poolsmith.project.output.result_store import ResultStore

_LONGEST_COMMAND = 120
_ABOUT_REPORTS = ("--format", "--output", "--group-by")


def judge_files(arguments: Sequence[str], files: Sequence[str]) -> Exit:
    """`check PATHS` and `check --hook FILES`, as the verb itself does it. Raises PoolsmithError."""
    from poolsmith.interface.app.baseline import AcceptingOptions, with_accepted
    from poolsmith.interface.app.check import check_paths
    from poolsmith.interface.cli.reports import print_outcome
    from poolsmith.interface.cli.terminal import exit_code
    from poolsmith.interface.report.formats import Layout
    from poolsmith.project.run.facts import facts_of

    root, paths, accepting = project_above(os.curdir), tuple(map(Path, files)), AcceptingOptions()
    with facts_of(root):
        refuse_clusters(root, paths)
        judge = partial(check_paths, root, today=accepting.today)
        outcome = of_hook(root, paths, judge) if "--hook" in arguments else by_hand(paths, judge)
        outcome = with_accepted(outcome, root, paths, accepting)
        layout = Layout(rest=with_verbose("poolsmith check", arguments[1:]))
        print_outcome(outcome, output_format=None, color=None, layout=layout, root=root)
    return exit_code(outcome, layout.fail_on)


_STORE = {"--cache": True, "--no-cache": False}
_FLAGS = frozenset(("--rehash", *_STORE))
_OF_VERB = {"generate": _FLAGS | {"--check"}, "check": _FLAGS, "run": _FLAGS}
"""What may be asked of a whole project without a parser: what is remembered, and whether anything is written."""


def paths_of(arguments: Sequence[str]) -> list[str]:
    """What a check is to judge that has no flags, or those that say nothing of files; nothing of another call."""
    paths = [word for word in arguments[1:] if word not in _FLAGS]
    return [] if arguments[:1] != ["check"] or any(word.startswith("-") for word in paths) else paths


def is_of_whole_project(arguments: Sequence[str]) -> bool:
    """Not a check in a pipeline, which judges what would be merged."""
    if arguments[:1] == ["check"] and in_pipeline():
        return False
    return _OF_VERB.get(arguments[0] if arguments else "", frozenset()).issuperset(arguments[1:])


def work_on_project(arguments: Sequence[str]) -> Exit:
    """`generate`, `generate --check`, `check` and `run`, as the verbs themselves do it. Raises PoolsmithError."""
    from poolsmith.interface.cli.exits import Exit
    from poolsmith.interface.cli.reports import print_outcome
    from poolsmith.interface.cli.terminal import exit_code, progress_bar
    from poolsmith.interface.report.formats import Layout
    from poolsmith.project.output.batches import default_jobs
    from poolsmith.project.run.facts import facts_of

    root, (verb, *flags) = project_above(os.curdir), arguments
    store = result_store(next((_STORE[word] for word in reversed(flags) if word in _STORE), None))
    name, work = _WORK["compare" if "--check" in flags else verb]
    with facts_of(root):
        with progress_bar(name) as progress:
            how = {"jobs": default_jobs(), "progress": progress, "store": store, "rehash": "--rehash" in flags}
            outcome, is_current = work(root, how)
        layout = Layout(rest=with_verbose(f"poolsmith {verb}", flags))
        print_outcome(outcome, output_format=None, color=None, layout=layout, root=root)
    return exit_code(outcome, layout.fail_on) if is_current else Exit.FINDINGS


def _compare(root: Path, how: dict[str, Any]) -> tuple[Outcome, bool]:
    from poolsmith.interface.app.check_project import compare

    result = compare(root, **how)
    return result.outcome, result.is_current


def _generate(root: Path, how: dict[str, Any]) -> tuple[Outcome, bool]:
    from poolsmith.interface.app.generate import generate

    return generate(root, **how).outcome, True


def _check(root: Path, how: dict[str, Any]) -> tuple[Outcome, bool]:
    from poolsmith.interface.app.check_project import check_project

    return check_project(root, **how), True


def _run(root: Path, how: dict[str, Any]) -> tuple[Outcome, bool]:
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.interface.app.one_run import run_project

    return run_project(root, judging=JudgingOptions(), **how).outcome, True


_WORK = {
    "compare": ("comparing", _compare),
    "generate": ("generating", _generate),
    "check": ("checking", _check),
    "run": ("generating", _run),
}
"""What a terminal shows meanwhile, and the work: its outcome, and whether the output is as it should be."""


def by_hand(paths: tuple[Path, ...], judge: Callable[..., Outcome]) -> Outcome:
    """Links are told before anything of them is shown: whoever names one may not know where it leads."""
    from poolsmith.interface.cli.terminal import tell

    for path in paths:
        if path.is_symlink():
            tell((f"`{path}` is a link to `{path.resolve()}`, which is read",))
    return judge(paths)


def of_hook(root: Path, paths: tuple[Path, ...], judge: Callable[..., Outcome]) -> Outcome:
    from poolsmith.interface.app.check_scope import check_named_files

    return check_named_files(root, paths, lambda files, only: judge(files, only=only))


def project_above(folder: str) -> Path:
    """The folder itself, or the nearest one above it that has profiles/: up to the top of the git repository."""
    here = os.path.abspath(folder)  # noqa: PTH100 - links stay as they were given
    above = here
    while not os.path.isdir(f"{above}/profiles"):  # noqa: PTH112 - start-up
        parent = os.path.dirname(above)  # noqa: PTH120
        if parent == above or os.path.exists(f"{above}/.git"):  # noqa: PTH110
            return Path(folder)
        above = parent
    return Path(folder) if above == here else Path(os.path.relpath(above, here))


def refuse_clusters(root: Path, paths: tuple[Path, ...]) -> None:
    """The name of a cluster in the place of a path. Raises UsageError."""
    for path in paths:
        name = str(path)
        if not os.path.lexists(name) and "/" not in name and (root / "profiles" / name).is_dir():
            raise UsageError(
                f"there is no file or folder `{name}`; the cluster of that name: `poolsmith check --cluster {name}`"
            )


def with_verbose(command: str, given: Sequence[str]) -> str:
    """The command as it was given, and `-v`; without flags that say where a report goes, and how: what is folded is
    folded in text."""
    from shlex import quote  # on demand

    words, rest = [command, "-v"], iter(given)
    kept = []
    for word in rest:
        if word in _ABOUT_REPORTS:
            next(rest, None)
        elif not word.startswith(tuple(f"{flag}=" for flag in _ABOUT_REPORTS)):
            kept.append(quote(word))
    whole = " ".join([*words, *kept])
    return whole if len(whole) <= _LONGEST_COMMAND and whole.isprintable() else " ".join([*words, "…"])


def in_pipeline() -> bool:
    return os.environ.get("CI") not in (None, "", "0", "false")


def result_store(wanted: bool | None) -> ResultStore | None:
    """The user's own store of results; None where there is to be none, or can't be one."""
    if wanted is False or (wanted is None and os.environ.get("CI")):
        return None
    from poolsmith.project.output.result_store import open_store

    folder = _cache_folder()
    return open_store(folder) if folder else None


def _cache_folder() -> str:
    """POOLSMITH_CACHE_DIR, else a folder in that of the user; empty where there is none."""
    own = os.environ.get("POOLSMITH_CACHE_DIR")
    if own is not None:
        return os.path.abspath(own) if own else ""  # noqa: PTH100 - links stay as they were given
    home = os.path.expanduser("~")  # noqa: PTH111 - no Path for one string at start-up
    if not os.path.isabs(home):  # noqa: PTH117
        return ""
    default = f"{home}/Library/Caches" if sys.platform == "darwin" else f"{home}/.cache"
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return f"{shared if os.path.isabs(shared) else default}/poolsmith"  # noqa: PTH117
