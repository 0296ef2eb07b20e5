"""The files of a run as a repository: what each of them is, and the documents of those that hold any.

Files are read when they are first asked for, and once. What a delivery engine would read beyond the checked paths is
read too, as long as it lies below the root or below one of these paths.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.record import record
from poolsmith.core.sources.folder_walk import walk
from poolsmith.core.sources.input_tree import leads_out, read_bytes, yaml_diagnostic
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.broken_streams import read_apart
from poolsmith.kubernetes.repository.file_forms import Form, form_of_bytes, has_control, has_marks, without_marks
from poolsmith.kubernetes.repository.manifest_files import YAML_ENDINGS, CheckedDocument, documents_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_MANIFEST_BYTES = 32 << 20
_SKIPPED_FOLDERS = frozenset((".git", "node_modules", ".venv", "__pycache__"))
_CHART = "Chart.yaml"
_TEMPLATES = "templates"


@record
class RepositoryFile:
    """One file: its documents, or why it has none. `form` says why it is not judged, `problems` what is wrong in it."""

    path: str
    text: str | None = None
    documents: tuple[CheckedDocument, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    form: Form | None = None


@record(frozen=False)
class Listed:
    """The files that a run was asked to judge, by their shown paths, and what could not be listed."""

    yaml: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    problems: list[Diagnostic] = field(default_factory=list)


class RepositoryFiles:
    """Paths are as they are shown: relative to the root with forward slashes, absolute where they lie elsewhere."""

    def __init__(self, root: Path, paths: Sequence[Path] = ()) -> None:
        self._root = os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
        self._within = tuple(os.path.realpath(path) for path in (root, *paths))
        self._paths = paths
        self._files: dict[str, RepositoryFile] = {}
        self._folders: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._charts: dict[str, bool] = {}

    def shown(self, file: Path) -> str:
        """The path relative to the root where it lies below it."""
        absolute = os.path.abspath(file)  # noqa: PTH100 - as above
        if absolute == self._root:
            return ""
        below = absolute[len(self._root) :] if absolute.startswith(self._root) else ""
        is_below = below[:1] == os.sep or self._root.endswith(os.sep)
        return (below.lstrip(os.sep) if is_below else absolute).replace(os.sep, "/")

    def listed(self) -> Listed:
        """All files below the paths of the run; a path that is a file is YAML, whatever its name."""
        yaml: dict[str, None] = {}
        others: dict[str, None] = {}
        found = Listed()
        failures: list[OSError] = []
        for path in self._paths:
            if not path.is_dir():
                yaml.setdefault(self.shown(path))
                continue
            for folder, names in walk(str(path), _SKIPPED_FOLDERS.__contains__, failures.append):
                top = self.shown(Path(folder))
                for name in names:
                    shown = f"{top}/{name}" if top else name
                    (yaml if name.endswith(YAML_ENDINGS) else others).setdefault(shown)
        for failure in failures:
            message = f"can't be read: {failure.strerror or failure}"
            place = whole_file(self.shown(Path(failure.filename)))
            found.problems.append(diagnose(reading.UNREADABLE_FILE, message, place))
        found.yaml, found.others = tuple(yaml), tuple(others)
        return found

    def file(self, path: str) -> RepositoryFile:
        """Read once; a file that is not there has no text."""
        known = self._files.get(path)
        if known is None:
            known = self._files[path] = self._read(path)
        return known

    def documents(self, path: str) -> tuple[CheckedDocument, ...]:
        """Without those that are empty."""
        return self.file(path).documents

    def text(self, path: str) -> str | None:
        """None where there is no such file, or none that is text."""
        return self.file(path).text

    def parsed(self, path: str) -> Any:
        """The first document of a file that is YAML, whatever its name; None of what can't be read."""
        text = self.text(path)
        try:
            return next(iter(read_documents(text or "", [])), None)
        except YamlProblem:
            return None

    def filled(self, path: str) -> tuple[CheckedDocument, ...]:
        """The documents of a file that may be a template, with LATER for what is filled in; none if that is no YAML."""
        known = self.documents(path)
        text = self.text(path)
        if known or text is None:
            return known
        filled = without_marks(text)
        try:
            return tuple(documents_of(path, filled, read_documents(filled, [])))
        except YamlProblem:
            return ()

    def is_file(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return name in self._listing(folder)[0]

    def is_folder(self, path: str) -> bool:
        if not path:
            return True
        folder, _, name = path.rpartition("/")
        return name in self._listing(folder)[1]

    def files_in(self, folder: str) -> tuple[str, ...]:
        """The paths of the files directly in a folder, sorted."""
        return tuple(f"{folder}/{name}" if folder else name for name in self._listing(folder)[0])

    def files_below(self, folder: str) -> Iterator[str]:
        """In the folder and all below it, hidden ones left out."""
        pending = [folder]
        while pending:
            top = pending.pop()
            yield from self.files_in(top)
            below = [name for name in self._listing(top)[1] if name not in _SKIPPED_FOLDERS]
            pending += [f"{top}/{name}" if top else name for name in reversed(below)]

    def in_repository(self, folder: str) -> str | None:
        """A folder that is told from the top of the git repository, which may lie above the root; None: not there."""
        if self.is_folder(folder):
            return folder
        above = self._above_root
        if above and (folder == above or folder.startswith(f"{above}/")):
            below = folder[len(above) + 1 :]
            return below if self.is_folder(below) else None
        return None

    @cached_property
    def _above_root(self) -> str:
        """From the top of the git repository to the root."""
        top = Path(self._root)
        for folder in (top, *top.parents):
            if (folder / ".git").exists():
                return "" if folder == top else top.relative_to(folder).as_posix()
        return ""

    def folders_in(self, folder: str) -> tuple[str, ...]:
        """The paths of the folders directly in a folder, sorted."""
        return tuple(f"{folder}/{name}" if folder else name for name in self._listing(folder)[1])

    def chart_of_template(self, path: str) -> str | None:
        """The folder of the Helm chart among whose templates a file stands."""
        parts = path.split("/")
        for index, part in enumerate(parts[:-1]):
            if part == _TEMPLATES and self._is_chart("/".join(parts[:index])):
                return "/".join(parts[:index])
        return None

    def _is_chart(self, folder: str) -> bool:
        known = self._charts.get(folder)
        if known is None:
            known = self._charts[folder] = self.is_file(f"{folder}/{_CHART}" if folder else _CHART)
        return known

    def _listing(self, folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of files and of folders; of a folder that can't be read, none."""
        known = self._folders.get(folder)
        if known is not None:
            return known
        files: list[str] = []
        folders: list[str] = []
        if not folder.startswith("../"):
            try:
                with os.scandir(Path(self._root, folder)) as entries:
                    for entry in entries:
                        (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
            except (OSError, ValueError):
                files, folders = [], []
        self._folders[folder] = (tuple(sorted(files)), tuple(sorted(folders)))
        return self._folders[folder]

    def _read(self, path: str) -> RepositoryFile:
        if path.startswith("../"):
            return RepositoryFile(path=path)
        absolute = Path(self._root, path)
        is_named = any(self.shown(named) == path for named in self._paths)
        if not is_named and leads_out(absolute, self._within):
            return RepositoryFile(path=path, problems=(_link_out(path),))
        content = read_bytes(absolute, path, MAX_MANIFEST_BYTES)
        if isinstance(content, Diagnostic):
            return RepositoryFile(path=path, problems=(content,))
        if (form := form_of_bytes(content)) is not None:
            return RepositoryFile(path=path, form=form)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            problem = diagnose(reading.NOT_UTF8, "the file is not UTF-8", whole_file(path))
            return RepositoryFile(path=path, problems=(problem,))
        if self.chart_of_template(path) is not None:
            return RepositoryFile(path=path, text=text, form=Form.CHART_TEMPLATE)
        if not posixpath.basename(path).endswith(YAML_ENDINGS) and not is_named:
            return RepositoryFile(path=path, text=text)
        return _parsed(path, text, content)


def _parsed(path: str, text: str, content: bytes) -> RepositoryFile:
    duplicates: list[YamlProblem] = []
    try:
        found = read_documents(text, duplicates)
    except YamlProblem as problem:
        if has_marks(text) and _is_template(text):
            return RepositoryFile(path=path, text=text, form=Form.TEMPLATE)
        documents, problems = read_apart(path, content, yaml_diagnostic(path, text, problem))
        return RepositoryFile(path=path, text=text, documents=tuple(documents), problems=tuple(problems))
    problems = [yaml_diagnostic(path, text, problem) for problem in duplicates]
    return RepositoryFile(
        path=path, text=text, documents=tuple(documents_of(path, text, found)), problems=tuple(problems)
    )


def _is_template(text: str) -> bool:
    """Whether a text that is no YAML becomes YAML, or may become it, when its marks are filled in."""
    if has_control(text):
        return True
    try:
        read_documents(without_marks(text), [])
    except YamlProblem:
        return False
    return True


def _link_out(shown: str) -> Diagnostic:
    message = "this symbolic link leads out of the folder that is checked; it was not read"
    return diagnose(reading.LINK_OUT_OF_TREE, message, whole_file(shown), help="name the file itself, to have it read")
