"""The files of a run as a repository: what each of them is, and the documents of those that hold any.

Files are read when they are first asked for, and once. What a delivery engine would read beyond the checked paths is
read too, as long as it lies below the root or below one of these paths.

A file that can't be read as a whole is read one document at a time: sound ones are judged, broken ones are reported.
"""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import field
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import is_elsewhere, leads_out, read_bytes, walk, yaml_diagnostic
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents, read_if_yaml
from poolsmith.kubernetes.repository.manifest_files import (
    FILLED_ENDINGS,
    YAML_ENDINGS,
    CheckedDocument,
    Form,
    documents_of,
    folders_above,
    form_of_bytes,
    has_control,
    has_marks,
    is_no_yaml,
    is_script,
    is_terraform,
    is_yaml_by_content,
    without_marks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BEGINNING = pattern(r"^---(?=[ \t\r]*(?:#.*)?$)", re.MULTILINE)
_MAYBE_YAML = (".json", *FILLED_ENDINGS)
MOST_DOCUMENTS = 100
"""Each is read with the lines above it empty, so that places stay those of the file; so are broken ones in the rest."""
MOST_BYTES = 256 * 1024
MOST_LINES = 4_000
_MOST_INDENT = 1_000


def read_apart(shown: str, content: bytes, problem: Diagnostic) -> tuple[list[CheckedDocument], list[Diagnostic]]:
    """The sound documents of a file of which `problem` was told, and what is wrong with each of the others.

    Of a broken document the lines around the mistake are left out, and it is incomplete. Only the problem where the
    file is large, or can't be taken apart.
    """
    if len(content) > MOST_BYTES or problem.code in (reading.NOT_UTF8.code, reading.INPUT_LIMIT.code):
        return [], [problem]
    text = content.decode("utf-8")
    begins = [match.start() for match in _BEGINNING.finditer(text)]
    places = [0, *(place for place in begins if place)]
    if len(places) > MOST_DOCUMENTS:
        return [], [problem]
    problems: list[Diagnostic] = []
    sound: list[str] = []
    mended: set[int] = set()
    for number, (start, end) in enumerate(zip(places, (*places[1:], len(text)), strict=True)):
        lines_above = "\n" * text.count("\n", 0, start)
        try:
            read_documents(lines_above + text[start:end])
        except YamlProblem as wrong:
            problems.append(yaml_diagnostic(shown, text, wrong))
            rest = _without_broken_lines(text[start:end], wrong, len(lines_above))
            if rest is None:
                marker = "---" if start else ""
                rest = marker + "\n" * text.count("\n", start, end)
            else:
                mended.add(number)
            sound.append(rest)
        else:
            sound.append(text[start:end])
    whole = "".join(sound)
    try:
        found = read_documents(whole)
    except YamlProblem:
        return [], [problem]
    first = len(places) - len(found)  # what stands before the first marker may be no document
    stream = StreamPlaces(shown, whole)
    documents = []
    for index, data in enumerate(found):
        is_mended = index + first in mended
        kept = _without_nulls(data) if is_mended else data
        documents.append(CheckedDocument(shown, index, kept, whole, stream, is_incomplete=is_mended))
    return [document for document in documents if document.data is not None], problems or [problem]


def _without_nulls(data: Any) -> Any:
    """A key without a value had one in the lines that are left out, or may have had."""
    if isinstance(data, dict):
        return {key: _without_nulls(value) for key, value in data.items() if value is not None}
    return [_without_nulls(item) for item in data] if isinstance(data, list) else data


def _without_broken_lines(text: str, problem: YamlProblem, above: int) -> str | None:
    """One document with the lines of its first mistakes empty; None where that does not make it readable.

    Tried are the line of a mistake, the one above it, then the block that it stands in, and the blocks around that.
    """
    lines = text.split("\n")
    at = problem.position.line - 1 - above if problem.position is not None else -1
    if not 0 <= at < len(lines) or len(lines) > MOST_LINES:
        return None
    for first, last in ((at, at + 1), (max(at - 1, 0), at + 1), *_blocks(lines, at)):
        blanked = [*lines[:first], *([""] * (last - first)), *lines[last:]]
        if first == 0 and lines[0].startswith("---"):
            blanked[0] = "---"
        try:
            read_documents("\n".join(blanked))
        except YamlProblem:
            continue
        return "\n".join(blanked)
    return None


def _blocks(lines: list[str], at: int) -> Iterator[tuple[int, int]]:
    """First line and the line behind the last of the blocks around a line, from the inmost out to a key at the left."""
    first, indent = at, _MOST_INDENT
    while indent > 0:
        while first >= 0 and (not lines[first].strip() or _indent(lines[first]) >= indent):
            first -= 1
        if first < 0:
            return
        indent = _indent(lines[first])
        last = max(first + 1, at)
        while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
            last += 1
        if not lines[first].startswith("---"):
            yield first, last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


MAX_MANIFEST_BYTES = 32 << 20
_SKIPPED_FOLDERS = frozenset((".git", "node_modules", ".venv", "__pycache__"))
_CHART = "Chart.yaml"
_TEMPLATES = "templates"
_SUBMODULE = pattern(r"^[ \t]*path[ \t]*=[ \t]*([^\n]*)$", re.MULTILINE)


@record
class RepositoryFile:
    """One file: its documents, or why it has none. `form` says why it is not judged, `problems` what is wrong in it."""

    path: str
    text: str | None = None
    documents: tuple[CheckedDocument, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    form: Form | None = None
    unread: str = ""
    """What can be made out of a file that is no text as Kubernetes reads it: it says whether it is of any interest."""


@record(frozen=False)
class Listed:
    """The files that a run was asked to judge, by their shown paths, and what could not be listed."""

    yaml: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """To folders that lie outside of what is checked."""
    problems: list[Diagnostic] = field(default_factory=list)


class RepositoryFiles:
    """Paths are as they are shown: relative to the root with forward slashes, absolute where they lie elsewhere."""

    def __init__(
        self, root: Path, paths: Sequence[Path] = (), is_of_interest: Callable[[bytes], bool] | None = None
    ) -> None:
        """Of definitions of kinds that are of no interest no schema is read, which is most of some repositories. Files
        in JSON with objects of interest count as YAML."""
        self._root = os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
        self._within = tuple(os.path.realpath(path) for path in (root, *paths))
        self._paths = paths
        self._tops = tuple(os.path.abspath(path if path.is_dir() else path.parent) for path in paths)  # noqa: PTH100
        self.is_of_interest = is_of_interest
        self._files: dict[str, RepositoryFile] = {}
        self._folders: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
        self._charts: dict[str, bool] = {}
        self._as_yaml: dict[str, bool] = {}

    def shown(self, file: Path) -> str:
        """The path relative to the root where it lies below it."""
        absolute = os.path.abspath(file)  # noqa: PTH100 - as above
        if absolute == self._root:
            return ""
        below = absolute[len(self._root) :] if absolute.startswith(self._root) else ""
        is_below = below[:1] == os.sep or self._root.endswith(os.sep)
        return (below.lstrip(os.sep) if is_below else absolute).replace(os.sep, "/")

    def listed(self) -> Listed:
        """All files below the paths of the run; a path that is a file is YAML, unless its name says otherwise."""
        yaml: dict[str, None] = {}
        others: dict[str, None] = {}
        found = Listed()
        failures: list[OSError] = []
        links: list[str] = []
        for path in self._paths:
            if not path.is_dir():
                (others if is_no_yaml(path.name) else yaml).setdefault(self.shown(path))
                continue
            for folder, names in walk(str(path), _SKIPPED_FOLDERS.__contains__, failures.append, links.append):
                top = self.shown(Path(folder))
                for name in names:
                    shown = f"{top}/{name}" if top else name
                    is_yaml = name.endswith(YAML_ENDINGS) or self._is_read_as_yaml(shown)
                    (yaml if is_yaml else others).setdefault(shown)
        outside = (link for link in links if leads_out(link, self._within))
        found.links = tuple(self.shown(Path(link)) for link in outside)
        for failure in failures:
            message = f"can't be read: {failure.strerror or failure}"
            place = whole_file(self.shown(Path(failure.filename)))
            found.problems.append(diagnose(reading.UNREADABLE_FILE, message, place))
        found.yaml, found.others = tuple(yaml), tuple(others)
        return found

    def _is_read_as_yaml(self, path: str) -> bool:
        """Whether a file of another name has objects of interest or values in JSON, or is a template with nothing to
        fill in."""
        if not path.endswith(_MAYBE_YAML):
            return False
        if path not in self._as_yaml:
            content = self.content(path)
            text = content if isinstance(content, bytes) else None
            self._as_yaml[path] = text is not None and is_yaml_by_content(path, text, self.is_of_interest)
        return self._as_yaml[path]

    def file(self, path: str) -> RepositoryFile:
        """Read once; a file that is not there has no text."""
        known = self._files.get(path)
        if known is None:
            known = self._files[path] = self._read(path)
        return known

    def content(self, path: str) -> bytes | RepositoryFile:
        """The bytes of a file; or the file itself, of which that is all that anybody reads. Nothing is kept."""
        if is_elsewhere(path, self._tops):
            return RepositoryFile(path=path)
        absolute = os.path.join(self._root, path)  # noqa: PTH118 - many files
        if path not in self._named and leads_out(absolute, self._within):
            return RepositoryFile(path=path, problems=(_link_out(path),))
        content = read_bytes(absolute, path, MAX_MANIFEST_BYTES)
        if isinstance(content, Diagnostic):
            return RepositoryFile(path=path, problems=(content,))
        if (form := form_of_bytes(content)) is not None:
            return RepositoryFile(path=path, form=form)
        return content

    @cached_property
    def _named(self) -> frozenset[str]:
        """What the run was asked for by its own path."""
        return frozenset(map(self.shown, self._paths))

    @property
    def are_all_listed(self) -> bool:
        """Whether the run was asked for the whole root: what any file may name is then among the listed ones."""
        return "" in self._named

    def documents(self, path: str) -> tuple[CheckedDocument, ...]:
        """Without those that are empty."""
        return self.file(path).documents

    def text(self, path: str) -> str | None:
        """None where there is no such file, or none that is text."""
        return self.file(path).text

    def parsed(self, path: str) -> Any:
        """The first document of a file that is YAML, whatever its name; None of what can't be read."""
        return next(iter(read_if_yaml(self.text(path) or "", [])), None)

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

    @cached_property
    def submodules(self) -> tuple[str, ...]:
        """The folders that other git repositories stand in."""
        text = self.text(".gitmodules") if self.is_file(".gitmodules") else None
        return tuple(match[1].strip().strip("/") for match in _SUBMODULE.finditer(text or ""))

    @cached_property
    def inventories(self) -> tuple[str, ...]:
        """The files with variables of hosts and groups of Ansible, of whichever inventory."""
        return tuple(path for path in self.files_below("") if "group_vars/" in path or "host_vars/" in path)

    def in_repository(self, folder: str) -> str | None:
        """A folder that is told from the top of the git repository, which may lie above the root; None: not there."""
        if self.is_folder(folder):
            return folder
        above = self._above_root
        if above and (folder == above or folder.startswith(f"{above}/")):
            below = folder[len(above) + 1 :]
            return below if self.is_folder(below) else None
        return None

    def told_from(self, path: str, document: str) -> str:
        """A path that a document tells from the top of its repository.

        Where nothing is there, and these files hold that repository in a folder, its top is the nearest folder above
        the document in which the path is; a single name is no sign of one.
        """
        is_there = self.is_file(path) or self.is_folder(path)
        for above in folders_above(document) if "/" in path and not is_there else ():
            found = f"{above}/{path}"
            if self.is_file(found) or self.is_folder(found):
                return found
        return path

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

    def _listing(self, folder: str) -> tuple[dict[str, None], dict[str, None]]:
        """Names of files and of folders, sorted; of a folder that can't be read, none."""
        known = self._folders.get(folder)
        if known is not None:
            return known
        files: list[str] = []
        folders: list[str] = []
        if not is_elsewhere(folder, self._tops):
            try:
                with os.scandir(Path(self._root, folder)) as entries:
                    for entry in entries:
                        (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
            except (OSError, ValueError):
                files, folders = [], []
        self._folders[folder] = (dict.fromkeys(sorted(files)), dict.fromkeys(sorted(folders)))
        return self._folders[folder]

    def _read(self, path: str) -> RepositoryFile:
        content = self.content(path)
        if isinstance(content, RepositoryFile):
            return content
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = _made_out(content)
            if not is_script(path) or is_terraform(path):  # a shell takes any bytes
                problem = diagnose(reading.NOT_UTF8, "the file is not UTF-8", whole_file(path))
                return RepositoryFile(path=path, problems=(problem,), unread=text)
        if self.chart_of_template(path) is not None:
            return RepositoryFile(path=path, text=text, form=Form.CHART_TEMPLATE)
        is_yaml = posixpath.basename(path).endswith(YAML_ENDINGS) or self._as_yaml.get(path, False)
        if not is_yaml and path not in self._named:
            return RepositoryFile(path=path, text=text)
        if self.is_of_interest is not None and _DEFINITION in content:
            lean = without_schemas(text, self.is_of_interest)
            return _lean(path, text, lean) or _parsed(path, text, content)
        return _parsed(path, text, content)


def _made_out(content: bytes) -> str:
    """In the encoding that the file begins with, else sign by sign."""
    wide = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1"
    return content.decode(wide, "replace")


_DEFINITION = b"kind: CustomResourceDefinition"
_KIND = pattern(r"^kind: CustomResourceDefinition[ \t\r]*$", re.MULTILINE)
_SCHEMA = pattern(r"^( *)(?:schema|validation):[ \t]*\n", re.MULTILINE)


def without_schemas(text: str, is_of_interest: Callable[[bytes], bool]) -> str:
    """The text with empty lines where the schemas of definitions are, those of interest left as they stand."""
    several = _BEGINNING.finditer(text) if "\n---" in text else ()
    begins = [0, *(match.start() for match in several), len(text)]
    parts: list[str] = []
    for start, end in pairwise(begins):
        whole = text[start:end]
        lean = _without_schemas(whole) if _KIND.search(whole) is not None else whole
        parts.append(whole if lean is whole or is_of_interest(lean.encode()) else lean)
    return "".join(parts)


def _without_schemas(text: str) -> str:
    parts: list[str] = []
    at = 0
    while (match := _SCHEMA.search(text, at)) is not None:
        below = _deeper(len(match[1])).match(text, match.end())
        parts.append(text[at : match.start()])
        at = match.end() if below is None else below.end()
        parts.append("\n" * text.count("\n", match.start(), at))
    return "".join((*parts, text[at:]))


@lru_cache
def _deeper(indent: int) -> re.Pattern[str]:
    """All lines that stand deeper, are empty, or comments."""
    return re.compile(rf"(?:(?: {{{indent + 1}}}[^\n]*|[ \t]*#[^\n]*|[ \t]*)(?:\n|\Z))*+")


def _lean(path: str, text: str, lean: str) -> RepositoryFile | None:
    """None where the text has to be read as a whole."""
    try:
        found = read_documents(lean)
    except YamlProblem:
        return None
    return RepositoryFile(path=path, text=text, documents=tuple(documents_of(path, lean, found)))


def _parsed(path: str, text: str, content: bytes) -> RepositoryFile:
    duplicates: list[YamlProblem] = []
    try:
        found = read_documents(text, duplicates)
    except YamlProblem as problem:
        if problem.reason != reading.INPUT_LIMIT.name and has_marks(text) and _is_template(text):
            return RepositoryFile(path=path, text=text, form=Form.TEMPLATE)
        documents, problems = read_apart(path, content, yaml_diagnostic(path, text, problem))
        return RepositoryFile(path=path, text=text, documents=tuple(documents), problems=tuple(problems))
    wrong = tuple(yaml_diagnostic(path, text, problem) for problem in duplicates)
    return RepositoryFile(path=path, text=text, documents=tuple(documents_of(path, text, found)), problems=wrong)


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
