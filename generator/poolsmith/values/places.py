"""Where Helm values of the gpu-operator chart stand in a tree of documents, and for which release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.repository.manifest_files import CheckedDocument, CheckedTree

CHART = "gpu-operator"
_OTHER_RELEASES = {
    ("HelmChart", "helm.cattle.io"): ("chart", "valuesContent"),
    ("HelmChartProxy", "addons.cluster.x-k8s.io"): ("chartName", "valuesTemplate"),
}
"""Of k3s and RKE2, and of Cluster API: where they name the chart, and keep its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundValues:
    """Values, or a text that holds them. `version` is the chart's as it is written; None where nothing says it.

    `partial` says that the release takes more values from elsewhere, `is_file` that the file holds nothing else.
    """

    document: CheckedDocument
    pointer: str
    values: Any
    version: str | None
    partial: bool = False
    is_file: bool = False


def values_in(
    tree: CheckedTree, release: str | None, named: frozenset[str], *, with_none: bool = False
) -> Iterator[FoundValues]:
    """`named` are the files that the user named one by one: with `release`, one without kind is a values file.

    `with_none`: releases of the chart that set no values are found too, with an empty map.
    """
    for document in tree.documents:
        if document.kind == "HelmRelease" and document.api_version.startswith("helm.toolkit.fluxcd.io/"):
            yield from _helm_release(document, tree, with_none=with_none)
        elif (document.kind, document.api_version.partition("/")[0]) in _OTHER_RELEASES:
            yield from _other_release(document, with_none=with_none)
        elif document.kind == "Application" and document.api_version.startswith("argoproj.io/"):
            yield from _application(document, document.data.get("spec"), "/spec", with_none=with_none)
        elif document.kind == "ApplicationSet" and document.api_version.startswith("argoproj.io/"):
            template = _get(document.data, "spec", "template", "spec")
            yield from _application(document, template, "/spec/template/spec", with_none=with_none)
        elif release is not None and _may_be_values(document):
            found = _plain(document, release, is_named=document.path in named)
            if found is not None:
                yield found


def parsed_values(found: FoundValues) -> dict[str, Any] | None:
    """The values as a mapping, those of a text too; None where they are no mapping, or a template."""
    values = found.values
    if isinstance(values, str):
        from poolsmith.sources.yaml_reader import YamlProblem, read_documents

        try:
            documents = [] if "{{" in values else read_documents(values)
        except YamlProblem:
            return None
        values = documents[0] if documents else None
    return values if isinstance(values, dict) else None


def _helm_release(document: CheckedDocument, tree: CheckedTree, *, with_none: bool) -> Iterator[FoundValues]:
    spec = document.data.get("spec")
    chart, version = _get(spec, "chart", "spec", "chart"), _get(spec, "chart", "spec", "version")
    if (reference := _get(spec, "chartRef")) is not None:
        chart, version = _referenced(reference, tree)
    is_patch = chart is None
    if is_patch:
        chart = document.metadata.get("name")
    if not _is_ours(chart):
        return
    values = _get(spec, "values")
    if values is None and with_none and not is_patch and not _get(spec, "valuesFrom"):
        values = {}
    if values is not None:
        partial = is_patch or bool(_get(spec, "valuesFrom"))
        yield FoundValues(
            document=document, pointer="/spec/values", values=values, version=_text(version), partial=partial
        )


def _other_release(document: CheckedDocument, *, with_none: bool) -> Iterator[FoundValues]:
    """An object that keeps chart, version and values beside each other; `set` and `values` of a chart come on top."""
    chart_key, values_key = _OTHER_RELEASES[document.kind, document.api_version.partition("/")[0]]
    spec = document.data.get("spec")
    chart = _get(spec, chart_key)
    if not _is_ours(chart.removesuffix(".tgz") if isinstance(chart, str) else chart):
        return
    values = _get(spec, values_key)
    if values is None and with_none:
        values = {}
    if values is not None:
        yield FoundValues(
            document=document,
            pointer=f"/spec/{values_key}",
            values=values,
            version=_text(_get(spec, "version")),
            partial=any(_get(spec, other) for other in ("set", "valuesSecrets")),
        )


def _referenced(reference: Any, tree: CheckedTree) -> tuple[Any, Any]:
    """Chart and version of the object that `chartRef` names, where it is in the tree."""
    kind, name = _get(reference, "kind"), _get(reference, "name")
    document = tree.named(kind, name) if isinstance(kind, str) and isinstance(name, str) else None
    if document is None:
        return name, None
    spec = document.data.get("spec")
    if kind == "OCIRepository":
        return _get(spec, "url"), _get(spec, "ref", "tag")
    return _get(spec, "chart"), _get(spec, "version")


def _application(document: CheckedDocument, spec: Any, pointer: str, *, with_none: bool) -> Iterator[FoundValues]:
    sources = _get(spec, "sources")
    places = [(_get(spec, "source"), f"{pointer}/source")]
    if isinstance(sources, list):
        places += [(source, f"{pointer}/sources/{index}") for index, source in enumerate(sources)]
    for source, place in places:
        helm = _get(source, "helm")
        if helm is None and with_none:
            helm = {}
        if not _is_ours(_get(source, "chart")) or not isinstance(helm, dict):
            continue
        key = "valuesObject" if helm.get("valuesObject") is not None else "values"
        partial = any(helm.get(other) for other in ("valueFiles", "parameters", "fileParameters"))
        if helm.get(key) is not None or (with_none and not partial):
            yield FoundValues(
                document=document,
                pointer=f"{place}/helm/{key}",
                values={} if helm.get(key) is None else helm[key],
                version=_text(_get(source, "targetRevision")),
                partial=partial,
            )


def _may_be_values(document: CheckedDocument) -> bool:
    data = document.data
    return isinstance(data, dict) and "apiVersion" not in data and "kind" not in data


def _plain(document: CheckedDocument, release: str, *, is_named: bool) -> FoundValues | None:
    """A file that was found in a folder has to look like values of this chart."""
    from poolsmith.catalog.value_paths import value_paths

    known = value_paths().release(release)
    data = document.data
    if known is not None and isinstance(data.get(CHART), dict) and CHART not in known.root.children:
        return FoundValues(document=document, pointer=f"/{CHART}", values=data[CHART], version=release, is_file=True)
    if not is_named and (known is None or known.root.children.keys().isdisjoint(data)):
        return None
    return FoundValues(document=document, pointer="", values=data, version=release, is_file=True)


def _is_ours(chart: Any) -> bool:
    return isinstance(chart, str) and chart.rstrip("/").rpartition("/")[2] == CHART


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _get(node: Any, *keys: str) -> Any:
    return value_at(node, keys)
