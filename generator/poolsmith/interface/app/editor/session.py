"""What an editor has open, which projects that touches, and what is found in them.

What is no file of the folder that the editor opened is neither read nor judged.
"""

from __future__ import annotations

import os
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.interface.app.editor.documents import UTF16, Document, is_below, path_of, rows_on_disk, uri_of
from poolsmith.interface.app.editor.findings import shown_finding
from poolsmith.interface.app.editor.kept_project import KeptProject, ReplacedError
from poolsmith.interface.app.editor.messages import ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.project.run.run_options import Progress

ERROR, INFO = 1, 3
"""Kinds of messages to people, as the protocol numbers them."""
_OF_PROJECT = ("profiles/", "policies/", "output/")
YAML = (".yaml", ".yml")
_MOST_FILES = 500


class LeftError(Exception):
    """The editor has ended the session."""


class Session:
    """`project_above` finds the project of a folder, `notify` sends a method and its parameters to the editor."""

    def __init__(
        self,
        notify: Callable[[str, dict[str, Any]], None],
        project_above: Callable[[str], Path],
        *,
        folder: str,
        jobs: int,
    ) -> None:
        self.folder = folder
        self.encoding = UTF16
        self.documents: dict[str, Document] = {}
        self.due: dict[str, None] = {}
        self._notify = notify
        self._project_above = project_above
        self._jobs = jobs
        self._projects: dict[str, KeptProject] = {}
        self._found: dict[str, dict[str, list[Diagnostic]]] = {}

    def put(self, uri: str, text: str) -> Document | None:
        """A text as it stands in the editor; None where it is none of the folder."""
        path = path_of(uri)
        if path is None or not is_below(path, self.folder):
            return None
        self.documents[uri] = Document(uri=uri, path=path, text=text)
        return self.documents[uri]

    def home_of(self, path: str) -> tuple[str, str]:
        """The project of a file, or else the folder of the editor; and the path from there."""
        folder = path.rpartition("/")[0]
        root = os.path.normpath(Path(folder, self._project_above(folder)))
        is_near = is_below(path, root) and (is_below(f"{root}/profiles", self.folder) or is_below(self.folder, root))
        if not is_near or not _has_profiles(root):
            root = self.folder
        return root, os.path.relpath(path, root)

    def project(self, root: str) -> KeptProject:
        if root not in self._projects:
            self._projects[root] = KeptProject(Path(root), jobs=self._jobs)
        return self._projects[root]

    def saved(self, path: str) -> None:
        """The project is due where the file is one of its own, else the file alone."""
        if not is_below(path, self.folder):
            return
        root, below = self.home_of(path)
        if _has_profiles(root) and below.startswith(_OF_PROJECT):
            self.due[root] = None
        elif path.endswith(YAML):
            self.due[path] = None

    def judge_all(self, meanwhile: Progress) -> None:
        while self.due:
            source = next(iter(self.due))
            del self.due[source]
            try:
                found = self._judged_project(source, meanwhile) if Path(source).is_dir() else self._judged_file(source)
            except ReplacedError:
                raise
            except (PoolsmithError, OSError, RecursionError, MemoryError) as error:
                self.tell(ERROR, str(error) or type(error).__name__, is_shown=True)
                found = {}
            except (LeftError, ClosedError):
                raise
            except Exception as error:  # noqa: BLE001 - told, not shown
                self.tell(ERROR, f"internal error: {where(error)}", is_shown=True)
                found = {}
            self._publish(source, found)

    def _judged_project(self, root: str, meanwhile: Progress) -> dict[str, list[Diagnostic]]:
        from poolsmith.interface.report.finding_blocks import FOLLOWING  # on demand

        outcome = self.project(root).judge(meanwhile)
        followers = [item for item in outcome.open if item.code in FOLLOWING]
        if followers:
            self.tell(INFO, f"{counted(len(followers), 'file')} not as generated: {followers[0].help}")
        return _by_file(root, (item for item in outcome.open if item.code not in FOLLOWING))

    def _judged_file(self, path: str) -> dict[str, list[Diagnostic]]:
        """As a hook of a commit judges it: with what stands near."""
        from poolsmith.interface.app.check import check_paths  # on demand
        from poolsmith.interface.app.check_scope import check_named_files  # on demand

        if not Path(path).is_file():
            return {}
        root = Path(self.folder)
        outcome = check_named_files(root, [Path(path)], lambda files, only: check_paths(root, files, only=only))
        return _by_file(self.folder, outcome.open)

    def all_found(self) -> dict[str, list[Diagnostic]]:
        found: dict[str, list[Diagnostic]] = {}
        for by_file in self._found.values():
            for path, items in by_file.items():
                found.setdefault(path, []).extend(items)
        return found

    def _publish(self, source: str, found: dict[str, list[Diagnostic]]) -> None:
        """Each file that has findings, or had some; of very many those that are open, and the first ones."""
        before = self._found.get(source, {})
        self._found[source] = found
        opened = {document.path: document for document in self.documents.values()}
        paths = sorted(found.keys() | before.keys(), key=lambda path: (path not in opened, path))
        now = self.all_found()
        for path in paths[:_MOST_FILES]:
            document = opened.get(path)
            rows = document.rows if document is not None else rows_on_disk(path)
            root = self.home_of(path)[0]
            shown = [shown_finding(item, Path(root), rows, self.encoding) for item in now.get(path, ())]
            uri = uri_of(path) if document is None else document.uri
            self._notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": shown})
        if len(paths) > _MOST_FILES:
            self.tell(INFO, f"{len(paths) - _MOST_FILES:,} more files have findings; `poolsmith check` shows them")

    def tell(self, kind: int, message: str, *, is_shown: bool = False) -> None:
        method = "window/showMessage" if is_shown else "window/logMessage"
        self._notify(method, {"type": kind, "message": message})


def _has_profiles(root: str) -> bool:
    return Path(root, "profiles").is_dir()


def _by_file(root: str, found: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
    """What somebody has to act on, by absolute paths below the root."""
    by_file: dict[str, list[Diagnostic]] = {}
    for item in found:
        path = os.path.normpath(f"{root}/{item.primary.span.path}")
        if not item.asks_nothing and path.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
            by_file.setdefault(path, []).append(item)
    return by_file


def where(error: Exception) -> str:
    """For a report; nothing of the user's data."""
    frames = extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename.rpartition('poolsmith/')[2]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
