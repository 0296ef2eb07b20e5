"""A project that stays loaded while somebody edits it: what one save does not change is not worked on again.

Nobody else asks it and nothing of it is written: it ends with its process. A process whose own code has been replaced
does not answer any more.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts.packs import active
from poolsmith.core.record import record
from poolsmith.core.sources.file_states import folder_state
from poolsmith.interface.app.check_project import check_project
from poolsmith.interface.app.memory import tool_state
from poolsmith.project.output.result_store import ResultStore
from poolsmith.project.run.facts import facts_of
from poolsmith.project.run.project import Project, open_project
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.core.facts.packs import Packs

_NOT_WATCHED = frozenset((".git", "node_modules", ".venv", "__pycache__", ".terraform"))


class ReplacedError(PoolsmithError):
    """The code of this process is not what is installed any more."""


@record
class _Results(ResultStore):
    """Results of this process alone."""

    folder: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def read(self, name: str) -> Any:
        return self.values.get(name)

    def write(self, name: str, value: Any) -> None:
        self.values[name] = value


class KeptProject:
    """`judge` says what `check` would; each cluster whose files and policies are the same is answered from before."""

    def __init__(self, root: Path, *, jobs: int = 1) -> None:
        self.root = root
        self._jobs = jobs
        self._tool = tool_state()
        self._results = _Results()
        self._loaded: tuple[Packs, Project] | None = None

    def judge(self, progress: Progress = silent) -> Outcome:
        """Raises UsageError, NoInputError, and ReplacedError where poolsmith was installed anew meanwhile."""
        if tool_state() != self._tool:
            raise ReplacedError("poolsmith has changed since this process started: start it again")
        with facts_of(self.root):
            return check_project(
                self.root, jobs=self._jobs, progress=progress, store=self._results, loaded=self._held()
            )

    @contextmanager
    def project(self) -> Iterator[Project]:
        """As it is on disk now. Raises UsageError, NoInputError."""
        with facts_of(self.root):
            yield open_project(self.root).beside(self._held())

    def _held(self) -> Project:
        """What was loaded for the same packs of facts."""
        if self._loaded is None or self._loaded[0] != active():
            self._loaded = active(), Project(self.root)
        return self._loaded[1]


def state_of(root: Path) -> dict[str, str]:
    """What the file system says of each file below, by its path. Raises OSError."""
    entries = folder_state(str(root), ignored=_NOT_WATCHED).entries
    return {path: about for path, _, about in (entry.partition("\0") for entry in entries)}


def differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The paths whose state is another."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
