"""Results of this user's earlier runs over the same bytes, and the parts of a project that a result follows from.

A result is remembered by everything that it follows from: the tool, what was asked, each profile, policy and committed
file. The parts are what clusters share and what is each cluster's own. Nothing that is committed is trusted: the store
is the user's own.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from poolsmith import __path__ as package_path
from poolsmith import __version__
from poolsmith.core.record import record
from poolsmith.core.sources.file_states import FolderState, Sight, content_digest, file_state, folder_state, sight_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from poolsmith.interface.app.results import GenerateResult
    from poolsmith.interface.app.run import ClusterResult
    from poolsmith.project.output.result_store import ResultStore


PROFILES, _POLICIES, _OUTPUT, CLUSTERS = "profiles", "policies", "output", "output/clusters"
SHARED = (PROFILES, _POLICIES, _OUTPUT, CLUSTERS)
"""Parts that every cluster depends on: what stands in these folders beside those of the clusters."""
NOTHING: Mapping[str, FolderState] = MappingProxyType({})


def parts_of(
    root: str, look: Callable[..., FolderState], known: Mapping[str, FolderState] = NOTHING
) -> dict[str, FolderState] | None:
    """The state of each part by its path. None where links or special files make the project depend on what is not
    looked at. What is `known` of parts that are still there is taken as it is. Raises OSError."""
    if any(os.path.islink(f"{root}/{part}") for part in SHARED):  # noqa: PTH114 - strings, for speed
        return None
    parts: dict[str, FolderState] = {}
    for folder in (PROFILES, CLUSTERS):
        names = [name for name in _folders(f"{root}/{folder}") if not name.startswith(("_", "."))]
        paths = (f"{folder}/{name}" for name in names)
        parts |= {path: known.get(path) or look(f"{root}/{path}") for path in paths}
        parts[folder] = look(f"{root}/{folder}", leave_out=frozenset(names))
    parts[_POLICIES] = look(f"{root}/{_POLICIES}")
    parts[_OUTPUT] = look(f"{root}/{_OUTPUT}", leave_out=frozenset(("clusters",)))
    given = (state for part, state in parts.items() if not part.startswith(_OUTPUT))
    return parts if all(state.is_plain for state in given) else None


def shared_input(root: str) -> str:
    """A digest of what stands in profiles/ and policies/ beside the clusters, and of the clusters' names."""
    names = cluster_names(root)
    parts = ((PROFILES, frozenset(names)), (_POLICIES, frozenset[str]()))
    return together(*(content_of(f"{root}/{part}", leave_out=clusters) for part, clusters in parts), *names)


def content_of(path: str, leave_out: frozenset[str] = frozenset()) -> str:
    """A digest of a file, or of all below a folder; why not, where that can't be looked at."""
    try:
        return content_digest(path, folder_state(path, leave_out=leave_out))
    except OSError as error:
        return f"! {error.errno}"


def cluster_names(root: str) -> list[str]:
    """Of the folders that have profiles of a cluster."""
    try:
        return sorted(name for name in _folders(f"{root}/{PROFILES}") if not name.startswith(("_", ".")))
    except OSError:
        return []


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def together(*parts: str) -> str:
    """One digest of several texts."""
    from _blake2 import blake2b  # on demand

    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


COMPARING, JUDGING = "compare", "check"
"""What a project is asked; answers are remembered by it."""
_UNREAD = "unread"
_LIBRARIES = ("yaml", "jinja2", "cel_expr_python", "re2")
"""Whose other versions might give other results."""


@record
class Question:
    """What is asked of a project. `about` is what else the answer depends on, such as the day."""

    work: str
    clusters: tuple[str, ...] = ()
    about: str = ""


