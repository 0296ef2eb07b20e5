"""What a cluster's delivery hands to its engine: objects by kind, namespace and name, as the engine identifies them.

They are read from what is generated, and from what a revision or a checkout has in the cluster's delivery folder,
whoever wrote it. Files that are as generated are not read.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git, blob_id
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import value_at
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.guard.policies.revision import LINK, SUBMODULE
from poolsmith.kubernetes.repository.argo_destination import target_of
from poolsmith.project.output.argocd import SKIP_RECONCILE
from poolsmith.project.output.argocd_fleet import fleet_entry
from poolsmith.project.output.delivery_units import render_platform, render_units
from poolsmith.project.output.pools import render_pools
from poolsmith.project.output.tree import FOLDER, render_delivery
from poolsmith.project.run.project import CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.policies.revision import BaseRevision, GitFile
    from poolsmith.kubernetes.repository.argo_destination import ArgoTarget


APPLICATION, HELM_RELEASE, KUSTOMIZATION = "Application", "HelmRelease", "Kustomization"
APPLICATION_SET = "ApplicationSet"
"""One that somebody put beside the delivery; the fleet's is not among what a cluster hands over."""
HELM_CHART = "HelmChart"
"""Of k3s; poolsmith writes none."""
ELEMENT = "ApplicationSet element"
"""A cluster in the list of its fleet's ApplicationSet; named `<set>/<cluster>`."""
_GROUPS = {
    "argoproj.io": frozenset((APPLICATION, APPLICATION_SET)),
    "helm.cattle.io": frozenset((HELM_CHART,)),
    "helm.toolkit.fluxcd.io": frozenset((HELM_RELEASE,)),
    "kustomize.toolkit.fluxcd.io": frozenset((KUSTOMIZATION,)),
    "source.toolkit.fluxcd.io": frozenset(("GitRepository", "HelmRepository", "OCIRepository", "Bucket")),
}
ARGO_CD = frozenset((APPLICATION, APPLICATION_SET, ELEMENT))
"""Kinds that Argo CD reads."""
SOURCES = _GROUPS["source.toolkit.fluxcd.io"]
_SYNC_OPTIONS, _NO_PRUNE = "argocd.argoproj.io/sync-options", "Prune=false"
_KUSTOMIZE = "kustomize.toolkit.fluxcd.io"
_EXCLUSIONS = {"prune": "disabled", "reconcile": "disabled", "ssa": "ignore"}
_META = ("metadata",)
_TRUE = ("1", "t", "true")
"""As Go reads a boolean, in lower case."""
_YAML = (".yaml", ".yml")
KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def is_guarded(body: Mapping[str, Any], engine: Engine) -> bool:
    """Whether an engine leaves an object in place that it has applied, and that is not there any more.

    Source: fluxcd/kustomize-controller@v1.9.4:internal/controller/kustomization_controller.go, prune (`Exclusions`);
    fluxcd/pkg@ssa/v0.76.1:utils/meta.go, AnyInMetadata; argoproj/gitops-engine:pkg/sync/resource/annotations.go,
    HasAnnotationOption
    """
    annotations, labels = (mapping(value_at(body, (*_META, key))) for key in ("annotations", "labels"))
    if engine is Engine.ARGOCD:
        return _NO_PRUNE in (item.strip() for item in str(annotations.get(_SYNC_OPTIONS, "")).split(","))
    return any(
        str(given.get(f"{_KUSTOMIZE}/{key}", "")).lower() == guard
        for key, guard in _EXCLUSIONS.items()
        for given in (annotations, labels)
    )


Identity = tuple[str, str, str]
"""Kind, namespace and name."""


