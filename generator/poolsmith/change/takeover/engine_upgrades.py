"""What another version of an engine makes of files that stay as they are.

The rules that know versions are asked twice of the files after the change, with the old version of an engine and with
the new one; told is what they say of one alone. So it is of what is there, and not of all that release notes have.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.engines import ENGINE_UPGRADED
from poolsmith.core.facts.versions import line_of, version_key
from poolsmith.core.record import record
from poolsmith.gpu.catalog.engines import engine_facts
from poolsmith.kubernetes.repository.engine_versions import EngineVersions, SaidVersion, said_versions
from poolsmith.kubernetes.repository.manifest_files import folders_above
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.change.takeover.elsewhere import Trees
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.guard.policies.revision import GitFile
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.project.run.cluster_run import ClusterRun

_VERSION = "/spec/delivery/version"


@record
class _Move:
    """From one minor version of an engine to another, and where the new one is said."""

    engine: str
    words: str
    place: Location

    def nearness(self, item: Diagnostic) -> int:
        """To a finding, in folders that both are in."""
        return len({*folders_above(self.place.span.path)} & {*folders_above(str(item.primary.span.path))})


def upgraded_in(trees: Trees) -> Iterator[Diagnostic]:
    """Of all files of a repository, where a change installs another version. Raises UsageError."""
    was = _said_by(trees, trees.base, is_head=False)
    now = _said_by(trees, trees.head, is_head=True) if was else ()
    is_renamed = any(item.place.span.path not in trees.head for item in was)
    moves = _moves(was, (item for item in now if is_renamed or item.place.span.path in trees.base))
    if not moves:
        return
    with trees.checked_out(trees.head) as folder:
        model, same = _model(folder), trees.base.keys() - trees.changed
        stays = [item for item in said_versions(model.documents) if item.place.span.path in same]
        for item, words, ends, move in _differences(model, moves, (*was, *stays), (*now, *stays)):
            yield _told(item, words, item.primary, (move.place,), ends=ends)


def _said_by(trees: Trees, files: Mapping[str, GitFile], *, is_head: bool) -> tuple[SaidVersion, ...]:
    """By the files of one side that differ."""
    some = {path: file for path, file in files.items() if path in trees.changed}
    with trees.checked_out(some, is_head=is_head) as folder:
        found = RepositoryFiles(folder, (folder,))
        return said_versions(document for path in found.listed().yaml for document in found.documents(path))


def upgraded_of(before: ClusterRun, after: ClusterRun) -> Iterator[Diagnostic]:
    """Of what is generated for a cluster, where its profile names another version."""
    was, now = tuple(_said(before)), tuple(_said(after))
    if after.files is None or not (moves := _moves(was, now)):
        return
    with tempfile.TemporaryDirectory(prefix="poolsmith-") as name:
        for path, content in after.files.items():
            (Path(name) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / path).write_bytes(content)
        for item, words, ends, move in _differences(_model(Path(name)), moves, was, now):
            yield _told(item, f"{words} ({item.primary.span.path})", move.place, (), ends=ends)


def _model(folder: Path) -> RepositoryModel:
    from poolsmith.gpu.values.values_places import stack_charts  # on demand: few changes are of an engine
    from poolsmith.kubernetes.repository.model import model_of

    files = RepositoryFiles(folder, (folder,))
    listed = files.listed()
    return model_of(files, listed.yaml, listed.others, stack_charts())


def _said(run: ClusterRun) -> Iterator[SaidVersion]:
    cluster, file = run.loaded.cluster, run.loaded.file
    if cluster is not None and file is not None and cluster.spec.delivery.version is not None:
        engine, version = cluster.spec.delivery.engine.value, line_of(cluster.spec.delivery.version)
        yield SaidVersion(engine=engine, version=version, place=file.locate(_VERSION))


def _moves(was: Iterable[SaidVersion], now: Iterable[SaidVersion]) -> list[_Move]:
    """Of each place that says another version than its folder, or the nearest one above it, had."""
    before, found = EngineVersions(was), dict[tuple[str, str], _Move]()
    for item in now:
        old = before.of(item.place.span.path.rpartition("/")[0]).get(item.engine)
        if old not in (None, item.version) and _is_judged(item.engine, old) and _is_judged(item.engine, item.version):
            words = f"{engine_facts(item.engine)['name']} {item.version} in place of {old}"
            found.setdefault((item.place.span.path, words), _Move(engine=item.engine, words=words, place=item.place))
    return [*found.values()]


def _is_judged(engine: str, version: str) -> bool:
    """What is later than all of the table is unknown; what came before them does as the first, as far as that goes."""
    known = engine_facts(engine).get("versions", (version,))
    return version_key(version) <= max(map(version_key, known))


def _as_known(item: SaidVersion) -> SaidVersion:
    first = min(engine_facts(item.engine).get("versions", (item.version,)), key=version_key)
    return replace(item, version=max(item.version, first, key=version_key))


def _differences(
    model: RepositoryModel, moves: Sequence[_Move], before: Sequence[SaidVersion], after: Sequence[SaidVersion]
) -> Iterator[tuple[Diagnostic, str, bool, _Move]]:
    """What comes with the new version of each engine, then what ends: the finding, words, whether it ends, by which."""
    now = _by_words(model, after)
    said = {_thing(item) for item in now.values()}
    for engine in dict.fromkeys(move.engine for move in moves):
        others = (item for item in after if item.engine != engine)
        then = _by_words(model, (*(item for item in before if item.engine == engine), *others))
        ways = [move for move in moves if move.engine == engine]
        new = [(item, "", False) for key, item in now.items() if key not in then]
        old = [(item, " ends this", True) for item in then.values() if _thing(item) not in said]
        for item, words, ends in (*new, *old):
            move = max(ways, key=partial(_Move.nearness, item=item))
            yield item, f"{move.words}{words}: {item.message}", ends, move


def _by_words(model: RepositoryModel, said: Iterable[SaidVersion]) -> dict[tuple[str, str, str], Diagnostic]:
    from poolsmith.guard.rules.links.repository_links import judge_links  # on demand: as above

    found = judge_links(model, None, None, (), upgrade=tuple(map(_as_known, said))).diagnostics
    return {(*_thing(item), item.message): item for item in found}


def _thing(item: Diagnostic) -> tuple[str, str]:
    """What a rule speaks of, in whatever words."""
    return item.code, str(item.primary.span)


def _told(item: Diagnostic, words: str, place: Location, related: tuple[Location, ...], *, ends: bool) -> Diagnostic:
    severity = Severity.NOTE if ends else item.severity
    return diagnose(ENGINE_UPGRADED, words, place, help=item.help, severity=severity, related=related)
