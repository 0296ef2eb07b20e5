"""Charts that `helm` installs in scripts: of the shell, of Makefiles and Dockerfiles, and in texts of YAML.

A script's own variables are filled in. What only a run knows is unknown, and so is where a script is run: its files are
looked for beside it, and in the folders above. Printed commands, comments and READMEs install nothing.
"""

from __future__ import annotations

import json
import posixpath
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.diagnostic import Position
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.placed_source import PlacedSource
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.shell_text import OPEN, ShellText
from poolsmith.kubernetes.repository.argo_applications import file_layer, normal
from poolsmith.kubernetes.repository.chart_folders import resolved
from poolsmith.kubernetes.repository.delivered import DEFINITIONS, HOOKS, ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.flux_releases import layer_of_text, named
from poolsmith.kubernetes.repository.helm_commands import helm_commands
from poolsmith.kubernetes.repository.manifest_files import (
    HELM,
    LONGEST_SCRIPT,
    PlacedDocument,
    folders_above,
    is_script,
)
from poolsmith.kubernetes.repository.set_values import assigned_layers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.core.sources.shell_text import Word
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.helm_commands import HelmCommand
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

COMMANDS = "commands"
"""The first step of the pointers."""
_INSTALLS = pattern(r"\b(?:install|upgrade|template)\b")
_PROSE = frozenset(("name", "description", "summary", "title", "desc", "msg", "message", "help", "comment", "notes"))
_VENDORS = ("nvidia", "nvdp", "nvgfd", "nfd", "ngc", "kubernetes-sigs")
"""Words in names and addresses of the repositories that charts of the stack come from: a mirror may lack the newest."""
_PATCHED, _README = ("clusterpolic", "patch"), ".md"
_SET = ("set-json", "set", "set-string", "set-file", "set-literal")
_MOST_STEPS = 6
_FROM_BEFORE = ("reuse-values", "reset-then-reuse-values")