@record
class DeliveryObject:
    """One object for the engine. `body` of the element of an ApplicationSet is where its Application reads."""

    kind: str
    namespace: str
    name: str
    body: Mapping[str, Any]

    @property
    def identity(self) -> Identity:
        return self.kind, self.namespace, self.name

    @property
    def is_guarded(self) -> bool:
        """Whether whoever holds the delivery leaves it in place once it is not there any more."""
        return is_guarded(self.body, Engine.ARGOCD if self.kind in ARGO_CD else Engine.FLUX)

    @property
    def is_suspended(self) -> bool:
        """Whether its controller leaves it alone: then its deletion leaves alone what it applied."""
        if self.kind == APPLICATION:
            text = mapping(value_at(self.body, (*_META, "annotations"))).get(SKIP_RECONCILE)
            return str(text).lower() in _TRUE
        return value_at(self.body, ("spec", "suspend")) is True

    @property
    def destination(self) -> ArgoTarget | None:
        """The cluster that an Application is for, however it is spelt."""
        return target_of(self.body.get("spec")) if self.kind == APPLICATION else None

    @property
    def is_chart(self) -> bool:
        """Whether it installs a chart."""
        return self.kind in (HELM_RELEASE, HELM_CHART) or any(map(mapping_with_chart, self._sources()))

    @property
    def release(self) -> tuple[str, str, str] | None:
        """What a HelmRelease or an Application installs: storage namespace, namespace and name."""
        spec = mapping(self.body.get("spec"))
        if self.kind == HELM_CHART:
            place = str(spec.get("targetNamespace") or self.namespace)
            return place, place, self.name
        if self.kind == HELM_RELEASE:
            target = spec.get("targetNamespace")
            name = spec.get("releaseName") or (f"{target}-{self.name}" if target else self.name)
            return str(spec.get("storageNamespace") or self.namespace), str(target or self.namespace), str(name)
        for source in self._sources():
            if mapping_with_chart(source):
                namespace = str(value_at(spec, ("destination", "namespace")) or "")
                return namespace, namespace, str(value_at(source, ("helm", "releaseName")) or self.name)
        return None

    @property
    def chart(self) -> str:
        """The chart's name; empty where there is none, or another object has it."""
        if self.kind == HELM_CHART:
            return str(value_at(self.body, ("spec", "chart")) or "").rpartition("/")[2]
        if self.kind == HELM_RELEASE:
            return str(value_at(self.body, ("spec", "chart", "spec", "chart")) or "")
        return next((str(source["chart"]) for source in self._sources() if mapping_with_chart(source)), "")

    def _sources(self) -> list[Any]:
        if self.kind != APPLICATION:
            return []
        spec = mapping(self.body.get("spec"))
        several = spec.get("sources")
        return several if isinstance(several, list) else [spec.get("source")]


def mapping_with_chart(source: Any) -> bool:
    return isinstance(mapping(source).get("chart"), str)


def of_tree(tree: ManifestTree, plan: ClusterPlan) -> dict[Identity, DeliveryObject]:
    """Of all generated files of a cluster, and of what stands for it in the fleet."""
    bodies = (body for path, body in tree.objects() if path.startswith(f"{FOLDER}/"))
    return _by_identity((*_objects(bodies), *_element(plan)))


def of_plan(plan: ClusterPlan) -> dict[Identity, DeliveryObject]:
    """The same without what the API server is to enforce: a folder that holds nothing else is not known here."""
    manifests = [*render_platform(plan, ()), *render_units(plan, ()), *render_pools(plan, {}, ())]
    bodies = (body for item in render_delivery(plan, manifests, ()) if item.applied for body in item.documents)
    return _by_identity((*_objects(bodies), *_element(plan)))


def of_files(texts: Mapping[str, str]) -> dict[Identity, DeliveryObject]:
    """Of the files of a delivery folder, by name: those that its kustomization lists, or all where it has none.

    What can't be read is left out: whoever generates over it gets a finding elsewhere.
    """
    named = listed(texts)
    bodies = (
        body
        for name, text in sorted(texts.items())
        if name.endswith(_YAML) and name not in KUSTOMIZATION_FILES and (named is None or name in named)
        for body in _read(text)
    )
    return _by_identity(_objects(bodies))


def listed(texts: Mapping[str, str]) -> frozenset[str] | None:
    """The files that a kustomization among some names; None where none is."""
    for name in KUSTOMIZATION_FILES:
        if name in texts:
            found = [item for body in _read(texts[name]) for item in _resources(body)]
            return frozenset(posixpath.normpath(item) for item in found)
    return None


def _resources(body: Any) -> Iterator[str]:
    items = mapping(body).get("resources")
    yield from (item for item in items if isinstance(item, str)) if isinstance(items, list) else ()


def _read(text: str) -> list[Any]:
    try:
        return read_documents(text)
    except YamlProblem:
        return []


def _objects(bodies: Iterable[Any]) -> Iterator[DeliveryObject]:
    for body in bodies:
        found = mapping(body)
        group, kind = str(found.get("apiVersion", "")).rpartition("/")[0], found.get("kind")
        metadata = mapping(found.get("metadata"))
        name, namespace = metadata.get("name"), metadata.get("namespace")
        if not isinstance(kind, str) or kind not in _GROUPS.get(group, ()) or not isinstance(name, str):
            continue
        yield DeliveryObject(
            kind=kind, namespace=namespace if isinstance(namespace, str) else "", name=name, body=found
        )


