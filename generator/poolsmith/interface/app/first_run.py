"""Use case: what `init` ends with. The project is generated and checked, and what comes next is said in three lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes.shape import ASSUMED_VALUE
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.record import record
from poolsmith.interface.app.check_project import check_project, compare
from poolsmith.interface.app.generate import generate
from poolsmith.project.run.project import CLUSTERS, FLEET

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome

_REVIEW = "`poolsmith diff` shows what a change does, and what it is allowed"
_GRANT = "nothing enforces privileges until `poolsmith grants --write` with --reason, --owner and --expires"
_COMMIT = "`pre-commit install`, and commit all that was written: each commit generates and checks from now on"
_CATCH_UP = "`poolsmith generate --check` shows the differences, and `poolsmith generate` ends them"
_TAKEN = "docs/takeover.md of poolsmith says how one owner follows the other; commit, and deliver nothing before"


@record
class FirstRun:
    """`lines` to print; `refused` is why nothing was generated."""

    lines: tuple[str, ...]
    refused: Outcome | None = None


def first_run(root: Path, *, jobs: int, has_grants: bool, is_takeover: bool) -> FirstRun:
    """Generate and check the project. Output of a cluster that stands there is not changed.

    Raises UsageError, NoInputError, WriteError.
    """
    if others := _out_of_date(root, jobs):
        told = f"not generated: output/ is not what the profiles of {listed(others)} generate"
        return FirstRun(lines=(told, f"next: {_CATCH_UP}"))
    written = generate(root, jobs=jobs)
    if not written.written:
        return FirstRun(lines=(), refused=written.outcome)
    outcome = check_project(root, jobs=jobs)
    told = _REVIEW if has_grants else _GRANT
    next_lines = (_of_profiles(outcome), _TAKEN if is_takeover else _COMMIT, told)
    return FirstRun(lines=(*written.outcome.facts, _counts(outcome), *(f"next: {line}" for line in next_lines)))


def _out_of_date(root: Path, jobs: int) -> list[str]:
    """Clusters whose output stands there and is not what `generate` would write."""
    if not (root / CLUSTERS).is_dir():
        return []
    found = compare(root, jobs=jobs)
    changed = (name for name in found.changed if name != FLEET and (root / CLUSTERS / name).exists())
    return sorted({*changed, *found.removed})


def _counts(outcome: Outcome) -> str:
    errors, warnings = outcome.count(Severity.ERROR), outcome.count(Severity.WARNING)
    codes = sorted({f"{item.code} {item.name}" for item in outcome.open if item.severity is not Severity.NOTE})
    of = f": {listed(codes)}" if codes else ""
    return f"checked: {counted(errors, 'error')}, {counted(warnings, 'warning')}{of}"


def _of_profiles(outcome: Outcome) -> str:
    assumed = sum(item.code == ASSUMED_VALUE.code for item in outcome.open)
    if not assumed:
        return "edit the profiles as your nodes are, then run `poolsmith generate` and `poolsmith check`"
    lines, comment = counted(assumed, "assumed line"), "comment" if assumed == 1 else "comments"
    return f"correct {lines} of the profiles ({ASSUMED_VALUE.code}), remove the {comment}, run `poolsmith generate`"