class Memory:
    """The store, and the state of one project at the beginning of a run."""

    def __init__(self, store: ResultStore, root: Path, question: Question, *, rehash: bool = False) -> None:
        self._store = store
        self._root = os.path.realpath(root)
        self._question = question
        self._rehash = rehash
        self._now = time.time_ns()
        self._folders = Folders(NO_FOLDERS if rehash else store.read(self._name("folders")))
        self._states = parts_of(self._root, self._folders.state)
        self._tool = tool_state(self._folders.state)
        self._read_now: set[str] = set()

    @property
    def is_usable(self) -> bool:
        """Whether everything that results follow from stands in the project's own regular files."""
        return self._states is not None

    def result(self) -> GenerateResult | None:
        """The result of the same question, where nothing at all has changed since."""
        found = self._store.read(self._name("run"))
        if not isinstance(found, _WholeRun) or found.key != self._run_key:
            return None
        return found.result

    def clusters(self) -> dict[str, ClusterResult]:
        """The results of clusters that have the same bytes, by name."""
        shelf = self._shelf
        return {
            name: result
            for name, (key, result) in shelf.results.items()
            if f"{PROFILES}/{name}" in self._parts and key == self._cluster_key(name)
        }

    def keep(self, result: GenerateResult, clusters: Iterable[ClusterResult]) -> None:
        """Remember what a run said, unless something changed meanwhile of what it has read.

        The rest was known by its state, and what is remembered of it still is.
        """
        clusters = tuple(clusters)
        worked_on = {f"{folder}/{item.name}" for item in clusters for folder in (PROFILES, CLUSTERS)}
        anew = worked_on | self._read_now | set(SHARED)
        sights = self._folders.sights(self._now)
        unread = {
            part: state
            for part, state in self._parts.items()
            if part not in anew and f"{self._root}/{part}" not in sights
        }
        try:
            after = parts_of(self._root, folder_state, unread)
            self._keep_folders(sights, after or {})
        except OSError:
            return
        if after is None or self._states is None or self._has_unread(result):
            return
        same = {part for part, state in self._states.items() if after.get(part) == state}
        if not same.issuperset(SHARED):
            return
        results = dict(self._shelf.results)
        for item in clusters:
            if same.issuperset((f"{PROFILES}/{item.name}", f"{CLUSTERS}/{item.name}")):
                results[item.name] = self._cluster_key(item.name), item
        known = {name: entry for name, entry in results.items() if f"{PROFILES}/{name}" in self._states}
        settled = {
            part: (state.stamp, self._digests[part])
            for part, state in self._states.items()
            if part in self._digests and state.is_settled(self._now)
        }
        self._store.write(self._name("clusters"), _Shelf(self._tool, settled, known))
        if same == self._states.keys() == after.keys() and all(
            state.is_settled(self._now) for state in self._states.values()
        ):
            self._store.write(self._name("run"), _WholeRun(self._run_key, result))

    def _keep_folders(self, sights: dict[str, Sight], after: Mapping[str, FolderState]) -> None:
        if sights:
            steady = {f"{self._root}/{part}": state for part, state in after.items()}
            steady |= {folder: _code(folder) for folder in package_path if folder in sights}
            self._store.write(self._name("folders"), self._folders.known(sights, steady))

    def _has_unread(self, result: GenerateResult) -> bool:
        """Whether something could not be read: it may be the next time, without a change that anybody sees."""
        from poolsmith.core.diagnostics.codes.reading import UNREADABLE_FILE  # on demand

        unread = any(digest.startswith(_UNREAD) for digest in self._digests.values())
        return unread or any(item.code == UNREADABLE_FILE.code for item in result.outcome.diagnostics)

    @property
    def _parts(self) -> dict[str, FolderState]:
        return self._states or {}

    @cached_property
    def _run_key(self) -> str:
        """Of the states alone: by the rule for young files they stand for the bytes."""
        digests = self._digests if self._rehash else {part: state.stamp for part, state in self._parts.items()}
        parts = (f"{part} {digests[part]}" for part in sorted(digests))
        return together(self._tool, self._question.about, repr(self._question.clusters), str(self._rehash), *parts)

    def _cluster_key(self, name: str) -> str:
        shared = (self._digests[part] for part in SHARED)
        own = (self._digests.get(part, "") for part in (f"{PROFILES}/{name}", f"{CLUSTERS}/{name}"))
        return together(self._tool, *shared, *own)

    @cached_property
    def _digests(self) -> dict[str, str]:
        """Of the bytes of each part; those of unchanged parts are remembered."""
        known = {} if self._rehash else self._shelf.digests
        found = {}
        for part, state in self._parts.items():
            stamp, digest = known.get(part, ("", ""))
            found[part] = digest if stamp == state.stamp else self._read(part, state)
        return found

    def _read(self, part: str, state: FolderState) -> str:
        """What can't be read is like nothing that was there before, and nothing that will be."""
        self._read_now.add(part)
        try:
            return content_digest(f"{self._root}/{part}", state)
        except OSError:
            return f"{_UNREAD} {self._now}"

    @cached_property
    def _shelf(self) -> _Shelf:
        found = self._store.read(self._name("clusters"))
        return found if isinstance(found, _Shelf) and found.tool == self._tool else _Shelf(self._tool)

    def _name(self, what: str) -> str:
        return f"{together(self._root, self._question.work)[:24]}.{what}"


