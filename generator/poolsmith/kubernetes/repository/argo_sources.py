"""Charts of Argo CD's Applications: values in the order in which the repo-server gives them to Helm.

Source: argo-cd docs/user-guide/helm.md: valueFiles, then values or valuesObject, then parameters. A file may lie in
another source of the same Application (`$ref/path`).
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.scalars import NotJsonError, resolve_plain
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.kubernetes.repository.delivered import Unknown
from poolsmith.kubernetes.repository.flux_releases import add_text, last
from poolsmith.kubernetes.repository.installations import Installation, ValuesLayer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


@record(kw_only=False)
class ArgoSource:
    """One source of an Application, at `pointer`; `path` is a folder of the repository, None where it is elsewhere."""

    data: dict[str, Any]
    pointer: str
    path: str | None


def sources_of(spec: Any, pointer: str, files: RepositoryFiles) -> list[ArgoSource]:
    """`pointer` leads to the Application's spec. `sources` count, as soon as there are any."""
    several = list(mappings(mapping(spec).get("sources")))
    if several:
        listed = [(source, f"{pointer}/sources/{index}") for index, source in enumerate(several)]
    else:
        listed = [(source, f"{pointer}/source") for source in mappings([mapping(spec).get("source")])]
    return [ArgoSource(source, place, _folder(source, files)) for source, place in listed]


def _folder(source: Any, files: RepositoryFiles) -> str | None:
    path = source.get("path")
    if not isinstance(path, str) or source.get("chart"):
        return None
    folder = normal(path)
    return folder if folder is not None and files.is_folder(folder) else None


def normal(path: str) -> str | None:
    """A path of the repository, relative to its top; None of one that leads out."""
    found = posixpath.normpath(path.lstrip("/") or ".")
    return None if found.startswith("..") else "" if found == "." else found


def chart_installations(
    item: CheckedDocument, spec: Any, pointer: str, files: RepositoryFiles
) -> Iterator[Installation]:
    """Those of sources that name a chart of a registry."""
    sources = sources_of(spec, pointer, files)
    for source in sources:
        chart = word(source.data.get("chart"))
        if not chart:
            continue
        layers, unknown = helm_layers(item, source, sources, files)
        version = source.data.get("targetRevision")
        yield Installation(
            chart=last(chart),
            document=item,
            pointer=f"{source.pointer}/helm",
            version=version if isinstance(version, str) else None,
            version_pointer=f"{source.pointer}/targetRevision",
            repository=word(source.data.get("repoURL")) or None,
            namespace=word(value_at(spec, ("destination", "namespace"))) or None,
            release_name=word(value_at(source.data, ("helm", "releaseName"))) or item_name(item),
            layers=layers,
            unknown=unknown,
        )


def helm_layers(
    item: CheckedDocument, source: ArgoSource, sources: list[ArgoSource], files: RepositoryFiles
) -> tuple[tuple[ValuesLayer, ...], tuple[Unknown, ...]]:
    """What a source's `helm` says of values, as layers, and what of it nobody can look at."""
    helm, pointer = mapping(source.data.get("helm")), f"{source.pointer}/helm"
    layers: list[ValuesLayer] = []
    unknown: list[Unknown] = []
    for index, path in enumerate(words(helm.get("valueFiles"))):
        place = item.source.locate(f"{pointer}/valueFiles/{index}")
        shown = _value_file(path, source, sources)
        found = file_layer(shown, files) if shown is not None else None
        if found is not None:
            layers.append(found)
        elif shown is None or not helm.get("ignoreMissingValueFiles"):
            unknown.append(Unknown(place, f"the values file `{path}` is not among the files"))
    if isinstance(values := helm.get("valuesObject"), dict):
        layers.append(ValuesLayer(values, item.source, f"{pointer}/valuesObject"))
    else:
        add_text(item.source, f"{pointer}/values", helm.get("values"), layers, unknown)
    for index, parameter in enumerate(mappings(helm.get("parameters"))):
        wrapped = _parameter(parameter)
        if wrapped is not None:
            steps, values = wrapped
            layers.append(ValuesLayer(values, item.source, f"{pointer}/parameters/{index}/value", steps))
    if helm.get("fileParameters"):
        unknown.append(Unknown(item.source.locate(f"{pointer}/fileParameters"), "values from `fileParameters`"))
    return tuple(layers), tuple(unknown)


def _value_file(path: str, source: ArgoSource, sources: list[ArgoSource]) -> str | None:
    """The path of a values file in the repository; None of one that lies elsewhere."""
    if "://" in path:
        return None
    if path.startswith("$"):
        reference, _, rest = path[1:].partition("/")
        if not any(word(other.data.get("ref")) == reference for other in sources):
            return None
        return normal(rest)
    if path.startswith("/"):
        return normal(path)
    return None if source.path is None else normal(posixpath.join(source.path, path))


def file_layer(path: str, files: RepositoryFiles) -> ValuesLayer | None:
    """The first document of a values file; an empty file has no values. None where there is no such file."""
    if not files.is_file(path):
        return None
    documents = files.file(path).documents
    text = files.text(path)
    if not documents:
        return None if text is None else ValuesLayer({}, SourceFile(path, text, {}))
    first = documents[0]
    return ValuesLayer(first.data, first.source) if isinstance(first.data, dict) else None


def _parameter(parameter: Any) -> tuple[tuple[str, ...], Any] | None:
    """`name: a.b, value: x` as `--set` reads it; a name with an index or an escape is left out."""
    name, value = word(parameter.get("name")), parameter.get("value")
    if not name or any(sign in name for sign in "[]\\") or not isinstance(value, str):
        return None
    if not parameter.get("forceString"):
        try:
            value = resolve_plain(value)
        except NotJsonError:
            return None
    return tuple(name.split(".")), value


def item_name(item: CheckedDocument) -> str | None:
    return word(item.metadata.get("name")) or None
