"""Files that users wrote, as untrusted input: listing, bytes, text and YAML documents.

Whatever a pull request can put into a folder is expected here: links out of the tree, named pipes, huge,
unreadable or wrongly encoded files. Each ends in a diagnostic with the file's name; nothing is raised.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Location, Position, diagnose, point_in, position_in, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.core.record import record
from poolsmith.core.sources import yaml_nodes
from poolsmith.core.sources.secret_scalars import secrets_of_text
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from pathlib import Path

    from yaml.nodes import Node

    from poolsmith.core.diagnostics import RuleInfo


MAX_PROFILE_BYTES = 1 << 20
_KEPT, _MOST_KEPT = 256, 1 << 14
"""Texts of profiles that are not parsed again where other files have the same; and characters of one."""
_MOST_SEEN = 10_000
_BOM = b"\xef\xbb\xbf"


@record(kw_only=False)
class Listing:
    """What a folder holds, sorted by name: files and folders, links resolved to what they are."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


class Seen:
    """Whether something comes again: what comes once is not worth being kept."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def has(self, value: Hashable) -> bool:
        """Whether it was asked for before."""
        known = hash(value)
        if known in self._hashes:
            return True
        if len(self._hashes) >= _MOST_SEEN:
            self._hashes.clear()
        self._hashes.add(known)
        return False


class InputTree:
    """The project's root folder, and reading below it. Paths are relative, with forward slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root = os.path.realpath(root)
        self._sound_folders: set[str] = set()
        self._seen = Seen()
        self._known: dict[str, SourceFile] = {}

    def listing(self, folder: str) -> Listing:
        """Hidden entries (a leading dot) are left out, as every tool of this field does."""
        files: list[str] = []
        folders: list[str] = []
        problems: list[Diagnostic] = []
        if problem := self._folder_leads_out(folder):
            return Listing(problems=(problem,))
        try:
            with os.scandir(self._absolute(folder)) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            return Listing(problems=(_unreadable(folder, error),))
        for entry in found:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                continue
            if not _is_utf8(entry.name):
                shown = entry.name.encode("utf-8", "backslashreplace").decode()
                problems.append(
                    diagnose(reading.MISPLACED_FILE, f"the file name `{shown}` is not UTF-8", whole_file(folder))
                )
            elif entry.is_symlink() and (problem := self._leads_out(path)):
                problems.append(problem)
            elif _is_folder(entry):
                folders.append(entry.name)
            else:
                files.append(entry.name)
        return Listing(tuple(files), tuple(folders), tuple(problems))

    def read_text(self, path: str, *, limit: int = MAX_PROFILE_BYTES) -> str | Diagnostic:
        """The text of a file, or why there is none."""
        try:
            raw = self._read_bytes(path, limit)
        except OSError as error:
            return _unreadable(path, error)
        except ValueError:
            return _impossible_name()
        return raw if isinstance(raw, Diagnostic) else decoded(raw, path)

    def size(self, path: str) -> int:
        """Bytes of a file; none where nobody can tell."""
        try:
            return os.stat(self._absolute(path)).st_size
        except (OSError, ValueError):
            return 0

    def read_profile(self, path: str) -> SourceFile | Diagnostic:
        """A file that holds one YAML mapping. Files with the same text are parsed once."""
        text = self.read_text(path)
        if isinstance(text, Diagnostic):
            return text
        known = self._known.pop(text, None)
        file = known.under(path) if known is not None else _parsed(path, text)
        if self._seen.has(text) and isinstance(file, SourceFile) and not file.problems and len(text) <= _MOST_KEPT:
            file.content.is_shared = True
            self._known[text] = file
            if len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]
        return file

    def _absolute(self, path: str) -> str:
        return os.path.join(self.root, path) if path else str(self.root)

    def _read_bytes(self, path: str, limit: int) -> bytes | Diagnostic:
        absolute = self._absolute(path)
        if problem := self._folder_leads_out(path.rpartition("/")[0]):
            return problem
        if stat.S_ISLNK(os.lstat(absolute).st_mode):
            if problem := self._leads_out(path):
                return problem
            if not os.path.exists(absolute):
                return diagnose(reading.UNREADABLE_FILE, "this symbolic link leads to nothing", whole_file(path))
        return read_bytes(absolute, path, limit)

    def _folder_leads_out(self, folder: str) -> Diagnostic | None:
        if folder in self._sound_folders:
            return None
        problem = self._leads_out(folder)
        if problem is None:
            self._sound_folders.add(folder)
        return problem

    def _leads_out(self, path: str) -> Diagnostic | None:
        try:
            real = os.path.realpath(self._absolute(path))
        except ValueError:
            return _impossible_name()
        if real == self._real_root or real.startswith(self._real_root + os.sep):
            return None
        return diagnose(reading.LINK_OUT_OF_TREE, "this symbolic link leads out of the project", whole_file(path))


