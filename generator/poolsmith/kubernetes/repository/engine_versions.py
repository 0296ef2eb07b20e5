"""Which versions of Flux and Argo CD the files of a repository install, where they say so.

Source: the labels of `flux install --export`; FluxInstance of the Flux operator; manifests and images of Argo CD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

FLUX, ARGO_CD = "flux", "argocd"
_PART, _VERSION = "app.kubernetes.io/part-of", "app.kubernetes.io/version"
_PLAIN = pattern(r"v?(\d+\.\d+)(\.(\d+|x|\*))?")
_ARGO_CD = pattern(r"argoproj/argo-cd(?:/|:|.*\bref=|.*\?version=)v?(\d+\.\d+)\.\d+\b")
_IMAGE = pattern(r"(?:^|/)argoproj/argocd:v?(\d+\.\d+)\.\d+\b")

_LONGEST = 1024
"""No address is longer."""


def engine_versions(documents: Iterable[CheckedDocument]) -> dict[str, str]:
    """The minor version of each engine; none where files say none, or several."""
    found: dict[str, set[str]] = {}
    for document in documents:
        if isinstance(document.data, dict):
            for engine, version in _said(document.data):
                found.setdefault(engine, set()).add(version)
    return {engine: next(iter(versions)) for engine, versions in found.items() if len(versions) == 1}


def _said(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    labels = mapping(value_at(data, ("metadata", "labels")))
    if labels.get(_PART) == FLUX and (version := _minor(labels.get(_VERSION))):
        yield FLUX, version
    if data.get("kind") == "FluxInstance" and (version := _minor(value_at(data, ("spec", "distribution", "version")))):
        yield FLUX, version
    for text in _addresses(data):
        if len(text) > _LONGEST:
            continue
        if match := _ARGO_CD.search(text) or _IMAGE.search(text):
            yield ARGO_CD, match[1]


def _minor(version: object) -> str | None:
    match = _PLAIN.fullmatch(version) if isinstance(version, str) else None
    return None if match is None else match[1]


def _addresses(data: dict[str, Any]) -> Iterator[str]:
    """What a kustomization takes from elsewhere, and the images of pods."""
    if data.get("kind") == "Kustomization":
        listed = data.get("resources")
        yield from (word(item) for item in (listed if isinstance(listed, list) else ()))
    containers = value_at(data, ("spec", "template", "spec", "containers"))
    yield from (word(mapping(item).get("image")) for item in (containers if isinstance(containers, list) else ()))
