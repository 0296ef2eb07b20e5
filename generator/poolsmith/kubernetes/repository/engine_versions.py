"""Which versions of Flux, Argo CD, KubeVirt and kustomize the files of a repository install, where they say so.

Source: the labels of `flux install --export`; FluxInstance of the Flux operator; images of Flux's controllers;
manifests, images and chart of Argo CD, as `data/engines/versions.yaml` has them; workflows that set kustomize up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import at_least, version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.kubernetes.repository.declared_charts import installed_charts
from poolsmith.kubernetes.repository.manifest_files import folders_above

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

FLUX, ARGO_CD, KUSTOMIZE, KUBEVIRT = "flux", "argocd", "kustomize", "kubevirt"
_PART, _VERSION = "app.kubernetes.io/part-of", "app.kubernetes.io/version"
_PLAIN = pattern(r"v?(\d+\.\d+)(\.(\d+|x|\*))?")
_ADDRESSES = (
    (ARGO_CD, pattern(r"argoproj/argo-cd(?:/|:|.*\bref=|.*\?version=)v?(\d+\.\d+)\.\d+\b")),
    (ARGO_CD, pattern(r"(?:^|/)argoproj/argocd:v?(\d+\.\d+)\.\d+\b")),
    (KUBEVIRT, pattern(r"(?:^|/)kubevirt/virt-operator:v?(\d+\.\d+)\.\d+\b")),
    (KUBEVIRT, pattern(r"kubevirt/kubevirt/releases/download/v?(\d+\.\d+)\.\d+/")),
    (FLUX, pattern(r"fluxcd/flux2(?:/releases/download/|//[^?]*\?ref=)v?(\d+\.\d+)\.\d+\b")),
)
_CONTROLLER = pattern(r"(?:^|/)([a-z]+-controller):v?(\d+\.\d+)\.\d+\b")
_ARGO_CHARTS = ("argo-cd",)
_STEP = pattern(
    r"(?:install_kustomize\.sh['\"]?(?: \|[^\n]{0,200})? |kustomize/releases/download/kustomize%2Fv)(\d+\.\d+)\.\d+\b"
)
_SETUP, _WITH = "/setup-kustomize@", "kustomize-version"
_LONGEST = 1024
"""No address is longer."""


@record
class SaidVersion:
    """The minor version of an engine, and where a file says it."""

    engine: str
    version: str
    place: Location


def said_versions(documents: Iterable[CheckedDocument]) -> tuple[SaidVersion, ...]:
    listed = [document for document in documents if isinstance(document.data, dict)]
    objects = _Objects(listed)
    return tuple(
        SaidVersion(engine=engine, version=version, place=document.source.locate(pointer))
        for document in listed
        for engine, version, pointer in (*_said(document.data), *_of_charts(document, objects))
    )


class _Objects:
    """Those among which a release finds its chart."""

    def __init__(self, documents: Iterable[CheckedDocument]) -> None:
        self._by_name = {(document.kind, word(document.metadata.get("name"))): document for document in documents}

    def named(self, kind: str, name: str) -> CheckedDocument | None:
        return self._by_name.get((kind, name))


def _of_charts(document: CheckedDocument, objects: _Objects) -> Iterator[tuple[str, str, str]]:
    for chart in installed_charts(document, objects):
        if chart.name in _ARGO_CHARTS and (brings := _brought(chart.version or "")):
            yield ARGO_CD, brings, chart.pointer


class EngineVersions:
    """What is said anywhere, and below each folder."""

    def __init__(self, said: Iterable[SaidVersion]) -> None:
        self._below: dict[str, dict[str, set[str]]] = {"": {}}
        for item in said:
            for folder in ("", *folders_above(item.place.span.path)):
                self._below.setdefault(folder, {}).setdefault(item.engine, set()).add(item.version)

    def of(self, folder: str = "") -> dict[str, str]:
        """Of each engine what files of a folder say, else of the nearest above it; nothing where they say several."""
        found: dict[str, set[str]] = {}
        for place in ("", *reversed([*folders_above(f"{folder}/")])):
            found |= self._below.get(place, {})
        return {engine: next(iter(versions)) for engine, versions in found.items() if len(versions) == 1}


def _said(data: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each engine, its version, and the pointer to what says it."""
    labels = mapping(value_at(data, ("metadata", "labels")))
    if labels.get(_PART) == FLUX and (version := _minor(labels.get(_VERSION))):
        yield FLUX, version, "/metadata/labels"
    if data.get("kind") == "FluxInstance" and (version := _minor(value_at(data, ("spec", "distribution", "version")))):
        yield FLUX, version, "/spec/distribution/version"
    for pointer, text in _addresses(data):
        if len(text) <= _LONGEST:
            yield from ((engine, version, pointer) for engine, version in _of_address(text))
    yield from _workflow(data)


def _minor(version: object) -> str | None:
    match = _PLAIN.fullmatch(version) if isinstance(version, str) else None
    return None if match is None else match[1]


def _of_address(text: str) -> Iterator[tuple[str, str]]:
    for engine, address in _ADDRESSES:
        if match := address.search(text):
            yield engine, match[1]
    match = _CONTROLLER.search(text)
    parts = _table(FLUX)["parts"] if match is not None and "fluxcd" in text else ()
    if match is not None and match[1] in parts:
        known = _table(FLUX)["versions"].items()
        yield from ((FLUX, version) for version, brings in known if brings[match[1]] == match[2])


def _table(engine: str) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = store.table("engines/versions.yaml")["engines"][engine]
    return facts


def _brought(version: str) -> str:
    """By a version of Argo CD's chart; empty before the first that is known, and where it is a range."""
    older = [tag for tag in _table(ARGO_CD)["charts"] if _PLAIN.fullmatch(version) and at_least(version, str(tag))]
    return str(_table(ARGO_CD)["charts"][max(older, key=lambda tag: version_key(str(tag)))]) if older else ""


def _addresses(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What a kustomization takes from elsewhere, and the images of pods."""
    if data.get("kind") == "Kustomization":
        listed = data.get("resources")
        found = enumerate(listed if isinstance(listed, list) else ())
        yield from ((f"/resources/{index}", word(item)) for index, item in found)
    containers = value_at(data, ("spec", "template", "spec", "containers"))
    for index, item in enumerate(containers if isinstance(containers, list) else ()):
        yield f"/spec/template/spec/containers/{index}/image", word(mapping(item).get("image"))


def _workflow(data: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Of kustomize in the steps of a workflow."""
    for name, job in mapping(data.get("jobs")).items():
        steps = mapping(job).get("steps")
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            at, given = f"/jobs/{name}/steps/{index}", mapping(step)
            if _SETUP in word(given.get("uses")) and (said := _minor(mapping(given.get("with")).get(_WITH))):
                yield KUSTOMIZE, said, f"{at}/with/{_WITH}"
            if match := _STEP.search(word(given.get("run"))):
                yield KUSTOMIZE, match[1], f"{at}/run"