@record(frozen=False, kw_only=False)
class _WholeRun:
    key: str
    result: GenerateResult


@record(frozen=False, kw_only=False)
class _Shelf:
    """`digests` are stamp and digest of parts, `results` key and result of clusters."""

    tool: str
    digests: dict[str, tuple[str, str]] = field(default_factory=dict)
    results: dict[str, tuple[str, Any]] = field(default_factory=dict)


def recall(
    store: ResultStore | None, root: Path, work: str, clusters: Sequence[str], *, about: str = "", rehash: bool = False
) -> Memory | None:
    """The memory of a project; None where there is no store, or the project is not made of plain files."""
    if store is None:
        return None
    try:
        memory = Memory(store, root, Question(work=work, clusters=tuple(sorted(clusters)), about=about), rehash=rehash)
    except OSError:
        return None
    return memory if memory.is_usable else None


@record(kw_only=False)
class _Known:
    """The state of a folder, and by what it is known again."""

    state: FolderState
    sight: Sight


NO_FOLDERS: Mapping[str, _Known] = MappingProxyType({})


class Folders:
    """States of folders, by what is remembered of them where that is still to be seen."""

    def __init__(self, known: Any) -> None:
        self._known: Mapping[str, _Known] = known if isinstance(known, dict) else NO_FOLDERS
        self._walked: dict[str, FolderState] = {}
        self._same: dict[str, _Known] = {}

    def state(self, folder: str, **ways: frozenset[str]) -> FolderState:
        """As `folder_state` finds it. Raises OSError."""
        known = self._known.get(folder)
        if known is not None and sight_of(folder, known.state) == known.sight:
            self._same[folder] = known
            return known.state
        self._walked[folder] = found = folder_state(folder, **ways)
        return found

    def sights(self, now: int) -> dict[str, Sight]:
        """What is to be seen of the folders that were walked, where that can't change unseen any more."""
        seen = {folder: sight_of(folder, state) for folder, state in self._walked.items() if state.is_settled(now)}
        return {folder: sight for folder, sight in seen.items() if sight is not None and sight.is_settled(now)}

    def known(self, sights: dict[str, Sight], after: Mapping[str, FolderState]) -> dict[str, _Known]:
        """To be remembered: what was the same `after` its sight was taken."""
        steady = {folder: sight for folder, sight in sights.items() if after.get(folder) == self._walked[folder]}
        return self._same | {folder: _Known(self._walked[folder], sight) for folder, sight in steady.items()}


def tool_state(look: Callable[..., FolderState] = folder_state) -> str:
    """What the code is: version, interpreter, each file of the package, and the libraries that results hang on."""
    from importlib.machinery import PathFinder  # on demand

    (package,) = package_path
    code = _code(package, look).stamp
    specs = (PathFinder.find_spec(name) for name in _LIBRARIES)
    libraries = (f"{spec.origin} {file_state(spec.origin)}" for spec in specs if spec is not None and spec.origin)
    return together(__version__, sys.version, sys.platform, package, code, *libraries)


def _code(package: str, look: Callable[..., FolderState] = folder_state) -> FolderState:
    return look(package, ignored=frozenset(("__pycache__",)))
