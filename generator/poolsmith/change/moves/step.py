"""One step of a move: what it edits, what to look for on the cluster, and what comes next.

Which step comes next follows from the profiles alone, so that a move can be taken up at any time, by anybody.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import did_you_mean, joined
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, matches
from poolsmith.project.run.cluster_run import plan_cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.change.upgrade_edits import Editor, Edits
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.project.run.project import Project


@record
class Step:
    """`names` are clusters before the step, each with its name after it (None: it is gone). One that is new is among
    them.

    `renamed` are paths of files or folders with their new ones, of what has no edit of its own; `removed` are folders
    or files; `made` are texts of files by paths where nothing stands.
    `before` is what has to be so before it is merged, `look` what to look for afterwards, both in order; `then` is the
    command of the next step, empty at the end. `is_outage`: the move can't be done without one; `facts` are
    what has to be acknowledged for that, beside what leaves.
    """

    title: str
    names: Mapping[str, str | None]
    edits: Edits
    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    look: tuple[str, ...] = ()
    then: str = ""
    is_outage: bool = False
    facts: tuple[str, ...] = ()


@record
class Done:
    """Nothing is left to edit. `look` is what may still be left over on the cluster."""

    look: tuple[str, ...] = ()


@record(kw_only=False)
class Moving:
    """A cluster whose profiles are sound, and that moves."""

    loaded: LoadedCluster
    plan: ClusterPlan
    file: SourceFile

    @property
    def name(self) -> str:
        return self.plan.name


def moving(project: Project, name: str) -> Moving:
    """Raises UsageError, NoInputError."""
    (files,) = project.select((name,))
    planned = plan_cluster(project, files)
    if planned.plan is None or planned.loaded.file is None:
        raise UsageError(
            f"the profiles of `{name}` have mistakes: `poolsmith generate --check` lists them; correct them first"
        )
    return Moving(planned.loaded, planned.plan, planned.loaded.file)


def new_name(name: str, what: str) -> str:
    """Raises UsageError."""
    if not matches(DNS_LABEL, name):
        raise UsageError(f"{what} has to be lower-case letters, digits and `-`, and `{name[:80]}` is not")
    return name


def one_of(value: str, known: tuple[str, ...], what: str) -> str:
    """Raises UsageError."""
    if value not in known:
        raise UsageError(f"there is no {what} `{value[:80]}`; {did_you_mean(value, known)}")
    return value


def named(names: Iterable[str]) -> str:
    """All of them: somebody has to look for each."""
    return joined([f"`{name}`" for name in names], _MANY)


_MANY = 1_000


def put(editor: Editor, file: SourceFile, pointer: str, after: str, value: str) -> None:
    """A scalar, where it stands; else behind the one at `after`, in the same mapping. Raises UsageError."""
    if file.has(pointer):
        editor.set(file, pointer, value)
    else:
        editor.add(file, after, pointer.rpartition("/")[2], value)
