"""A repository as delivery engines see it: what reaches each cluster, which charts are installed, what is unknown."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.repository.argo_cd import ArgoClusters, is_application
from poolsmith.kubernetes.repository.chart_folders import CHART_FILE, templated_installations
from poolsmith.kubernetes.repository.delivered import Unknown, beyond
from poolsmith.kubernetes.repository.flux import FluxClusters, identity
from poolsmith.kubernetes.repository.installed_charts import (
    inflated,
    loose_installations,
    of_object,
    of_other_languages,
)
from poolsmith.kubernetes.repository.kustomize.build import Builder, declared_files
from poolsmith.kubernetes.repository.manifest_files import (
    KUSTOMIZATION_NAMES,
    CheckedDocument,
    CheckedTree,
    folders_above,
    is_terraform,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from poolsmith.kubernetes.repository.delivered import ChartInstallation, Delivered
    from poolsmith.kubernetes.repository.flux import Emptied, FluxDelivery, Identity
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_ASSERTS = ("chainsaw-test.yaml", "kuttl-test.yaml")
_PATCHES = "patches"
_SAMPLES, _OPERATOR_SDK = ("config/samples", "config/manifests"), "PROJECT"
"""Source: operator-framework/operator-sdk: the layout of a project. The objects of a bundle are OLM's to apply."""
_ASSERT_ENDINGS = ("-assert.yaml", "-errors.yaml", "-error.yaml")


def _always(_chart: str, _version: str | None) -> bool:
    """Any version is a release."""
    return True


def _nothing(_chart: str, _version: str | None) -> None:
    """Of no chart is known what it was published with."""


@record(kw_only=False)
class StackCharts:
    """Charts that are judged: what each of their names stands for, whether a version is a release, and the values that
    it was published with, None where nobody recorded them."""

    names: Mapping[str, str] = field(default_factory=dict)
    is_known: Callable[[str, str | None], bool] = _always
    published: Callable[[str, str | None], Mapping[str, Any] | None] = _nothing


@record(slots=False)
class EngineDelivery:
    """What reaches one cluster. `place` is where it begins: a path, and a destination where there are several.

    `by_engine`: Flux or Argo CD says so; else it is what one kustomization brings, and nobody says to which cluster.
    """

    place: str
    objects: tuple[Delivered, ...]
    installations: tuple[ChartInstallation, ...]
    kustomizations: tuple[CheckedDocument, ...] = ()
    by_engine: bool = True
    refused: tuple[Unknown, ...] = ()
    """Where kustomize stops: nothing of that build is applied."""
    emptied: tuple[Emptied, ...] = ()
    units: tuple[tuple[Delivered, ...], ...] = ()
    """What an engine applies at once, and no part of it before the whole was checked."""


@record(slots=False)
class RepositoryModel:
    """`loose` are the documents that no engine and no kustomization takes in, as they stand; `installations` those that
    stand among them. `parts` are files that are patches, asserts, or texts of generators: no objects."""

    files: RepositoryFiles
    whole: CheckedTree
    deliveries: tuple[EngineDelivery, ...]
    loose: CheckedTree
    installations: tuple[ChartInstallation, ...]
    unknown: tuple[Unknown, ...]
    parts: frozenset[str]
    left_out: frozenset[str] = frozenset()
    """Folders and files that an engine has been told to leave out."""
    others: tuple[str, ...] = ()
    """Files that are no YAML."""

    @property
    def documents(self) -> tuple[CheckedDocument, ...]:
        return self.whole.documents

    def is_left_out(self, path: str) -> bool:
        """Whether an engine leaves a file out, so that what it installs says nothing of it."""
        return bool(self.left_out) and any(place in self.left_out for place in (path, *folders_above(path)))

    @cached_property
    def node_templates(self) -> tuple[NodeTemplate, ...]:
        """What the documents say of nodes to come."""
        from poolsmith.kubernetes.repository.node_templates import node_templates  # on demand

        return node_templates(self.whole)

    @cached_property
    def all_installations(self) -> tuple[ChartInstallation, ...]:
        return (*(found for item in self.deliveries for found in item.installations), *self.installations)


def model_of(
    files: RepositoryFiles, yaml: Iterable[str], others: Iterable[str] = (), stack: StackCharts | None = None
) -> RepositoryModel:
    """The model of the files that a run was asked to judge; others are read where these name them, or are Terraform.

    Of the charts of `stack` what they bring along is a part of themselves.
    """
    modelling = _Modelling(files, tuple(yaml), tuple(others), stack or StackCharts())
    modelling.alone += of_other_languages(others, files)
    return modelling.model()


