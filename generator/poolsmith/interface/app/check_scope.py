"""Which documents of a repository a run judges: those of the GPU stack, those that the user named, or all."""

from __future__ import annotations

import posixpath
from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.object_schema import SCHEMA_VIOLATION
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.gpu_stack import CHARTS, OPERATOR, is_of_stack, mentions
from poolsmith.kubernetes.repository.kustomize.build import NAMES
from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.repository.delivered import Unknown
    from poolsmith.kubernetes.repository.installations import Installation, ValuesLayer
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.kubernetes.repository.repository_files import RepositoryFile


_PATCHED_BY_PARENTS = frozenset(("Kustomization", "HelmRelease"))
_LACKS = "lacks the required field"


@record(slots=False)
class Scope:
    """`named` are the files that the user named one by one. `namespaces` are those that the stack is installed in."""

    everything: bool
    named: frozenset[str]
    namespaces: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    """Where it is set, the other files are only read."""
    made: dict[str, frozenset[str]] = field(default_factory=dict)
    """What was looked up once."""

    def tells(self, path: str) -> bool:
        return self.only is None or path in self.only

    def has_finding(self, item: Diagnostic) -> bool:
        """Whether it is about a file that is judged. Where only a part of a repository is read, nobody can tell what a
        parent patches into Flux's objects: what they lack is not told."""
        if self.only is None:
            return True
        is_of_flux = item.subject.partition("/")[0] in _PATCHED_BY_PARENTS
        return self.tells(item.primary.span.path) and not (
            is_of_flux and item.code == SCHEMA_VIOLATION.code and _LACKS in item.message
        )

    def has_installation(self, item: Installation) -> bool:
        """Whether values of it, or the object that declares it, stand in files that are judged."""
        if self.only is None or item.document.path in self.only:
            return True
        return any(path in self.only for layer in item.layers for path in _paths_of(layer))

    def has(self, document: CheckedDocument) -> bool:
        layers = getattr(document, "layers", ())
        if not (self.tells(document.path) or any(self.tells(layer.source.path) for layer in layers)):
            return False
        return self.everything or document.path in self.named or is_of_stack(document, self.namespaces)

    def has_file(self, file: RepositoryFile) -> bool:
        """Whether what is wrong with a file as a whole is told: nobody knows which objects it would hold."""
        if self.everything or file.path in self.named:
            return True
        if not self.tells(file.path):
            return False
        return file.text is not None and mentions(file.text.encode())

    def has_unknown(self, unknown: Unknown, model: RepositoryModel) -> bool:
        """Whether the place speaks of the stack, or is a kustomization that brings some of it."""
        path = unknown.place.span.path
        if self.has_file(model.files.file(path)):
            return True
        folder = posixpath.dirname(path)
        is_kustomization = posixpath.basename(path) in NAMES
        return is_kustomization and self.tells(path) and folder in self._folders(model)

    def _folders(self, model: RepositoryModel) -> frozenset[str]:
        """Those with objects of the stack that something delivers."""
        known: frozenset[str] | None = self.made.get("folders")
        if known is None:
            own = (item for delivery in model.deliveries for item in delivery.objects if self.has(item))
            known = self.made["folders"] = frozenset(posixpath.dirname(item.path) for item in own)
        return known


def _paths_of(layer: ValuesLayer) -> Iterator[str]:
    """The file that values stand in; of a text that a generator takes from a file, that file."""
    yield layer.source.path
    for key in list(layer.values)[:1] if isinstance(layer.values, dict) else ():
        yield layer.source.locate(join(layer.pointer, key)).span.path


def scope_of(model: RepositoryModel, named: frozenset[str], *, everything: bool) -> Scope:
    namespaces = {
        item.namespace
        for item in model.all_installations
        if item.chart in CHARTS and item.namespace and item.namespace not in _SHARED
    }
    return Scope(everything=everything, named=named, namespaces=frozenset(namespaces))


_SHARED = frozenset(("kube-system", "default", "flux-system", "argocd"))
"""Namespaces that hold much besides, so that being in them says nothing."""


def judged_trees(model: RepositoryModel, scope: Scope) -> Iterator[tuple[CheckedTree, str | None]]:
    """What is judged: the objects of each cluster with the kustomizations that bring them, and what stands alone.

    With each the version of the operator's chart there, as it is written; None where nobody says it, or several.
    """
    told: set[tuple[str, int]] = set()
    for delivery in model.deliveries:
        own = tuple(item for item in delivery.objects if scope.has(item))
        folders = {posixpath.dirname(item.path) for item in own}
        bringing = tuple(item for item in delivery.kustomizations if _brings(item, folders, scope))
        told.update((item.path, item.index) for item in delivery.kustomizations)
        if own or bringing:
            yield _tree((*own, *bringing), model), _version(delivery.installations)
    loose = (item for item in model.loose.documents if scope.has(item) and (item.path, item.index) not in told)
    yield _tree(tuple(loose), model), _version(model.installations)


def _version(installations: tuple[Installation, ...]) -> str | None:
    found = {item.version for item in installations if item.chart in OPERATOR}
    return found.pop() if len(found) == 1 else None


def _tree(documents: tuple[CheckedDocument, ...], model: RepositoryModel) -> CheckedTree:
    paths = {item.path for item in documents} | set(_resources(documents, model))
    return CheckedTree(documents, frozenset(paths))


def _brings(item: CheckedDocument, folders: set[str], scope: Scope) -> bool:
    """Whether a kustomization has an object of the stack in its own folder, or a chart of it."""
    charts = {word(chart.get("name")) for chart in mappings(item.data.get("helmCharts"))}
    return scope.has(item) or posixpath.dirname(item.path) in folders or not CHARTS.isdisjoint(charts)


def _resources(documents: Iterable[CheckedDocument], model: RepositoryModel) -> Iterator[str]:
    """What kustomizations name and what is there, beyond the files that were asked for too."""
    for item in documents:
        if not item.api_version.startswith("kustomize.config.k8s.io/"):
            continue
        folder = posixpath.dirname(item.path)
        listed = item.data.get("resources")
        for path in listed if isinstance(listed, list) else ():
            if not isinstance(path, str) or "://" in path:
                continue
            shown = posixpath.normpath(posixpath.join(folder, path))
            yield from (
                found for found in (shown, *(f"{shown}/{name}" for name in NAMES)) if model.files.is_file(found)
            )
