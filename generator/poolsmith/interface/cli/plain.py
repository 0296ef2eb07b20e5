"""What needs no parser of flags: where a project stands, and a hook that names files and nothing else.

Hooks run for every commit, and the parser would be an eighth of what they take. Both ways end in the same report.
"""

from __future__ import annotations

import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.cli.exits import Exit

_LONGEST_COMMAND = 120
_ABOUT_REPORTS = ("--format", "--output", "--group-by")


def judge_hook(arguments: Sequence[str], files: Sequence[str], tool: str) -> Exit:
    """`check --hook FILES`, as the verb itself does it. Raises PoolsmithError."""
    from poolsmith.interface.app.baseline import AcceptingOptions, with_accepted
    from poolsmith.interface.app.check import check_paths
    from poolsmith.interface.cli.reports import print_outcome
    from poolsmith.interface.cli.terminal import exit_code
    from poolsmith.interface.report.formats import Layout
    from poolsmith.project.run.facts import facts_of

    root, paths, accepting = project_above(os.curdir), tuple(map(Path, files)), AcceptingOptions()
    with facts_of(root):
        refuse_clusters(root, paths)
        outcome = of_hook(root, paths, partial(check_paths, root, today=accepting.today))
        outcome = with_accepted(outcome, root, paths, accepting)
        layout = Layout(rest=with_verbose("poolsmith check", arguments[1:]))
        print_outcome(outcome, output_format=None, color=None, tool=tool, layout=layout, root=root)
    return exit_code(outcome, layout.fail_on)


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
    words, rest = [command, "-v"], iter(given)
    kept = []
    for word in rest:
        if word in _ABOUT_REPORTS:
            next(rest, None)
        elif not word.startswith(tuple(f"{flag}=" for flag in _ABOUT_REPORTS)):
            kept.append(shlex.quote(word))
    whole = " ".join([*words, *kept])
    return whole if len(whole) <= _LONGEST_COMMAND and whole.isprintable() else " ".join([*words, "…"])