class _Modelling:
    def __init__(
        self, files: RepositoryFiles, yaml: tuple[str, ...], others: tuple[str, ...], stack: StackCharts
    ) -> None:
        self.files = files
        self.stack = stack
        self.others = others
        self.builder = Builder(files)
        self.documents = tuple(document for path in yaml for document in files.documents(path))
        self.whole = CheckedTree(self.documents, frozenset(yaml))
        self.unknown: list[Unknown] = []
        self.taken: set[Identity] = set()
        self.kustomized: set[str] = set()
        self.deliveries: list[EngineDelivery] = []
        self.alone: list[ChartInstallation] = []
        self.left_out: set[str] = set()
        self._applied: dict[str, frozenset[Identity]] = {}

    def model(self) -> RepositoryModel:
        parts = self._parts()
        whole = [item for item in self.documents if item.path not in parts]
        self._flux(whole)
        self._argo(whole)
        self._kustomizations(parts)
        self._adopt()
        self.alone += templated_installations(sorted(self.whole.paths), self.files, self.whole)
        loose = tuple(item for item in whole if identity(item) not in self.taken and item.path not in self.kustomized)
        loose = (*loose, *self._of_tasks(loose), *self._of_terraform())
        tree = CheckedTree(loose, frozenset(item.path for item in loose))
        installed = (*(found for item in self.deliveries for found in item.installations), *self.alone)
        charts = {item.path for found in installed for item in (found.document, found.version_document) if item}
        return RepositoryModel(
            files=self.files,
            whole=self.whole,
            deliveries=tuple(self.deliveries),
            loose=tree,
            installations=self._own(
                (*self.alone, *loose_installations(tree, self.whole, self.files, charts, self.others))
            ),
            unknown=tuple(dict.fromkeys(self.unknown)),
            parts=parts,
            left_out=frozenset(self.left_out),
            others=self.others,
        )

    def _of_tasks(self, loose: tuple[CheckedDocument, ...]) -> list[CheckedDocument]:
        """Objects that tasks of Ansible have in them."""
        lists = [item for item in loose if isinstance(item.data, list)]
        if not lists:
            return []
        from poolsmith.kubernetes.repository.ansible_charts import ansible_objects  # on demand

        found = [made for item in lists for made in ansible_objects(item, self.files)]
        self.unknown += [item for item in found if not isinstance(item, CheckedDocument)]
        return [item for item in found if isinstance(item, CheckedDocument)]

    def _of_terraform(self) -> list[Delivered]:
        if not any(map(is_terraform, self.others)):
            return []
        from poolsmith.kubernetes.repository.terraform_objects import terraform_objects  # on demand

        return terraform_objects(self.others, self.files)

    def _parts(self) -> frozenset[str]:
        found: set[str] = set()
        for document in self.whole.objects:
            if document.api_version.startswith("kustomize.config.k8s.io/"):  # components too, whoever uses them
                found.update(declared_files(document.data, posixpath.dirname(document.path)))
        bundles = {posixpath.dirname(item.path) for item in self.whole.of_kind("ClusterServiceVersion")}
        beside: dict[str, bool] = {}
        for path in self.whole.paths:
            folder, _, name = path.rpartition("/")
            if folder not in beside:
                beside[folder] = any(self.files.is_file(posixpath.join(folder, test)) for test in _ASSERTS)
            is_assert = name.endswith(_ASSERT_ENDINGS) or (beside[folder] and name not in _ASSERTS)
            if is_assert or folder in bundles or self._is_sample(folder) or self._has_patches(folder):
                found.add(path)
        return frozenset(found)

    def _has_patches(self, folder: str) -> bool:
        """Whether a folder stands below a kustomization, and says what it holds: one that is not listed is none yet."""
        above, _, name = folder.rpartition("/")
        return name == _PATCHES and self.builder.has_kustomization(above)

    def _is_sample(self, folder: str) -> bool:
        """Whether somebody writes an operator there, with objects that show what it takes."""
        end = next(filter(folder.endswith, _SAMPLES), None)
        return end is not None and self.files.is_file(folder.removesuffix(end) + _OPERATOR_SDK)

    def _flux(self, whole: list[CheckedDocument]) -> None:
        clusters = FluxClusters(self.files, self.builder, self.whole.all_named)
        by_place: dict[str, dict[int, Delivered]] = {}
        folders: dict[str, set[str]] = {}
        emptied: dict[str, list[Emptied]] = {}
        units: dict[str, list[tuple[Delivered, ...]]] = {}
        unknown: dict[str, list[Unknown]] = {}
        beside: set[str] = set()
        deliveries = list(clusters.deliveries(whole))
        appliers = Counter(folder for found in deliveries for folder in found.folders)
        for found in deliveries:
            self.taken |= found.taken
            self.left_out |= found.left_out
            self.unknown += found.unknown
            self._built(found.folders)
            place = posixpath.dirname(found.top.path)
            there = by_place.setdefault(place, {})
            there.update((id(item), item) for item in found.objects)
            if place not in beside and identity(found.top) in self._applied_in(place):
                beside.add(place)
                there.update((id(item), item) for item in self._beside(place, there.values()))
            folders.setdefault(place, set()).update(found.folders)
            emptied.setdefault(place, []).extend(() if _is_unlisted(found, appliers) else found.emptied)
            units.setdefault(place, []).extend(found.units)
            unknown.setdefault(place, []).extend(found.unknown)
        for place, objects in by_place.items():
            inside = self._kustomizations_of(folders[place])
            self._add(
                place,
                objects.values(),
                kustomizations=inside,
                refused=_stops(unknown[place]),
                emptied=tuple(emptied[place]),
                units=tuple(units[place]),
            )

    def _applied_in(self, folder: str) -> frozenset[Identity]:
        """What a folder's kustomization applies; nothing of one without."""
        if folder not in self._applied:
            build = self.builder.folder(folder) if folder in self.folders_of_kustomizations else None
            self._applied[folder] = frozenset(map(identity, build.objects if build is not None else ()))
        return self._applied[folder]

    def _beside(self, folder: str, known: Iterable[Delivered]) -> list[Delivered]:
        """What a kustomization applies together with a Kustomization of Flux: it reaches the same cluster."""
        build = self.builder.folder(folder)
        self._built((folder,))
        self.unknown += build.unknown
        self.taken |= set(map(identity, build.objects))
        there = set(map(identity, known))
        return [item for item in build.objects if identity(item) not in there]

    def _argo(self, whole: list[CheckedDocument]) -> None:
        left = [item for item in whole if identity(item) not in self.taken]
        delivered_ones = [item for found in self.deliveries for item in found.objects if is_application(item)]
        for found in ArgoClusters(self.files, self.builder).deliveries([*left, *delivered_ones]):
            self.unknown += found.unknown
            self.left_out |= found.left_out
            if all(map(is_application, found.objects)):  # what stands beside them belongs to them as well
                self.alone += found.installations
                continue
            self.taken |= found.taken
            self._built(found.folders)
            place = f"{found.place} ({found.destination})" if found.destination else found.place
            inside = self._kustomizations_of(found.folders)
            self._add(
                place,
                found.objects,
                (*found.installations, *self._inflated(inside)),
                inside,
                refused=_stops(found.unknown),
                units=found.units,
            )

    def _kustomizations(self, parts: frozenset[str]) -> None:
        """Those at the top of what nobody has taken yet."""
        own = [item for item in self.whole.kustomizations if item.kind != "Component" and item.path not in parts]
        left = [item for item in own if posixpath.dirname(item.path) not in self.kustomized_folders]
        below: set[str] = set()
        for document in left:
            build = self.builder.folder(posixpath.dirname(document.path))
            below |= {item.path for item in build.kustomizations} - {document.path}
        for document in left:
            if document.path not in below:
                folder = posixpath.dirname(document.path)
                build = self.builder.folder(folder)
                self.unknown += build.unknown
                self.taken |= set(map(identity, build.objects))
                self.taken |= set(map(identity, build.kustomizations))
                self.kustomized |= build.files
                brought = build.kustomizations
                own_charts = self._inflated(brought)
                self._add(folder, build.objects, own_charts, brought, refused=_stops(build.unknown), by_engine=False)

    def _adopt(self) -> None:
        """Charts of Applications that a delivery brings, and that install where these stand."""
        alone: dict[Identity, list[int]] = {}
        for place, item in enumerate(self.alone):
            if not item.in_other_clusters:
                alone.setdefault(identity(item.document), []).append(place)
        adopted: set[int] = set()
        for index, delivery in enumerate(self.deliveries if alone else ()):
            brought = {identity(item) for item in delivery.objects if is_application(item)}
            places = sorted(place for found in brought for place in alone.pop(found, ()))
            if places:
                own = (self.alone[place] for place in places)
                self.deliveries[index] = replace(delivery, installations=(*delivery.installations, *own))
                adopted.update(places)
        self.alone = [item for place, item in enumerate(self.alone) if place not in adopted]

    @cached_property
    def folders_of_kustomizations(self) -> frozenset[str]:
        return frozenset(posixpath.dirname(item.path) for item in self.whole.kustomizations)

    @cached_property
    def kustomized_folders(self) -> frozenset[str]:
        own = (path for path in self.kustomized if posixpath.basename(path) in KUSTOMIZATION_NAMES)
        return frozenset(map(posixpath.dirname, own))

    def _built(self, folders: Iterable[str]) -> None:
        for folder in folders:
            build = self.builder.folder(folder)
            self.taken |= set(map(identity, build.kustomizations))
            self.kustomized |= build.files

    def _kustomizations_of(self, folders: Iterable[str]) -> tuple[CheckedDocument, ...]:
        found = (document for folder in sorted(folders) for document in self.builder.folder(folder).kustomizations)
        return tuple({identity(document): document for document in found}.values())

    def _inflated(self, kustomizations: Iterable[CheckedDocument]) -> Iterator[ChartInstallation]:
        for document in kustomizations:
            yield from inflated(document, posixpath.dirname(document.path), self.files)

    def _own(self, installations: Iterable[ChartInstallation]) -> tuple[ChartInstallation, ...]:
        """Without the parts of a chart; one that brings what it is named after is a chart around that."""
        found, names = tuple(installations), self.stack.names
        around = {
            item.document.path for item in found if item.brought_by and _are_one(item.chart, item.brought_by, names)
        }
        kept = (item for item in found if item.brought_by not in names or item.document.path in around)
        return tuple(made for item in kept if (made := self._with_changes(item, around)) is not None)

    def _with_changes(self, item: ChartInstallation, around: Container[str]) -> ChartInstallation | None:
        """With what a copy of a chart changes of the published values; None of one that nobody installs and that
        changes none."""
        chart_file = item.version_document.path if item.version_document is not None else ""
        if posixpath.basename(chart_file) != CHART_FILE or item.chart not in self.stack.names:
            return None if item.is_copy else item
        if not self.stack.is_known(item.chart, item.version):
            return None if chart_file in around else self._own_chart(item)
        if item.own is None:
            return None if item.is_copy else item
        published = self.stack.published(item.chart, item.version)
        changes = beyond(item.own.values, published) if published is not None else {}
        what = "what this copy of the chart changes of its own values"
        unknown = (Unknown(item.version_at(), what),) if published is None else ()
        if item.is_copy and not changes:
            self.unknown += unknown
            return None
        path = item.own.source.path
        layers = tuple(layer for layer in item.layers if layer.source.path != path)
        own = (replace(item.own, values=changes),) if changes else ()
        return replace(item, layers=own + layers, unknown=item.unknown + unknown)

    def _own_chart(self, item: ChartInstallation) -> ChartInstallation | None:
        """A chart of somebody's own, called like one of the stack: its own templates say what it reads."""
        what = f"what this chart, which is none of the releases of {item.chart}, reads"
        self.unknown.append(Unknown(item.version_at(), what))
        return None if item.is_copy else replace(item, chart=f"./{item.chart}")

    def _add(
        self,
        place: str,
        objects: Iterable[Delivered],
        installations: Iterable[ChartInstallation] = (),
        kustomizations: tuple[CheckedDocument, ...] = (),
        *,
        refused: tuple[Unknown, ...] = (),
        by_engine: bool = True,
        emptied: tuple[Emptied, ...] = (),
        units: tuple[tuple[Delivered, ...], ...] = (),
    ) -> None:
        items = tuple(objects)
        tree = CheckedTree(items, frozenset(item.path for item in items))
        found = list(installations)
        for item in items:
            found += of_object(item, tree, self.whole, self.files)
        self.deliveries.append(
            EngineDelivery(
                place=place or ".",
                objects=items,
                installations=tuple(_as_far_as_built(item, refused) for item in self._own(found)),
                kustomizations=kustomizations,
                by_engine=by_engine,
                refused=refused,
                emptied=emptied,
                units=units,
            )
        )


def _are_one(chart: str, other: str, names: Mapping[str, str]) -> bool:
    return chart in names and names[chart] == names.get(other)


def _stops(unknown: Iterable[Unknown]) -> tuple[Unknown, ...]:
    return tuple(dict.fromkeys(item for item in unknown if item.stops))


def _as_far_as_built(installation: ChartInstallation, refused: tuple[Unknown, ...]) -> ChartInstallation:
    """What stands below a kustomization at which kustomize stops may lack what that one would have put on it."""
    paths = {installation.document.path, *(layer.source.path for layer in installation.layers)}
    folders = [posixpath.dirname(item.place.span.path) for item in refused]
    near = [
        item for item, folder in zip(refused, folders, strict=True) if any(_is_below(path, folder) for path in paths)
    ]
    return replace(installation, unknown=(*installation.unknown, *near)) if near else installation


def _is_unlisted(delivery: FluxDelivery, appliers: Counter[str]) -> bool:
    """Whether another one applies the folder that the Kustomization stands in, without it: what would be put in its
    place, were it listed, nobody knows."""
    above = (*folders_above(delivery.top.path), "")
    return any(appliers[folder] > (folder in delivery.folders) for folder in above)


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
