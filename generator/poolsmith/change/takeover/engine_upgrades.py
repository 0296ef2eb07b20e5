"""What another version of an engine makes of files that stay as they are.

The rules that know versions are asked twice, with the old one and with the new one; told is what they say of one alone.
So it is of what is there, and not of all that the engine's release notes have.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.engines import ENGINE_UPGRADED
from poolsmith.gpu.catalog.engines import engine_facts
from poolsmith.gpu.values.values_places import stack_charts
from poolsmith.guard.rules.links.repository_links import judge_links
from poolsmith.kubernetes.repository.engine_versions import SaidVersion, engine_versions, said_versions
from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.change.takeover.elsewhere import Trees
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.guard.policies.revision import GitFile
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.project.run.cluster_run import ClusterRun

_VERSION = "/spec/delivery/version"
_MOST = 20_000


def upgraded_in(trees: Trees) -> Iterator[Diagnostic]:
    """Of all files of a repository, where a change installs another version. Raises UsageError."""
    changed = trees.changed() & trees.base.keys()
    with trees.checked_out(_some(trees.base, changed), is_head=False) as folder:
        was = said_versions(_model(folder).documents)
    if not was:
        return
    with trees.checked_out(_some(trees.head, trees.head)) as folder:
        model = _model(folder)
        now = said_versions(model.documents)
        before = (*was, *(item for item in now if item.place.span.path not in changed))
        for engine, place in _moved(was, [item for item in now if item.place.span.path in changed]):
            for item, words in _differences(model, before, now, engine):
                yield _told(item, words, item.primary, (place,))


def upgraded_of(before: ClusterRun, after: ClusterRun) -> Iterator[Diagnostic]:
    """Of what is generated for a cluster, where its profile names another version."""
    was, now = tuple(_said(before)), tuple(_said(after))
    if after.files is None or not (moved := tuple(_moved(was, now))):
        return
    with tempfile.TemporaryDirectory(prefix="poolsmith-") as name:
        for path, content in after.files.items():
            (Path(name) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / path).write_bytes(content)
        model = _model(Path(name))
        for engine, place in moved:
            for item, words in _differences(model, was, now, engine):
                yield _told(item, f"{words} ({item.primary.span.path})", place, ())


def _some(files: Mapping[str, GitFile], names: Iterable[str]) -> dict[str, GitFile]:
    return {path: files[path] for path in sorted(names)[:_MOST]}


def _model(folder: Path) -> RepositoryModel:
    files = RepositoryFiles(folder, (folder,))
    listed = files.listed()
    return model_of(files, listed.yaml, listed.others, stack_charts())


def _said(run: ClusterRun) -> Iterator[SaidVersion]:
    cluster, file = run.loaded.cluster, run.loaded.file
    if cluster is not None and file is not None and cluster.spec.delivery.version is not None:
        version = ".".join(cluster.spec.delivery.version.removeprefix("v").split(".")[:2])
        yield SaidVersion(engine=cluster.spec.delivery.engine.value, version=version, place=file.locate(_VERSION))


def _moved(was: Iterable[SaidVersion], now: Iterable[SaidVersion]) -> Iterator[tuple[str, Location]]:
    """Each engine of which another version is said, in words, and where."""
    before, said = engine_versions(was), tuple(now)
    for engine, version in engine_versions(said).items():
        known = engine_facts(engine).get("versions", (version, before.get(engine)))
        if engine in before and before[engine] != version and version in known and before[engine] in known:
            name = engine_facts(engine)["name"]
            place = next(item.place for item in said if item.engine == engine)
            yield f"{name} {version} in place of {before[engine]}", place


def _differences(
    model: RepositoryModel, before: Iterable[SaidVersion], after: Iterable[SaidVersion], engine: str
) -> Iterator[tuple[Diagnostic, str]]:
    """What comes with the new versions, and then what ends, in words."""
    then, now = (_by_place(model, side) for side in (before, after))
    yield from ((item, f"{engine}: {item.message}") for key, item in now.items() if key not in then)
    yield from ((item, f"{engine} ends this: {item.message}") for key, item in then.items() if key not in now)


def _by_place(model: RepositoryModel, said: Iterable[SaidVersion]) -> dict[tuple[str, str, str], Diagnostic]:
    found = judge_links(model, None, None, (), upgrade=tuple(said)).diagnostics
    return {(item.code, str(item.primary.span), item.message): item for item in found}


def _told(item: Diagnostic, words: str, place: Location, related: tuple[Location, ...]) -> Diagnostic:
    severity = Severity.NOTE if " ends this: " in words else item.severity
    return diagnose(ENGINE_UPGRADED, words, place, help=item.help, severity=severity, related=related)
