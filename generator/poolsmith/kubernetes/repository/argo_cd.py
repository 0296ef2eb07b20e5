"""What Argo CD applies to a cluster: its Applications from the top down, and the sources of each.

Source: argo-cd docs/user-guide: a path is a kustomization, a chart, or a directory of plain files, in this order.
"""

from __future__ import annotations

import fnmatch
import posixpath
from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import value_at
from poolsmith.kubernetes.repository.argo_applications import (
    applications_of,
    chart_installations,
    files_of_reference,
    git_generators,
    helm_layers,
    is_here,
    left_out,
    sources_of,
)
from poolsmith.kubernetes.repository.argo_destination import ArgoTarget, target_of
from poolsmith.kubernetes.repository.chart_folders import chart_at, of_folder
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Delivered, Unknown, delivered
from poolsmith.kubernetes.repository.flux import identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.kubernetes.repository.argo_applications import ArgoSource
    from poolsmith.kubernetes.repository.flux import Identity
    from poolsmith.kubernetes.repository.kustomize.accumulator import Build
    from poolsmith.kubernetes.repository.kustomize.build import Builder
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

GROUP = "argoproj.io"
MOST_NESTED, _FEW = 20, 8
_NO_PLACES: dict[str, str] = {}


@record
class ArgoDelivery:
    """What reaches one destination from the Applications of one folder, or of one Application above them."""

    place: str
    destination: str
    objects: tuple[Delivered, ...]
    installations: tuple[ChartInstallation, ...]
    unknown: tuple[Unknown, ...]
    taken: frozenset[Identity]
    folders: frozenset[str]
    left_out: frozenset[str] = frozenset()
    """Folders and files that an ApplicationSet or a source excludes."""
    units: tuple[tuple[Delivered, ...], ...] = ()
    """What an Application tries at once, where it knows each kind already, or was not told to pass those over."""


def is_application(item: CheckedDocument) -> bool:
    return item.kind in ("Application", "ApplicationSet") and item.api_version.startswith(f"{GROUP}/")


_ANNOTATIONS, _SKIPS = "argocd.argoproj.io", "SkipDryRunOnMissingResource=true"


class ArgoClusters:
    """Evaluates the Applications of a repository."""

    def __init__(self, files: RepositoryFiles, builder: Builder) -> None:
        self.files = files
        self.builder = builder
        self.elsewhere: frozenset[str] = frozenset()
        self._made: dict[int, tuple[CheckedDocument, tuple[tuple[Delivered, Unknown | None], ...]]] = {}

    def made_by(self, item: CheckedDocument) -> tuple[tuple[Delivered, Unknown | None], ...]:
        """The Applications of a set, made once for all who ask."""
        if id(item) not in self._made:
            self._made[id(item)] = item, tuple(applications_of(item, self.files))
        return self._made[id(item)][1]

    def _addresses_of_others(self, tops: list[CheckedDocument]) -> frozenset[str]:
        """Addresses that are not this repository's: most sources with a folder or a values file that is here name
        this one. Without any of these, nobody says that one is."""
        counted: Counter[str] = Counter()
        for item in tops:
            for spec in self._specs(item):
                sources = sources_of(spec, "", self.files, item.path)
                for source in sources:
                    address = word(source.data.get("repoURL"))
                    if source.data.get("path") and not source.data.get("chart"):
                        counted[address] += 2 if source.path else 0
                    if reference := word(source.data.get("ref")):
                        counted[address] += files_of_reference(reference, sources, self.files)
            for generator in git_generators(value_at(item.data, ("spec", "generators"))):
                counted[word(generator.get("repoURL"))] += 2 * is_here(generator, self.files)
        own = max(counted, key=lambda address: (counted[address], address), default="")
        is_known = counted[own] > 0
        return frozenset(address for address in counted if not (is_known and address == own) and "{{" not in address)

    def _specs(self, item: CheckedDocument) -> Iterator[Any]:
        """What an Application says, or the template of a set and some of what it makes: their paths are filled in."""
        if item.kind == "ApplicationSet":
            yield value_at(item.data, ("spec", "template", "spec"))
            yield from (found.data.get("spec") for found, _ in self.made_by(item)[:_FEW])
        else:
            yield item.data.get("spec")

    def deliveries(self, items: Iterable[CheckedDocument]) -> Iterator[ArgoDelivery]:
        """Applications that no other one delivers begin one for their folder; a destination is a cluster."""
        tops = [item for item in items if is_application(item)]
        self.elsewhere = self._addresses_of_others(tops)
        inside: set[Identity] = set()
        for item in tops:
            run = _Run(self)
            run.add(item, 0)
            inside |= run.applications - {identity(item)}
        roots = [item for item in tops if identity(item) not in inside] or tops
        runs: dict[str, _Run] = {}
        for item in roots:
            place = posixpath.dirname(item.path)
            runs.setdefault(place, _Run(self)).add(item, 0)
        for place, run in runs.items():
            yield from run.deliveries(place)


