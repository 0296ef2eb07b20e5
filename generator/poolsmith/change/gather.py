"""Use case: profiles of several teams, each from a repository of its own, in one fleet.

What is gathered becomes files of the platform's repository, where they are generated, judged and reviewed like all
others: by the platform's policies. Of a team nothing else is taken than clusters and bases that are the team's.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, NoInputError, UsageError, WriteError, diagnose, whole_file
from poolsmith.core.diagnostics.codes.reading import NOT_THE_TEAMS
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.output_tree import recover, stage
from poolsmith.core.sources.source_file import digest
from poolsmith.fleet.profiles.fleet import BASES, PROFILES, TEAMS_FILE
from poolsmith.fleet.profiles.rings_and_teams import load_teams
from poolsmith.guard.policies.revision import folder_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.core.shape.documents import KindDocument
    from poolsmith.fleet.profiles.rings_and_teams import Team, TeamListSpec

LOCK_FILE = f"{PROFILES}/_teams.lock.json"
FLAG = "gather"
_YAML = (".yaml", ".yml")
_VERSION = 1


@record
class TeamSource:
    """Where a team's profiles are: a folder that has `profiles/`, or a revision of its repository."""

    team: str
    folder: Path
    revision: str | None = None


@record(frozen=False)
class Gathered:
    """`changed` are paths that differ from what the teams have; nothing is written where there are problems."""

    problems: list[Diagnostic] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


@record
class _Brought:
    """What a team has: texts by path in the platform's repository, and the commit that they are of."""

    files: Mapping[str, str]
    commit: str | None


def gather(root: Path, sources: Sequence[TeamSource], *, write: bool = True) -> Gathered:
    """Take what the named teams bring; other teams' clusters stay. Raises UsageError, NoInputError, WriteError."""
    tree = InputTree(root)
    if not os.path.lexists(root / TEAMS_FILE):
        raise NoInputError(f"{root} has no {TEAMS_FILE}, which says what each team may bring")
    teams, problems = load_teams(tree, TEAMS_FILE)
    result = Gathered(problems=list(problems))
    if teams is None:
        return result
    by_name = {team.name: team for team in teams.spec.teams}
    for source in sources:
        if source.team not in by_name:
            raise UsageError(f"{TEAMS_FILE} has no team `{source.team}`; {did_you_mean(source.team, by_name)}")
    locked = _locked(root)
    result.problems += _shared(teams)
    brought: dict[str, _Brought] = {}
    with ExitStack() as stack:
        for source in sources:
            folder, commit = source.folder, None
            if source.revision is not None:
                commit = Git(source.folder, FLAG).commit(source.revision)
                folder = stack.enter_context(folder_at(source.folder, source.revision, PROFILES, FLAG))
            found = _Team(by_name[source.team], InputTree(folder), result).files()
            brought[source.team] = _Brought(files=found, commit=commit)
            result.files[source.team] = len(found)
    result.problems += _taken_places(root, brought, locked)
    if result.problems:
        return result
    _compare(root, brought, locked, result)
    if write and result.changed:
        _write(root, brought, locked)
    return result


class _Team:
    """One team's repository."""

    def __init__(self, team: Team, tree: InputTree, result: Gathered) -> None:
        self._team = team
        self._tree = tree
        self._result = result

    def files(self) -> dict[str, str]:
        found: dict[str, str] = {}
        listing = self._tree.listing(PROFILES)
        self._result.problems += [self._named(problem) for problem in listing.problems]
        self._result.left += [f"{self._team.name}: {PROFILES}/{name}" for name in listing.files]
        for name in listing.folders:
            folder = f"{PROFILES}/{name}"
            if name == BASES:
                found |= self._bases(folder)
            elif name.startswith("_"):
                self._result.left.append(f"{self._team.name}: {folder}/")
            elif self._may_bring("clusters", name, folder):
                found |= self._texts(folder)
        return found

    def _bases(self, folder: str) -> dict[str, str]:
        """A base is told by the name in its document, and stands in a file of that name."""
        texts = self._texts(folder)
        for path in list(texts):
            document = self._tree.read_profile(path)
            if isinstance(document, Diagnostic):
                self._result.problems.append(self._named(document))
                continue
            metadata = document.data.get("metadata")
            name = metadata.get("name") if isinstance(metadata, dict) else None
            stem = path.rpartition("/")[2].rpartition(".")[0]
            if not isinstance(name, str) or not self._may_bring("bases", name, path):
                continue
            if not self._team.may_bring("bases", stem):
                self._say(
                    f"the file of the base `{name}` is called `{stem}`, which is not one of the team's names", path
                )
        return texts

    def _texts(self, folder: str) -> dict[str, str]:
        listing = self._tree.listing(folder)
        self._result.problems += [self._named(problem) for problem in listing.problems]
        found = {}
        for name in listing.files:
            path = f"{folder}/{name}"
            if not name.endswith(_YAML):
                self._result.left.append(f"{self._team.name}: {path}")
                continue
            text = self._tree.read_text(path)
            if isinstance(text, Diagnostic):
                self._result.problems.append(self._named(text))
            else:
                found[path] = text
        return found

    def _may_bring(self, kind: str, name: str, path: str) -> bool:
        if self._team.may_bring(kind, name):
            return True
        self._say(f"{TEAMS_FILE} does not give the {kind.removesuffix('s')} `{name}` to the team", path)
        return False

    def _say(self, message: str, path: str) -> None:
        self._result.problems.append(self._named(diagnose(NOT_THE_TEAMS, message, whole_file(path))))

    def _named(self, problem: Diagnostic) -> Diagnostic:
        """With the team's name before the path: the file is not one of this repository."""
        from dataclasses import replace  # on demand

        span = problem.primary.span
        told = replace(problem.primary, span=replace(span, path=f"{self._team.name}:{span.path}"))
        return replace(problem, primary=told, subject=self._team.name)