def script_charts(path: str, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """Those of a file that is a script."""
    text = files.text(path)
    if text is not None and _may_install(text):
        yield from _Script(path, text, files).charts()


def charts_of_texts(document: CheckedDocument, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """Those of the texts of a document: steps of a workflow, tasks, arguments of a container."""
    if not _file_may_install(document.text):
        return
    pending: list[tuple[str, str, Any]] = [("", "", document.data)]
    while pending:
        pointer, key, node = pending.pop()
        if isinstance(node, dict):
            pending += [(join(pointer, name), str(name), item) for name, item in reversed(node.items())]
        elif isinstance(node, list):
            pending += [(join(pointer, index), key, item) for index, item in reversed([*enumerate(node)])]
        elif isinstance(node, str) and key not in _PROSE and _may_install(node):
            yield from _Script(document.path, node, files, document.source, pointer).charts()


def _may_install(text: str) -> bool:
    return HELM in text and len(text) <= LONGEST_SCRIPT and _INSTALLS.search(text) is not None


@lru_cache(maxsize=4)
def _file_may_install(text: str) -> bool:
    """Asked for each document of a file."""
    return _may_install(text)


class _Script:
    """A text with commands. In a document it stands at `pointer` of `outer`."""

    def __init__(
        self, path: str, text: str, files: RepositoryFiles, outer: SourceFile | None = None, pointer: str = ""
    ) -> None:
        self._path, self._files, self._outer, self._pointer = path, files, outer, pointer
        self._text = ShellText(text)
        self._starts: dict[str, tuple[Position, Position]] = {}
        self._texts: dict[str, tuple[int, int]] = {}
        self._data: list[dict[str, Any]] = []
        data = {COMMANDS: self._data}
        self._source = PlacedSource(path, text, data, self._starts, self._texts)
        self._document = PlacedDocument(path, 0, data, text, places=self._source, title="helm")

    def charts(self) -> Iterator[ChartInstallation]:
        commands, repositories = helm_commands(self._text)
        told: set[str] = set()
        for command in commands:
            for item in self._installed(command, repositories):
                key = f"{item.chart} {item.version} {item.release_name} {item.namespace} {item.values}"
                if key not in told:  # install, else upgrade
                    told.add(key)
                    yield item

    def _installed(self, command: HelmCommand, repositories: dict[str, str]) -> Iterator[ChartInstallation]:
        place, repo = join("", COMMANDS, len(self._data)), command.last("repo")
        written, alias = command.chart.text, command.chart.text.partition("/")[0]
        folder = self._chart_folder(written)
        if not (repo or "://" in written or "/" in written or written.endswith(".tgz") or folder):
            return
        version = command.last("version")
        self._data.append({} if version is None else {"version": version.text})
        self._note(place, command.at, command.chart)
        if version is not None:
            self._note(join(place, "version"), version)
        address = repo.text if repo else written if "://" in written else repositories.get(alias)
        is_open = any(word.is_open for word in command.rest)
        is_told = not is_open and any(word in (alias if address is None else address) for word in _VENDORS)
        layers, unknown = self._values(command, place)
        name, archived = named(written)
        found = ChartInstallation(
            chart=name,
            document=self._document,
            pointer=place,
            version=archived or (version.text if version is not None and not version.is_open else None),
            version_pointer=join(place, "version") if is_told else "",
            is_locked=folder is not None,
            repository=written if address is None and not is_told else address,
            namespace=_told(command.last("namespace")),
            release_name=command.release,
            leaves_out=tuple((part, f"--{flag}", place) for part, flag in _left_out(command)),
            is_alternative=self._outer is not None or self._text.is_indented(command.at.at),
            layers=tuple(layers),
            unknown=tuple(unknown),
        )
        yield from (found,) if folder is None else resolved(found, folder, self._files)

    def _values(self, command: HelmCommand, place: str) -> tuple[list[ValuesLayer], list[Unknown]]:
        layers: list[ValuesLayer] = []
        unknown: list[Unknown] = []
        for number, word in enumerate(_parts(command.of("values"))):
            layer = self._file(word, join(place, "values", number), command.given)
            if layer is not None:
                layers.append(layer)
            else:
                what = f"values of `{shorten(word.text)}`, which is not among the files"
                unknown.append(Unknown(self._source.locate(join(place, "values", number)), what))
        for flag in _SET:
            for number, word in enumerate(command.of(flag)):
                pointer = join(place, flag, number)
                self._note(pointer, word)
                found = self._set(flag, pointer, word.text)
                layers += found
                if not found or OPEN in word.text:
                    unknown.append(Unknown(self._source.locate(pointer), f"what `--{flag}` says in a run"))
        told = [f"what `{shorten(word.text)}` says in a run" for word in command.rest]
        told += [f"what `--{flag}` finds" for flag in _FROM_BEFORE if flag in command.others]
        told += ["what a command beside it patches"] * self._is_patched
        return layers, unknown + [Unknown(self._source.locate(place), what) for what in told]

    def _set(self, flag: str, pointer: str, text: str) -> list[ValuesLayer]:
        if flag in ("set", "set-string", "set-literal"):
            return assigned_layers(self._source, pointer, text, is_text=flag != "set")
        path, sign, value = text.partition("=")
        if flag == "set-json" and isinstance(whole := _parsed(text), dict):
            return [ValuesLayer(whole, self._source, pointer)]
        found = assigned_layers(self._source, pointer, f"{path}=", is_text=True) if sign else []
        made = _parsed(value) if flag == "set-json" else self._text_of(value)
        return [ValuesLayer(made, self._source, pointer, item.at) for item in found if made is not None]

    def _text_of(self, path: str) -> str | None:
        found = self._found(path, self._files.is_file)
        return self._files.text(found) if found is not None else None

    @cached_property
    def _is_patched(self) -> bool:
        paths = self._files.files_in(posixpath.dirname(self._path))
        beside = (path for path in paths if is_script(path) or path.endswith(_README))
        return any(all(word in (self._files.text(path) or "") for word in _PATCHED) for path in beside)

    def _file(self, word: Word, pointer: str, given: tuple[int, int] | None) -> ValuesLayer | None:
        self._note(pointer, word)
        if self._text.text.startswith("<(", word.at):
            given = self._text.piped(word.at)
        elif word.text != "-":
            given = self._text.written.get(word.text)
        if given is not None:
            body = self._text.text[given[0] : given[1]]
            start = self._place(given[0])
            if start is not None:
                self._texts[pointer] = (start.line, start.column - 1)
            return None if OPEN in body else layer_of_text(self._source, pointer, body)
        path = self._found(word.text, self._files.is_file)
        return file_layer(path, self._files) if path is not None else None

    def _chart_folder(self, written: str) -> str | None:
        """An absolute path is where a run has this repository: two names or more at its end say which folder it is."""
        parts = written.split("/")[1:][-_MOST_STEPS:] if written.startswith("/") else []
        tried = (written, *("/".join(parts[index:]) for index in range(len(parts) - 1)))
        found = (self._found(path, self._files.is_folder) for path in tried)
        return next((folder for folder in found if folder is not None), None)

    def _found(self, path: str, is_there: Callable[[str], bool]) -> str | None:
        """What a path means beside the script, or above it; a variable in front of it is some folder there."""
        if path.startswith(OPEN):
            path = path.partition("}")[2].lstrip("/")
        if not path or OPEN in path or "://" in path:
            return None
        folder = posixpath.dirname(self._path)
        tried = (normal(posixpath.join(above, path)) for above in (folder, *folders_above(folder), ""))
        return next((item for item in tried if item and is_there(item)), None)

    def _note(self, pointer: str, word: Word, last: Word | None = None) -> None:
        start, end = self._place(word.at), self._place((last or word).end)
        if start is not None and end is not None:
            self._starts[pointer] = (start, end if end.line == start.line else start)

    def _place(self, at: int) -> Position | None:
        """Where a place of the text stands in the file."""
        inner = self._text.position(at)
        if self._outer is None:
            return inner
        block = self._outer.block_of(self._pointer)
        if block is None:
            return self._outer.locate(self._pointer).span.start
        return Position(block[0] + inner.line - 1, block[1] + inner.column)


def _left_out(command: HelmCommand) -> Iterator[tuple[str, str]]:
    """What of the chart a command leaves out ; in upgrades hooks bring definitions up to date."""
    installs = command.verb == "install" or bool(command.others & {"install", "i"})
    if installs and "skip-crds" in command.others:
        yield DEFINITIONS, "skip-crds"
    if command.verb == "upgrade" and "no-hooks" in command.others:
        yield HOOKS, "no-hooks"


def _parts(words: Iterable[Word]) -> Iterator[Word]:
    """One flag may name several files: `-f a.yaml,b.yaml`."""
    for word in words:
        at = word.at
        for text in word.text.split(","):
            yield replace(word, text=text, at=at)
            at += len(text) + 1


def _told(word: Word | None) -> str | None:
    return None if word is None or word.is_open else word.text


def _parsed(text: str) -> Any:
    """None of what is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