@record(frozen=False, kw_only=False)
class _Cluster:
    """`destination` is as the first Application has it written."""

    destination: str
    objects: list[Delivered]
    installations: list[ChartInstallation]
    folders: set[str]
    units: list[tuple[Delivered, ...]]


class _Run:
    """The Applications of one folder on their way."""

    def __init__(self, clusters: ArgoClusters) -> None:
        self._files, self._builder, self._elsewhere = clusters.files, clusters.builder, clusters.elsewhere
        self._made_by = clusters.made_by
        self._clusters: dict[ArgoTarget | None, _Cluster] = {}
        self._unknown: list[Unknown] = []
        self._seen: set[tuple[str, str]] = set()
        self._taken: set[Identity] = set()
        self._folders: set[str] = set()
        self._left_out: set[str] = set()
        self.applications: set[Identity] = set()

    def deliveries(self, place: str) -> Iterator[ArgoDelivery]:
        unknown, taken = tuple(self._unknown), frozenset(self._taken)
        for cluster in self._clusters.values():
            yield ArgoDelivery(
                place=place,
                destination=cluster.destination,
                objects=tuple(cluster.objects),
                installations=tuple(cluster.installations),
                unknown=unknown,
                taken=taken,
                folders=frozenset(cluster.folders),
                left_out=frozenset(self._left_out),
                units=tuple(cluster.units),
            )

    def add(self, item: CheckedDocument, depth: int) -> None:
        """An Application, or all those of a set."""
        self._taken.add(identity(item))
        if item.kind == "ApplicationSet":
            for generator in git_generators(value_at(item.data, ("spec", "generators"))):
                if word(generator.get("repoURL")) not in self._elsewhere:
                    self._left_out.update(left_out(generator, self._files))
            for application, unknown in self._made_by(item):
                if unknown is not None and unknown not in self._unknown:
                    self._unknown.append(unknown)
                self._application(application, depth)
        else:
            self._application(delivered(item), depth)

    def _application(self, item: Delivered, depth: int) -> None:
        spec = mapping(item.data.get("spec"))
        target = mapping(spec.get("destination"))
        destination = word(target.get("name")) or word(target.get("server"))
        key = (f"{item.path}#{item.index}", f"{word(item.metadata.get('name'))} {destination}")
        if key in self._seen or depth > MOST_NESTED:
            return
        self._seen.add(key)
        place = target_of(spec) if destination else None
        cluster = self._clusters.setdefault(place, _Cluster(destination, [], [], set(), []))
        cluster.objects.append(item)
        cluster.installations += chart_installations(item, spec, "/spec", self._files, self._elsewhere)
        sources = sources_of(spec, "/spec", self._files, item.path)
        for source in sources:
            if source.path is None or word(source.data.get("repoURL")) in self._elsewhere:
                if source.data.get("path") and not source.data.get("ref"):
                    what = f"what `{source.data['path']}` brings, which is not among the files"
                    self._unknown.append(Unknown(item.source.locate(f"{source.pointer}/path"), what))
                continue
            self._from_folder(item, source, sources, cluster, spec, depth)

    def _from_folder(
        self,
        item: Delivered,
        source: ArgoSource,
        sources: list[ArgoSource],
        cluster: _Cluster,
        spec: Mapping[str, Any],
        depth: int,
    ) -> None:
        folder = source.path
        assert folder is not None, "only sources of this repository come here"
        cluster.folders.add(folder)
        if folder in self._folders and depth:
            return
        self._folders.add(folder)
        namespace = word(value_at(spec, ("destination", "namespace"))) or None
        if self._builder.has_kustomization(folder):
            self._take(self._kustomized(item, source, folder), cluster, depth, spec)
            return
        chart = chart_at(folder, self._files)
        if chart is not None:
            layers, unknown = helm_layers(item, source, sources, self._files, self._elsewhere)
            self._unknown += unknown
            name = word(value_at(source.data, ("helm", "releaseName"))) or word(item.metadata.get("name")) or None
            declared = ChartInstallation(
                chart=chart.name,
                document=item,
                pointer=f"{source.pointer}/helm",
                namespace=namespace,
                release_name=name,
                layers=layers,
                unknown=unknown,
            )
            cluster.installations += of_folder(declared, chart, self._files)
            return
        self._take(self._plain(source, folder), cluster, depth, spec)

    def _take(self, objects: Iterable[Delivered], cluster: _Cluster, depth: int, spec: Mapping[str, Any]) -> None:
        here = tuple(objects)
        if _SKIPS not in words(value_at(spec, ("syncPolicy", "syncOptions"))):
            cluster.units.append(tuple(found for found in here if not _skips(found)))
        for found in here:
            self._taken.add(identity(found))
            if is_application(found):
                self.applications.add(identity(found))
                self.add(found, depth + 1)
            else:
                cluster.objects.append(found)

    def _kustomized(self, item: Delivered, source: ArgoSource, folder: str) -> tuple[Delivered, ...]:
        built: Build = self._builder.folder(folder)
        options = mapping(source.data.get("kustomize"))
        overlay = {
            key: options[key] for key in ("namePrefix", "nameSuffix", "namespace", "patches") if options.get(key)
        }
        if options.get("components"):
            overlay["components"] = [
                posixpath.join(folder, path) for path in options["components"] if isinstance(path, str)
            ]
        for key, own in (("commonLabels", "labels"), ("commonAnnotations", "commonAnnotations")):
            if isinstance(options.get(key), dict):
                overlay[own] = [{"pairs": options[key]}] if own == "labels" else options[key]
        if overlay:
            built = self._builder.overlay(built, overlay, item.source, f"{source.pointer}/kustomize", _NO_PLACES)
        self._unknown += built.unknown
        return built.objects

    def _plain(self, source: ArgoSource, folder: str) -> Iterator[Delivered]:
        directory = mapping(source.data.get("directory"))
        paths = self._files.files_below(folder) if directory.get("recurse") else self._files.files_in(folder)
        for path in paths:
            name = posixpath.relpath(path, folder or ".")
            if not path.endswith((".yaml", ".yml", ".json")):
                continue
            if not _is_included(name, directory):
                self._left_out.add(path)
                continue
            for document in self._files.documents(path):
                if document.is_object:
                    yield delivered(document)


def _skips(item: Delivered) -> bool:
    options = word(mapping(item.metadata.get("annotations")).get(f"{_ANNOTATIONS}/sync-options"))
    return _SKIPS in (option.strip() for option in options.split(","))


def _is_included(name: str, directory: Mapping[str, Any]) -> bool:
    wanted, barred = word(directory.get("include")), word(directory.get("exclude"))
    return (not wanted or _is_like(name, wanted)) and not (barred and _is_like(name, barred))


def _is_like(name: str, pattern: str) -> bool:
    patterns = pattern[1:-1].split(",") if pattern.startswith("{") and pattern.endswith("}") else [pattern]
    return any(fnmatch.fnmatchcase(name, one.strip()) for one in patterns)
