"""What a cluster's delivery hands to its engine: objects by kind, namespace and name, as the engine tells them apart.

They are read from what is generated, and from what a revision holds in the cluster's folder, whoever wrote it.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.project.output.delivery import FOLDER, render_delivery
from poolsmith.project.output.fleet import fleet_entry
from poolsmith.project.output.platform_unit import render_platform
from poolsmith.project.output.pools import render_pools
from poolsmith.project.output.units import render_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.fleet.plan.plan import ClusterPlan

APPLICATION, HELM_RELEASE, KUSTOMIZATION = "Application", "HelmRelease", "Kustomization"
ELEMENT = "ApplicationSet element"
"""A cluster in the list of its fleet's ApplicationSet; named `<set>/<cluster>`."""
_GROUPS = {
    "argoproj.io": frozenset((APPLICATION, "ApplicationSet")),
    "helm.toolkit.fluxcd.io": frozenset((HELM_RELEASE,)),
    "kustomize.toolkit.fluxcd.io": frozenset((KUSTOMIZATION,)),
    "source.toolkit.fluxcd.io": frozenset(("GitRepository", "HelmRepository", "OCIRepository", "Bucket")),
}
SOURCES = _GROUPS["source.toolkit.fluxcd.io"]
_GUARD = "kustomize.toolkit.fluxcd.io/prune"
_META = ("metadata",)
_YAML = (".yaml", ".yml")
KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

Identity = tuple[str, str, str]
"""Kind, namespace and name."""


@record
class DeliveryObject:
    """One object for the engine. `body` is empty for the element of an ApplicationSet."""

    kind: str
    namespace: str
    name: str
    body: Mapping[str, Any]

    @property
    def identity(self) -> Identity:
        return self.kind, self.namespace, self.name

    @property
    def is_guarded(self) -> bool:
        """Whether kustomize-controller leaves it in place once it is not there any more."""
        texts = (mapping(value_at(self.body, (*_META, key))).get(_GUARD) for key in ("annotations", "labels"))
        return "disabled" in texts

    @property
    def is_chart(self) -> bool:
        """Whether it installs a chart."""
        return self.kind == HELM_RELEASE or any(map(mapping_with_chart, self._sources()))

    @property
    def release(self) -> tuple[str, str, str] | None:
        """What a HelmRelease or an Application installs: storage namespace, namespace and name."""
        spec = mapping(self.body.get("spec"))
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
    return _told_apart((*_objects(bodies), *_element(plan)))


def of_plan(plan: ClusterPlan) -> dict[Identity, DeliveryObject]:
    """The same without what the API server is to enforce: a folder that holds nothing else is not known here."""
    manifests = [*render_platform(plan, ()), *render_units(plan, ()), *render_pools(plan, {}, ())]
    bodies = (body for item in render_delivery(plan, manifests, ()) if item.applied for body in item.documents)
    return _told_apart((*_objects(bodies), *_element(plan)))


def of_files(texts: Mapping[str, str]) -> dict[Identity, DeliveryObject]:
    """Of the files of a delivery folder, by name: those that its kustomization lists, or all where it has none.

    What can't be read is left out: whoever generates over it is told so elsewhere.
    """
    named = listed(texts)
    bodies = (
        body
        for name, text in sorted(texts.items())
        if name.endswith(_YAML) and name not in KUSTOMIZATION_FILES and (named is None or name in named)
        for body in _read(text)
    )
    return _told_apart(_objects(bodies))


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
    if entry is not None:
        name = f"poolsmith-{entry.project}/{entry.cluster}"
        yield DeliveryObject(kind=ELEMENT, namespace=entry.namespace, name=name, body={})


def _told_apart(found: Iterable[DeliveryObject]) -> dict[Identity, DeliveryObject]:
    return {item.identity: item for item in found}