def _element(plan: ClusterPlan) -> Iterator[DeliveryObject]:
    entry = fleet_entry(plan)
    if entry is not None and entry.is_listed:
        name = f"poolsmith-{entry.project}/{entry.element}"
        body = {"repoURL": entry.repo_url, "revision": entry.revision, "path": entry.path}
        yield DeliveryObject(kind=ELEMENT, namespace=entry.namespace, name=name, body=body)


def _by_identity(found: Iterable[DeliveryObject]) -> dict[Identity, DeliveryObject]:
    return {item.identity: item for item in found}


_MOST_FILES = 200
_MOST_BYTES = 1 << 20
_NO_FILE = (LINK, SUBMODULE)


@record(kw_only=False)
class _InGit:
    """Files of a revision, by path from the folder that git is asked about."""

    git: Git
    files: Mapping[str, GitFile]
    folder: str

    def names(self) -> list[str]:
        start = f"{self.folder}/"
        found = (path.removeprefix(start) for path in self.files if path.startswith(start))
        return sorted(name for name in found if "/" not in name)

    def has(self, name: str) -> bool:
        return self._file(name) is not None

    def is_same(self, name: str, content: bytes) -> bool:
        file = self._file(name)
        return file is not None and blob_id(content, len(file.blob)) == file.blob

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """What is too large, or no regular file, is left out."""
        files = [(name, file.blob) for name in names if (file := self._file(name)) is not None]
        sizes = self.git.sizes([blob for _, blob in files])
        small = [entry for entry, size in zip(files, sizes, strict=True) if size is not None and size <= _MOST_BYTES]
        contents = self.git.contents([blob for _, blob in small])
        return {name: content.decode("utf-8", "replace") for (name, _), content in zip(small, contents, strict=True)}

    def _file(self, name: str) -> GitFile | None:
        file = self.files.get(f"{self.folder}/{name}")
        return None if file is None or file.mode in _NO_FILE else file


@record(kw_only=False)
class _OnDisk:
    """The same of what is checked out."""

    tree: InputTree
    folder: str

    def names(self) -> list[str]:
        return list(self.tree.listing(self.folder).files)

    def has(self, name: str) -> bool:
        return bool(self.texts((name,)))

    def is_same(self, name: str, content: bytes) -> bool:
        return self.texts((name,)).get(name, "").encode() == content

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        found = {name: self.tree.read_text(f"{self.folder}/{name}", limit=_MOST_BYTES) for name in names}
        return {name: text for name, text in found.items() if not isinstance(text, Diagnostic)}


@record
class MadeDelivery:
    """What is generated for a cluster: files by path in its folder, and the objects of its delivery."""

    files: Mapping[str, bytes]
    objects: Mapping[Identity, DeliveryObject]


def held_by_base(root: Path, base: BaseRevision, cluster: str) -> Mapping[Identity, DeliveryObject] | None:
    """Of the revision that a check is held against. Raises UsageError."""
    return held_in_git(Git(root, "--policies-from"), base.files, cluster, prefix=base.prefix)


def held_in_git(
    git: Git, files: Mapping[str, GitFile], cluster: str, made: MadeDelivery | None = None, *, prefix: str = ""
) -> Mapping[Identity, DeliveryObject] | None:
    """None where a revision has no such folder. Raises UsageError."""
    return _held(_InGit(git, files, f"{prefix}{_folder(cluster)}"), made or _NOTHING)


def held_on_disk(
    root: Path, cluster: str, made: MadeDelivery | None = None
) -> Mapping[Identity, DeliveryObject] | None:
    return _held(_OnDisk(InputTree(root), _folder(cluster)), made or _NOTHING)


def _folder(cluster: str) -> str:
    return f"{CLUSTERS}/{cluster}/{FOLDER}"


_NOTHING = MadeDelivery(files={}, objects={})


def _held(there: _InGit | _OnDisk, made: MadeDelivery) -> Mapping[Identity, DeliveryObject] | None:
    start = f"{FOLDER}/"
    generated = {path.removeprefix(start): content for path, content in made.files.items() if path.startswith(start)}
    same = {name for name, content in generated.items() if there.is_same(name, content)}
    if generated and len(same) == len(generated):
        return {identity: item for identity, item in made.objects.items() if item.kind != ELEMENT}
    named = [name for name in KUSTOMIZATION_FILES if there.has(name)]
    texts = {name: generated[name].decode() for name in same}
    texts |= there.texts(name for name in named if name not in same)
    names = sorted(name for name in listed(texts) or () if "/" not in name) if named else there.names()
    texts |= there.texts([name for name in names if name not in texts][:_MOST_FILES])
    return of_files(texts) if texts else None
