"""Helm charts whose files stand in the repository, their dependencies, and charts that their templates declare.

Source: helm.sh/docs/topics/charts: a dependency goes by its alias; `condition` is a path in the parent's values;
Chart.lock has the versions that were resolved.

Templates declare charts by Applications (Applications of Applications). Nobody renders them here: only literal lines
are read. A line that a template fills in says nothing, and what nobody says is unknown.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import copied, value_at
from poolsmith.kubernetes.repository.argo_applications import chart_installations, file_layer
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer, below, merged
from poolsmith.kubernetes.repository.flux_releases import GROUP, last, release_of
from poolsmith.kubernetes.repository.manifest_files import LATER, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.kubernetes.repository.flux_releases import Finder
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


CHART_FILE, LOCK_FILE, VALUES_FILE = "Chart.yaml", "Chart.lock", "values.yaml"


@record(kw_only=False)
class Dependency:
    """A chart that another brings along. `version` is the locked one where a lock has it, else as it is written."""

    name: str
    alias: str
    version: str | None
    is_locked: bool
    repository: str | None
    condition: str | None
    document: CheckedDocument
    pointer: str


@record(kw_only=False)
class ChartFolder:
    """A folder with a Chart.yaml."""

    folder: str
    name: str
    document: CheckedDocument
    dependencies: tuple[Dependency, ...] = ()


def chart_at(folder: str, files: RepositoryFiles) -> ChartFolder | None:
    """None where the folder has no Chart.yaml that can be read."""
    folder = "" if folder == "." else folder
    path = f"{folder}/{CHART_FILE}" if folder else CHART_FILE
    documents = files.documents(path) if files.is_file(path) else ()
    if not documents or not isinstance(documents[0].data, dict):
        return None
    document = documents[0]
    locked = _locked(folder, files)
    found = []
    for index, entry in enumerate(mappings(document.data.get("dependencies"))):
        name = last(word(entry.get("name")))
        if not name:
            continue
        alias = word(entry.get("alias")) or name
        version = locked.get((name, word(entry.get("repository"))), locked.get((name, "")))
        written = entry.get("version")
        found.append(
            Dependency(
                name,
                alias,
                version or (written if isinstance(written, str) else None),
                version is not None or _is_beside(folder, name, word(entry.get("repository")), files),
                word(entry.get("repository")) or None,
                word(entry.get("condition")) or None,
                document,
                f"/dependencies/{index}",
            )
        )
    return ChartFolder(folder, word(document.data.get("name")), document, tuple(found))


def _is_beside(folder: str, name: str, repository: str, files: RepositoryFiles) -> bool:
    """Whether the chart's own files are in the repository, so that nothing is fetched."""
    if not repository or repository.startswith("file:"):
        return True
    charts = posixpath.join(folder, "charts")
    return files.is_folder(posixpath.join(charts, name)) or any(
        posixpath.basename(path).startswith(f"{name}-") and path.endswith(".tgz") for path in files.files_in(charts)
    )


def _locked(folder: str, files: RepositoryFiles) -> dict[tuple[str, str], str]:
    path = f"{folder}/{LOCK_FILE}" if folder else LOCK_FILE
    text = files.text(path) if files.is_file(path) else None
    if text is None:
        return {}
    data = files.parsed(path)
    found: dict[tuple[str, str], str] = {}
    for entry in mappings(value_at(data, ("dependencies",))):
        name, version = word(entry.get("name")), word(entry.get("version"))
        if name and version:
            found[name, word(entry.get("repository"))] = version
            found.setdefault((name, ""), version)
    return found


def of_folder(
    declared: ChartInstallation, chart: ChartFolder, files: RepositoryFiles, above: frozenset[str] = frozenset()
) -> Iterator[ChartInstallation]:
    """What an installation of a chart whose files are here brings: the chart itself, in the version that its Chart.yaml
    says, and its dependencies. Its own values.yaml are its defaults, unless somebody changed them. With a dependency of
    its name it is a chart around that."""
    version = chart.document.data.get("version")
    own = file_layer(posixpath.join(chart.folder, VALUES_FILE), files)
    yield replace(
        declared,
        chart=f"./{chart.name}" if any(item.name == chart.name for item in chart.dependencies) else chart.name,
        version=version if isinstance(version, str) else None,
        version_document=chart.document,
        version_pointer="/version",
        is_locked=True,
        own=own,
    )
    stacked = declared.layers if own is None else (own, *declared.layers)
    yield from _brought_along(chart, files, stacked, declared, above)


