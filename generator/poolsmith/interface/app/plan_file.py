"""Use cases: save a change as it was judged, and hold what is checked out against such a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.sides import OWN
from poolsmith.change.diff.touched_clusters import on_disk
from poolsmith.change.review.saved_plan import MOST_BYTES, SavedPlan, digests_of, plan_text, read_plan, refused
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.sources.git import Git
from poolsmith.guard.policies.revision import GitFile
from poolsmith.interface.app.new_files import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.interface.app.diff import JudgedChange


def save_plan(file: Path, judged: JudgedChange, clusters: tuple[str, ...]) -> None:
    """Raises WriteError."""
    from poolsmith.change.diff.headline import verdict  # on demand: few save a plan
    from poolsmith.interface.report.diff_json import record_body

    report = judged.report
    plan = SavedPlan(
        base=report.base.commit,
        head=report.head.commit,
        verdict="nothing changes" if report.is_empty else verdict(report),
        clusters=clusters,
        digests=judged.digests,
    )
    replace_file(file, plan_text(plan, record_body(report)))


def planned(root: Path, file: Path, cluster: str | None) -> str:
    """One line that says what was judged, where that is what is checked out.

    Raises UsageError for a plan that is altered, stale, for another commit or another cluster.
    """
    try:
        if file.stat().st_size > MOST_BYTES:
            raise UsageError(f"{file} is larger than a plan can be ({MOST_BYTES >> 20} MiB)")
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} can't be read: {getattr(error, 'strerror', None) or error}") from None
    plan = read_plan(text, str(file))
    commit = _commit(root)
    ids = {"": GitFile("", commit)} if commit else {}  # of the same sort as those of the repository
    why = refused(plan, str(file), digests_of(on_disk(root, OWN, ids, {})), commit, cluster)
    if why:
        raise UsageError(why)
    base = f" since {plan.base[:12]}" if plan.base else ""
    return f"what is checked out is what {file} judged{base}: {plan.verdict}"


def _commit(root: Path) -> str:
    found = Git(root, "--plan").run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", may_fail=True)
    return found.stdout.decode().strip() if found.returncode == 0 else ""
