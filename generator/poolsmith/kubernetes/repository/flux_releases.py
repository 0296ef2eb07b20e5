"""HelmReleases of Flux: chart, release and values as the helm-controller puts them together.

Source: fluxcd/helm-controller docs/spec/v2/helmreleases.md. `valuesFrom` is merged in its order, `values` come last.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Protocol

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.manifest_files import is_encrypted
from poolsmith.kubernetes.repository.set_values import set_layer

if TYPE_CHECKING:
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

GROUP = "helm.toolkit.fluxcd.io"
_DEFAULT_KEY = "values.yaml"


class Finder(Protocol):
    """Those among which an object finds another that it names."""

    def named(self, kind: str, name: str, /) -> CheckedDocument | None: ...


@record(kw_only=False)
class ChartSource:
    """`folder` is set for a chart whose files stand in the repository. `version_source` is where the version stands."""

    name: str
    version: str | None = None
    repository: str | None = None
    folder: str | None = None
    version_place: tuple[CheckedDocument, str] | None = None
    is_fixed: bool = False
    """A digest or a folder says which chart it is."""


def release_of(item: CheckedDocument, objects: Finder) -> tuple[ChartInstallation, ChartSource] | None:
    """An object that names no chart is a patch of another, whose name stands for the chart. None: it has no name."""
    spec = mapping(mapping(item.data).get("spec"))
    source = _chart(item, spec, objects)
    layers: list[ValuesLayer] = []
    unknown: list[Unknown] = []
    if source is None:
        source = ChartSource(word(item.metadata.get("name")))
        unknown.append(Unknown(item.source.locate("/spec"), "the rest of a release, of which this is a patch"))
    if not source.name:
        return None
    for index, reference in enumerate(mappings(spec.get("valuesFrom"))):
        found = _values_from(item, reference, f"/spec/valuesFrom/{index}", objects)
        (layers if isinstance(found, ValuesLayer) else unknown).append(found)  # type: ignore[arg-type]  # by its class
    if isinstance(values := spec.get("values"), dict):
        layers.append(ValuesLayer(values, item.source, "/spec/values"))
    metadata = item.metadata
    namespace = word(spec.get("targetNamespace")) or word(metadata.get("namespace"))
    place = source.version_place or (None, "")
    installation = ChartInstallation(
        chart=source.name,
        document=item,
        pointer="/spec/values",
        version=source.version,
        version_pointer=place[1],
        version_document=place[0],
        is_locked=source.is_fixed,
        repository=source.repository,
        namespace=namespace or None,
        release_name=word(spec.get("releaseName")) or _release_name(spec, metadata),
        layers=tuple(layers),
        unknown=tuple(unknown),
        in_other_clusters=bool(spec.get("kubeConfig")),
    )
    return installation, source


def _release_name(spec: Any, metadata: dict[str, Any]) -> str:
    name, target = word(metadata.get("name")), word(spec.get("targetNamespace"))
    return f"{target}-{name}" if target else name


def _chart(item: CheckedDocument, spec: Any, objects: Finder) -> ChartSource | None:
    if (reference := spec.get("chartRef")) is not None:
        return _referenced(mapping(reference), objects)
    template = mapping(value_at(spec, ("chart", "spec")))
    chart = word(template.get("chart"))
    if not chart:
        return None
    return _from_template(template, chart, item, "/spec/chart/spec", objects)


def _from_template(template: Any, chart: str, item: CheckedDocument, pointer: str, objects: Finder) -> ChartSource:
    reference = mapping(template.get("sourceRef"))
    kind = word(reference.get("kind"))
    repository = objects.named(kind, word(reference.get("name"))) if kind else None
    version = template.get("version")
    if repository is not None and kind == "GitRepository" and upstream_chart(chart):
        version = value_at(repository.data, ("spec", "ref", "tag"))
    return ChartSource(
        name=last(chart),
        version=version if isinstance(version, str) else None,
        repository=word(value_at(repository.data, ("spec", "url"))) if repository is not None else None,
        folder=posixpath.normpath(chart) if kind in ("GitRepository", "Bucket") else None,
        version_place=(item, f"{pointer}/version"),
        is_fixed=kind in ("GitRepository", "Bucket"),
    )


def _referenced(reference: Any, objects: Finder) -> ChartSource:
    kind, name = word(reference.get("kind")), word(reference.get("name"))
    found = objects.named(kind, name) if kind and name else None
    if found is None:
        return ChartSource(name)
    spec = mapping(mapping(found.data).get("spec"))
    if kind == "HelmChart":
        return _from_template(spec, word(spec.get("chart")), found, "/spec", objects)
    url, ref = word(spec.get("url")), mapping(spec.get("ref"))
    key = next((key for key in ("digest", "semver", "tag") if ref.get(key)), "tag")
    tag = word(ref.get("tag" if key == "digest" else key))
    return ChartSource(
        last(url), tag or None, url or None, None, (found, f"/spec/ref/{key}"), is_fixed=bool(ref.get("digest"))
    )


def _values_from(item: CheckedDocument, reference: Any, pointer: str, objects: Finder) -> ValuesLayer | Unknown:
    kind, name = word(reference.get("kind")), word(reference.get("name"))
    key = word(reference.get("valuesKey")) or _DEFAULT_KEY
    found = objects.named(kind, name) if kind and name else None
    place = item.source.locate(pointer)
    if found is None:
        return Unknown(place, f"values from {kind} `{name}`, which is not among the files")
    if kind != "ConfigMap" or is_encrypted(found.data):
        return Unknown(place, f"values from {kind} `{name}`, which is secret")
    text = value_at(found.data, ("data", key))
    if not isinstance(text, str):
        return Unknown(place, f"values from key `{key}` of ConfigMap `{name}`, which has no such text")
    where = join("/data", key)
    if target := word(reference.get("targetPath")):
        single = set_layer(_OnePlace(found.source, where), "", target, text)
        return single or Unknown(place, f"key `{key}` of ConfigMap `{name}` at `targetPath`")
    layer = layer_of_text(found.source, where, text)
    return layer if layer is not None else Unknown(place, f"values from key `{key}` of ConfigMap `{name}`: no mapping")


class _OnePlace(InnerText):
    """Every place is that of the text itself."""

    def __init__(self, source: SourceFile, pointer: str) -> None:
        super().__init__(source, pointer, "", None)


def layer_of_text(source: SourceFile, pointer: str, text: str) -> ValuesLayer | None:
    """Values that stand as a text at `pointer`; None where it holds no mapping, or is a template."""
    try:
        documents = read_documents(text, [])
    except YamlProblem:
        return None
    values = documents[0] if documents else {}
    if not isinstance(values, dict):
        return None if values is not None else ValuesLayer({}, InnerText(source, pointer, text, values))
    return ValuesLayer(values, InnerText(source, pointer, text, values))


def add_text(source: SourceFile, pointer: str, text: Any, layers: list[ValuesLayer], unknown: list[Unknown]) -> None:
    """Values in a text as one layer more, or as unknown where they can't be read."""
    if not isinstance(text, str):
        return
    layer = layer_of_text(source, pointer, text)
    if layer is not None:
        layers.append(layer)
        return
    what = "values of a template" if "{{" in text else "values of a text that can't be read"
    unknown.append(Unknown(source.locate(pointer), what, is_here=True))


def upstream_chart(folder: str) -> str:
    """The chart of the stack that stands there in its maker's repository; empty of any other folder."""
    folders = store.table("upstream_charts.yaml")["folders"] if "/" in folder else {}
    return str(folders.get(posixpath.normpath(folder.lstrip("/")), ""))


def last(chart: str) -> str:
    """The name of a chart, whatever path or registry stands before it."""
    return chart.rstrip("/").rpartition("/")[2]


_LONGEST = 300
_ARCHIVE = pattern(r"(?P<name>[\w.-]+?)-(?P<version>v?\d+\.\d+\.\d+[\w.+-]*)\.tgz")


def named(chart: str) -> tuple[str, str | None]:
    """The name of a chart, and the version that an archive has in its name: `gpu-operator-v25.3.4.tgz`."""
    match = _ARCHIVE.fullmatch(last(chart)) if len(chart) <= _LONGEST else None
    return (match["name"], match["version"]) if match is not None else (last(chart).removesuffix(".tgz"), None)