def copies(folder: str, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """A chart that stands in a folder, and what it brings, with each of the files of values beside its own; nothing of
    one inside of another."""
    above, _, inside = folder.rpartition("/")[0].rpartition("/")
    chart = None if inside == "charts" and chart_at(above, files) is not None else chart_at(folder, files)
    if chart is None:
        return
    more = tuple(islice(_more_values(folder, files), _MOST_BROUGHT)) if chart.dependencies else ()
    which = (Unknown(chart.document.source.locate(""), "which files of values it is given"),) if more else ()
    bare = ChartInstallation(chart=chart.name, document=chart.document, is_copy=True, unknown=which)
    yield from of_folder(bare, chart, files)
    for layer in more:
        given = replace(bare, layers=(layer,), unknown=which if len(more) > 1 else ())
        yield from of_folder(given, chart, files)


def _more_values(folder: str, files: RepositoryFiles) -> Iterator[ValuesLayer]:
    """What whoever installs the chart in a folder may put on its own values: `values-prod.yaml`, `prod.values.yaml`."""
    for path in files.files_in(folder):
        name = posixpath.basename(path)
        if name != VALUES_FILE and "values" in name and name.endswith((".yaml", ".yml")):
            layer = file_layer(path, files)
            if layer is not None:
                yield layer


def resolved(declared: ChartInstallation, folder: str, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """As `of_folder` where `folder` holds a chart; else the installation as it is declared."""
    chart = chart_at(folder, files)
    if chart is None:
        yield declared
    else:
        yield from of_folder(declared, chart, files)


def _brought_along(
    chart: ChartFolder,
    files: RepositoryFiles,
    stacked: tuple[ValuesLayer, ...],
    declared: ChartInstallation,
    above: frozenset[str],
) -> Iterator[ChartInstallation]:
    """The dependencies that a chart installs which is `declared`, with its own values.yaml and what is on top of it,
    and theirs where their files are here; `above` are the folders of the charts around."""
    around = above | {chart.folder}
    values = merged(layer.values for layer in stacked if not layer.at)
    for dependency in chart.dependencies:
        if not _is_on(dependency, values, stacked):
            continue
        parts = [part for layer in stacked if (part := _part(layer, dependency)) is not None]
        found = ChartInstallation(
            chart=dependency.name,
            document=dependency.document,
            pointer=dependency.pointer,
            version=dependency.version,
            version_pointer=f"{dependency.pointer}/version",
            repository=dependency.repository,
            namespace=declared.namespace,
            release_name=declared.release_name,
            layers=tuple(parts),
            unknown=declared.unknown,
            is_locked=dependency.is_locked,
            brought_by="" if dependency.name == chart.name else chart.name,
        )
        inner = chart_at(_folder_of(dependency, chart), files) if len(around) <= _MOST_NESTED else None
        if inner is None or inner.folder in around:
            yield found
        else:
            yield from islice(of_folder(found, inner, files, around), _MOST_BROUGHT)


_MOST_NESTED = 5
_MOST_BROUGHT = 20
"""Charts that name each other would bring more and more."""


def _folder_of(dependency: Dependency, chart: ChartFolder) -> str:
    """Where the files of a dependency stand, if they are here."""
    repository = dependency.repository or ""
    path = repository.removeprefix("file://") if repository.startswith("file:") else f"charts/{dependency.name}"
    return posixpath.normpath(posixpath.join(chart.folder, path))


def _part(layer: ValuesLayer, dependency: Dependency) -> ValuesLayer | None:
    """What a layer gives to the dependency, without the switches that Helm itself reads for its parent."""
    switches = [tuple(path.strip().split(".")) for path in (dependency.condition or "").split(",")]
    own = [switch[1:] for switch in switches if switch[:1] == (dependency.alias,)]
    if not layer.at:
        part = below(layer, dependency.alias)
        if part is None or not own:
            return part
        return replace(part, values=_without(part.values, own))
    if layer.at[0] != dependency.alias or layer.at[1:] in own:
        return None
    return replace(layer, at=layer.at[1:])


def _without(values: dict[str, Any], paths: list[tuple[str, ...]]) -> dict[str, Any]:
    kept = copied(values)
    for path in paths:
        node = value_at(kept, path[:-1])
        if isinstance(node, dict):
            node.pop(path[-1], None)
    return kept if isinstance(kept, dict) else {}


def _is_on(dependency: Dependency, values: dict[str, Any], layers: tuple[ValuesLayer, ...]) -> bool:
    """Without a path that decides the dependency is installed."""

    def value(path: str) -> Any:
        steps = tuple(path.split("."))
        return next((layer.values for layer in reversed(layers) if layer.at == steps), value_at(values, steps))

    return deciding(dependency.condition or "", value)[1] is not False


def deciding(condition: str, value: Callable[[str], Any]) -> tuple[str, bool | None]:
    """The first path of a dependency's condition at which a boolean stands, and which; nothing where none does."""
    said = ((path, value(path)) for path in map(str.strip, condition.split(",")))
    return next(((path, found) for path, found in said if isinstance(found, bool)), ("", None))


_KINDS = ("kind: Application", "kind: HelmRelease")


def templated_installations(
    paths: Iterable[str], files: RepositoryFiles, objects: Finder
) -> Iterator[ChartInstallation]:
    """What the charts' templates among `paths` install, with versions that are literals."""
    for path in paths:
        file = files.file(path)
        if file.form is not Form.CHART_TEMPLATE or file.text is None or not any(kind in file.text for kind in _KINDS):
            continue
        for document in files.filled(path):
            for item in _declared(document, files, objects):
                unknown = Unknown(item.document.source.locate("/spec"), "what the chart of this template fills in")
                is_open = item.version is not None and LATER in item.version
                yield replace(item, version=None if is_open else item.version, unknown=(*item.unknown, unknown))


def _declared(document: CheckedDocument, files: RepositoryFiles, objects: Finder) -> Iterator[ChartInstallation]:
    if not document.is_object:
        return
    if document.kind == "Application" and document.api_version.startswith("argoproj.io/"):
        yield from chart_installations(document, value_at(document.data, ("spec",)), "/spec", files)
    elif document.kind == "HelmRelease" and document.api_version.startswith(f"{GROUP}/"):
        found = release_of(document, objects)
        if found is not None:
            yield found[0]