def _shared(teams: KindDocument[TeamListSpec]) -> Iterator[Diagnostic]:
    """Teams that are listed twice."""
    seen: set[str] = set()
    for index, team in enumerate(teams.spec.teams):
        if team.name in seen:
            place = teams.file.locate(f"/spec/teams/{index}/name")
            yield diagnose(NOT_THE_TEAMS, f"the team `{team.name}` is listed twice", place)
        seen.add(team.name)


def _taken_places(
    root: Path, brought: Mapping[str, _Brought], locked: Mapping[str, Mapping[str, Any]]
) -> Iterator[Diagnostic]:
    """Clusters and bases that are somebody else's: another team's, or the platform's own."""
    owners = {_unit(path): team for team, entry in locked.items() for path in entry["files"]}
    tree = InputTree(root)
    there = {f"{PROFILES}/{name}" for name in tree.listing(PROFILES).folders if not name.startswith("_")}
    if os.path.isdir(root / PROFILES / BASES):  # noqa: PTH112 - never raises
        there |= {f"{PROFILES}/{BASES}/{name}" for name in tree.listing(f"{PROFILES}/{BASES}").files}
    claimed: dict[str, str] = {}
    for team, item in brought.items():
        for unit in sorted({_unit(path) for path in item.files}):
            owner = claimed.get(unit) or owners.get(unit) or ("the platform" if unit in there else team)
            if owner != team:
                message = f"`{unit}` is there already, and is not the team's: it belongs to {owner}"
                yield diagnose(NOT_THE_TEAMS, message, whole_file(f"{team}:{unit}"), subject=team)
            claimed.setdefault(unit, team)


def _unit(path: str) -> str:
    """What belongs to one team as a whole: a cluster's folder, or the file of a base."""
    parts = path.split("/")
    return path if parts[1] == BASES else "/".join(parts[:2])


def _compare(
    root: Path, brought: Mapping[str, _Brought], locked: Mapping[str, Mapping[str, Any]], result: Gathered
) -> None:
    tree = InputTree(root)
    for team, item in brought.items():
        earlier = set(locked.get(team, {}).get("files", ()))
        for path in sorted({*item.files, *earlier, *_beside(root, item.files)}):
            present = tree.read_text(path) if os.path.lexists(root / path) else None
            if item.files.get(path) != present:
                result.changed.append(path)
    if not result.changed and _lock_text(brought, locked) != _text_of(root):
        result.changed.append(LOCK_FILE)


def _beside(root: Path, files: Iterable[str]) -> Iterator[str]:
    """Pools that somebody wrote into a cluster's folder that is a team's."""
    for unit in {_unit(path) for path in files}:
        if (root / unit).is_dir():
            yield from (f"{unit}/{name}" for name in InputTree(root).listing(unit).files if name.endswith(_YAML))


def _write(root: Path, brought: Mapping[str, _Brought], locked: Mapping[str, Mapping[str, Any]]) -> None:
    """Each cluster's folder as a whole."""
    try:
        recover(root / PROFILES)
        for team, item in brought.items():
            paths = {*item.files, *locked.get(team, {}).get("files", ())}
            for unit in sorted({_unit(path) for path in paths}):
                if unit.startswith(f"{PROFILES}/{BASES}/"):
                    _write_file(root / unit, item.files.get(unit))
                    continue
                own = {path: text for path, text in item.files.items() if _unit(path) == unit}
                files = {path.removeprefix(f"{unit}/"): text.encode() for path, text in own.items()}
                there = [path.removeprefix(f"{unit}/") for path in _beside(root, [f"{unit}/cluster.yaml"])]
                stage(root / unit, files, there).commit()
        _write_file(root / LOCK_FILE, _lock_text(brought, locked))
    except OSError as error:
        raise WriteError(f"{root / PROFILES} can't be written: {error.strerror or error}") from None


def _write_file(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
        return
    if path.is_symlink():
        raise WriteError(f"{path} is a symbolic link; nothing was written there")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _lock_text(brought: Mapping[str, _Brought], locked: Mapping[str, Mapping[str, Any]]) -> str:
    """Who brought which bytes, at which commit; teams that were not asked stay as they are."""
    made = {
        team: {
            "commit": item.commit,
            "files": {path: digest(text.encode()) for path, text in sorted(item.files.items())},
        }
        for team, item in brought.items()
    }
    body = {"version": _VERSION, "teams": dict(sorted({**locked, **made}.items()))}
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _text_of(root: Path) -> str:
    found = InputTree(root).read_text(LOCK_FILE) if os.path.lexists(root / LOCK_FILE) else ""
    return found if isinstance(found, str) else ""


def _locked(root: Path) -> dict[str, dict[str, Any]]:
    """By team. Raises UsageError for a lock that nobody wrote with this verb: who owns what is unknown then."""
    text = _text_of(root)
    if not text and not os.path.lexists(root / LOCK_FILE):
        return {}
    try:
        teams = json.loads(text)["teams"]
        sound = all(isinstance(path, str) and _is_profile(path) for entry in teams.values() for path in entry["files"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise UsageError(f"{LOCK_FILE} is not what `poolsmith gather` writes; take it from an earlier commit")
    return dict(teams)


def _is_profile(path: str) -> bool:
    parts = path.split("/")
    return len(parts) == 3 and parts[0] == PROFILES and ".." not in parts and path.endswith(_YAML)  # noqa: PLR2004