def leads_out(file: str | Path, folders: Iterable[str]) -> bool:
    """Whether a path is a link to what lies below none of some folders, which are given as they really are."""
    if not os.path.islink(file):
        return False
    real = os.path.realpath(file)
    return not any(real.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def read_bytes(file: str | Path, shown: str, limit: int) -> bytes | Diagnostic:
    """The content of a regular file of bounded size, links followed; `shown` is its path in messages."""
    try:
        status = os.stat(file)
        if not stat.S_ISREG(status.st_mode):
            return diagnose(reading.UNREADABLE_FILE, "not a regular file", whole_file(shown))
        if status.st_size > limit:
            return diagnose(
                reading.INPUT_LIMIT,
                f"the file has {status.st_size:,} bytes; at most {limit:,} are read",
                whole_file(shown),
                help="split it, or take out what does not belong there",
            )
        return content_of(file, limit)
    except OSError as error:
        return _unreadable(shown, error)
    except ValueError:
        return _impossible_name()


def content_of(file: str | Path, most: int) -> bytes:
    """Of a file; no more than so many bytes. Raises OSError.

    It asks for what the file has: room is made for all that is asked for, and `most` may be a hundred times as much.
    """
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        content = os.read(descriptor, min(most, size + 1))
        while len(content) != size and len(content) < most and (part := os.read(descriptor, most - len(content))):
            content += part
        return content
    finally:
        os.close(descriptor)


def decoded(content: bytes, path: str) -> str | Diagnostic:
    """The text of a file in UTF-8, or the first byte that is none."""
    if content.startswith(_BOM):
        return diagnose(reading.BYTE_ORDER_MARK, "the file starts with a byte-order mark", point_in(path, 1, 1))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        place = position_in(before, len(before))
        message = f"byte 0x{content[error.start]:02x} is not UTF-8"
        return diagnose(reading.NOT_UTF8, message, point_in(path, place.line, place.column))


def yaml_diagnostic(path: str, text: str, problem: YamlProblem) -> Diagnostic:
    """A YamlProblem as a diagnostic at its place in `path`."""
    from poolsmith.core.sources.yaml_words import in_words, in_words_alone  # on demand: only mistakes need it

    lines = text.split("\n")
    secrets = secrets_of_text(text)
    told = in_words(text, problem)
    number = told.position.line if told.position is not None else 0
    holds_secret = 0 < number <= len(lines) and secrets.shown(number, lines[number - 1]) != lines[number - 1]
    problem = in_words_alone(problem) if holds_secret else told

    def locate(position: Position | None) -> Location:
        if position is None:
            return replace(whole_file(path), secrets=secrets.known)
        number = position.line
        line = secrets.shown(number, lines[number - 1].rstrip("\r")) if number <= len(lines) else None
        return replace(point_in(path, number, position.column, line), secrets=secrets.known)

    related = () if problem.related is None else (locate(problem.related),)
    rule = reading_rule(problem.reason)
    return diagnose(rule, problem.message, locate(problem.position), help=problem.help, related=related)


def reading_rule(name: str) -> RuleInfo:
    return known_rules()[name]


def _parsed(path: str, text: str) -> SourceFile | Diagnostic:
    duplicates: list[YamlProblem] = []
    nodes: list[Node] = []
    try:
        documents = yaml_nodes.documents_of(_kept_in(nodes, yaml_nodes.compose(text)), duplicates)
    except YamlProblem as problem:
        return yaml_diagnostic(path, text, problem)
    return _one_mapping(path, text, documents, duplicates, nodes)


def without_empty_end(documents: list[Any]) -> list[Any]:
    """The documents of a file, all but the first without those that are empty at its end: a `---` there opens none."""
    last = len(documents)
    while last > 1 and documents[last - 1] is None:
        last -= 1
    return documents[:last]


def _one_mapping(
    path: str, text: str, documents: list[object], duplicates: list[YamlProblem], nodes: list[Node]
) -> SourceFile | Diagnostic:
    documents = without_empty_end(documents)
    if len(documents) > 1:
        return diagnose(
            reading.SEVERAL_DOCUMENTS, f"{len(documents)} documents in one file; one is allowed", whole_file(path)
        )
    data = documents[0] if documents else None
    if data is None:
        what = "comments only" if text.strip() else "nothing"
        return diagnose(reading.EMPTY_DOCUMENT, f"the file holds {what}", whole_file(path))
    if not isinstance(data, dict):
        what = "a list" if isinstance(data, list) else "a single value"
        return diagnose(reading.NOT_A_MAPPING, f"the document is {what}, not a mapping", point_in(path, 1, 1))
    problems = tuple(yaml_diagnostic(path, text, problem) for problem in duplicates)
    return SourceFile(path, text, data, problems=problems, root=nodes[0])


def _kept_in(nodes: list[Node], found: Iterable[Node]) -> Iterator[Node]:
    """Each node as it is composed: what stands before a mistake is read before that is told."""
    for node in found:
        nodes.append(node)
        yield node


def _unreadable(path: str, error: OSError) -> Diagnostic:
    return diagnose(reading.UNREADABLE_FILE, f"can't be read: {error.strerror or error}", whole_file(path or "."))


def _impossible_name() -> Diagnostic:
    return diagnose(reading.UNREADABLE_FILE, "no file can have such a name", whole_file("."))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a circle of links: reading it says so
        return False


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_text_file(file: Path, shown: str, limit: int) -> str | Diagnostic:
    """The text of a regular file of at most `limit` bytes; `shown` is its path in messages."""
    content = read_bytes(file, shown, limit)
    return content if isinstance(content, Diagnostic) else decoded(content, shown)


def read_yaml_documents(text: str, shown: str) -> list[Any] | Diagnostic:
    """Every document of a stream; JSON is YAML too."""
    try:
        return read_documents(text)
    except YamlProblem as problem:
        return yaml_diagnostic(shown, text, problem)


MAX_DEPTH = 64
_SHOWN = 120


def _is_linked_folder(entry: os.DirEntry[str], failed: Callable[[OSError], object]) -> bool:
    """Also a circle of links, which `failed` is told of: there is nothing to read in it."""
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError as error:
        failed(error)
        return True


def walk(
    top: str,
    is_skipped: Callable[[str], bool],
    failed: Callable[[OSError], object] = lambda _: None,
    linked: Callable[[str], object] = lambda _: None,
) -> Iterator[tuple[str, list[str]]]:
    """Each folder with the names of its files, sorted; links to folders are not followed.

    `is_skipped` tells folders by their names. What can't be listed, and what is nested too deep, goes to `failed`;
    links to folders go to `linked`.
    """
    pending = [(top, 0)]
    while pending:
        folder, depth = pending.pop()
        if depth > MAX_DEPTH:
            failed(OSError(errno.ENAMETOOLONG, f"nested deeper than {MAX_DEPTH} folders", folder[:_SHOWN]))
            continue
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if not is_folder and _is_linked_folder(entry, failed):
                        linked(f"{folder}/{entry.name}")
                        continue
                    (folders if is_folder else files).append(entry.name)
        except OSError as error:
            failed(error)
            continue
        yield folder, sorted(files)
        pending += [(f"{folder}/{name}", depth + 1) for name in sorted(folders, reverse=True) if not is_skipped(name)]


def is_elsewhere(path: str, tops: Iterable[str]) -> bool:
    """Whether a path that somebody names is neither below the root nor below one of the folders `tops`."""
    if path.startswith("/"):
        return not any(path == top or path.startswith(f"{top.rstrip('/')}/") for top in tops)
    return path == ".." or path.startswith("../")
