"""What a repository installs today: the operator's chart with its values, and the objects beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS, OPERATOR
from poolsmith.kubernetes.repository.argo_destination import target_of
from poolsmith.kubernetes.repository.delivered import ChartInstallation, ValuesLayer
from poolsmith.kubernetes.repository.installed_charts import of_object
from poolsmith.kubernetes.repository.manifest_files import CheckedTree
from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.kubernetes.repository.delivered import Unknown
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.model import RepositoryModel

_GENERIC = frozenset(
    (
        "app",
        "apps",
        "argo",
        "argo-cd",
        "argocd",
        "base",
        "cluster",
        "clusters",
        "delivery",
        "deploy",
        "environments",
        "envs",
        "flux",
        "flux-system",
        "gitops",
        "gpu",
        "gpu-operator",
        "helm",
        "infra",
        "infrastructure",
        "k8s",
        "kubernetes",
        "kustomize",
        "manifests",
        "nvidia",
        "output",
        "overlays",
        "platform",
        "releases",
        "templates",
    )
)
"""Folders that say what they hold, and of no cluster which it is."""
_ENGINES = {"HelmRelease": "flux", "Application": "argocd", "ApplicationSet": "argocd"}
_OURS = (f"{PROFILES}/", "output/", "policies/")


@record
class Present:
    """One installation. `drivers` are NVIDIADriver objects, `policies` ClusterPolicies that no chart makes.

    `engine` is None where neither Flux nor Argo CD delivers it. `beside` are all objects of the same cluster.
    """

    name: str
    installation: ChartInstallation
    engine: str | None
    drivers: tuple[CheckedDocument, ...] = ()
    policies: tuple[CheckedDocument, ...] = ()
    beside: tuple[CheckedDocument, ...] = ()

    @property
    def is_by_policy(self) -> bool:
        """Whether a ClusterPolicy is what is taken over, and no chart."""
        return any(layer.pointer == "/spec" for layer in self.installation.layers)

    @property
    def place(self) -> str:
        """Where it is declared."""
        return self.installation.document.path


def find_present(root: Path, source: Path, fallback: str) -> tuple[tuple[Present, ...], tuple[Unknown, ...]]:
    """The installations below `source`, a file or a folder, each with a name of its own; what nobody can resolve."""
    top = source if source.is_dir() else root
    files = RepositoryFiles(top, (source,))
    listed = files.listed()
    ours = _OURS if (top / PROFILES).is_dir() else ()
    yaml = [path for path in listed.yaml if not path.startswith(ours)]
    model = model_of(files, yaml, listed.others)
    found = _installed(model, files, OPERATOR, fallback) or _installed(model, files, DEVICE_PLUGIN_CHARTS, fallback)
    if not found:
        found += _plain(model, yaml, source, fallback) or _policies(model, fallback)
    found = _once(found)
    if len(found) == 1 and not found[0].drivers:
        every = [item for delivery in model.deliveries for item in delivery.objects]
        found = [_present(found[0].installation, "", [*every, *model.loose.objects], found[0].name)]
    return _named(found), model.unknown


def declared(root: Path) -> Iterator[ChartInstallation]:
    """All that a folder says to install of the stack, whichever tool reads it; once for each place that says so."""
    files = RepositoryFiles(root, (root,))
    listed = files.listed()
    model = model_of(files, listed.yaml, listed.others)
    found = [*_installed(model, files, OPERATOR, ""), *_installed(model, files, DEVICE_PLUGIN_CHARTS, "")]
    yield from (item.installation for item in _once(found))
    for document in model.documents:
        if _subscribed(document) is not None or _is_policy(document):
            yield ChartInstallation(chart=OPERATOR_CHART, document=document, pointer="/spec")


def _is_policy(document: CheckedDocument) -> bool:
    return document.kind == "ClusterPolicy" and document.api_version.startswith("nvidia.com/")


def _installed(model: RepositoryModel, files: RepositoryFiles, charts: Collection[str], fallback: str) -> list[Present]:
    """Of one of the charts."""
    found: list[Present] = []
    everything = CheckedTree(tuple(item for delivery in model.deliveries for item in delivery.objects), frozenset())
    for delivery in model.deliveries:
        for item in delivery.installations:
            if item.chart in charts:
                whole_item = _completed(item, everything, model.whole, files)
                place = delivery.place.partition(" (")[0]
                beside = [one for other in model.deliveries if other.place == delivery.place for one in other.objects]
                found.append(_present(whole_item, place, beside, fallback))
    loose = model.loose.objects
    found += [
        _present(item, item.document.path, loose, fallback) for item in model.installations if item.chart in charts
    ]
    return found


def _completed(
    item: ChartInstallation, everything: CheckedTree, whole: CheckedTree, files: RepositoryFiles
) -> ChartInstallation:
    """With values that another unit of the cluster delivers, such as a ConfigMap that its kustomization makes."""
    if not item.unknown or item.document.kind != "HelmRelease":
        return item
    again = (found for found in of_object(item.document, everything, whole, files) if found.chart == item.chart)
    return next(again, item)


def _present(item: ChartInstallation, place: str, beside: Sequence[CheckedDocument], fallback: str) -> Present:
    of_nvidia = [found for found in beside if found.api_version.startswith("nvidia.com/")]
    return Present(
        name=_name(place, fallback),
        installation=item,
        engine=_ENGINES.get(item.document.kind),
        drivers=tuple(found for found in of_nvidia if found.kind == "NVIDIADriver"),
        policies=tuple(found for found in of_nvidia if found.kind == "ClusterPolicy"),
        beside=tuple(beside),
    )


def _plain(model: RepositoryModel, yaml: Iterable[str], source: Path, fallback: str) -> list[Present]:
    """A values file that was named itself."""
    if source.is_dir():
        return []
    found = []
    for path in yaml:
        for document in model.files.documents(path)[:1]:
            data = document.data
            if not isinstance(data, dict) or "apiVersion" in data or "kind" in data:
                continue
            inner = mapping(data.get(OPERATOR_CHART))
            layer = (
                ValuesLayer(inner, document.source, f"/{OPERATOR_CHART}")
                if inner
                else ValuesLayer(data, document.source)
            )
            item = ChartInstallation(chart=OPERATOR_CHART, document=document, layers=(layer,))
            found.append(Present(name=_name("", fallback), installation=item, engine=None))
    return found


def _policies(model: RepositoryModel, fallback: str) -> list[Present]:
    """ClusterPolicies that somebody wrote: their fields are named like the chart's values. The release is that of a
    Subscription of OLM beside it."""
    documents = model.documents
    olm = next((item for item in documents if _subscribed(item) is not None), None)
    version = _subscribed(olm) if olm is not None else None
    found: list[Present] = []
    for document in documents:
        if _is_policy(document):
            layer = ValuesLayer(mapping(mapping(document.data).get("spec")), document.source, "/spec")
            item = ChartInstallation(
                chart=OPERATOR_CHART,
                document=olm or document,
                pointer="/spec",
                version=version or None,
                namespace=word(olm.metadata.get("namespace")) or None if olm is not None else None,
                layers=(layer,),
            )
            found.append(_present(item, document.path, (), fallback))
    return found


_CSV = re.compile(r"gpu-operator-certified\.(v\d+\.\d+\.\d+)")


def _subscribed(document: CheckedDocument) -> str | None:
    """The release that a Subscription of OLM starts with, empty where it names none; None of another object."""
    spec = mapping(mapping(document.data).get("spec"))
    if document.kind != "Subscription" or "gpu-operator" not in word(spec.get("name")):
        return None
    match = _CSV.fullmatch(word(spec.get("startingCSV")))
    return match[1] if match is not None else ""


def _once(found: Iterable[Present]) -> list[Present]:
    """An installation that several ways lead to, as the first of them has it."""
    seen: dict[tuple[object, ...], Present] = {}
    for item in found:
        install = item.installation
        place = (item.name, install.document.path, install.document.index, install.pointer)
        seen.setdefault((*place, target_of(application_of(item))), item)  # one of a set has a destination of its own
    return list(seen.values())


def _named(found: list[Present]) -> tuple[Present, ...]:
    taken: set[str] = set()
    result = []
    for item in found:
        name, number = item.name, 2
        while name in taken:
            name, number = f"{item.name[:58]}-{number}", number + 1
        taken.add(name)
        result.append(replace(item, name=name))
    return tuple(result)


def _name(place: str, fallback: str) -> str:
    """The last folder of the place that says more than what it holds."""
    folders = place.split("/")
    if "." in folders[-1]:
        folders.pop()
    for folder in reversed(folders):
        name = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")[:60].strip("-")
        if name and name not in _GENERIC:
            return name
    return fallback


def tag_of(version: str | None, known: Iterable[str]) -> str | None:
    """A chart's version as a release's tag: with or without `v`. None of a range, or of one that is not known."""
    if version is None:
        return None
    tag = version if version.startswith("v") else f"v{version}"
    return tag if tag in set(known) else None


def application_of(present: Present) -> Mapping[str, Any]:
    """The spec of the Application that installs it."""
    data = present.installation.document.data
    return mapping(value_at(data, ("spec", "template", "spec")) or mapping(data).get("spec"))


def source_of_flux(present: Present) -> tuple[str, str] | None:
    """Kind and name of the source that a Kustomization of the cluster is read from; None where files name none."""
    for item in present.beside:
        if item.kind == "Kustomization" and ".toolkit.fluxcd.io/" in item.api_version:
            reference = mapping(value_at(item.data, ("spec", "sourceRef")))
            kind, name = word(reference.get("kind")), word(reference.get("name"))
            if kind and name:
                return kind, name
    return None
