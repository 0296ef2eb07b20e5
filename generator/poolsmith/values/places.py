"""Where Helm values of the gpu-operator chart stand in a tree of documents, and for which release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.record import record
from poolsmith.repository.declared_charts import declared_charts, first_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.repository.manifest_files import CheckedDocument, CheckedTree

CHART = "gpu-operator"
_RELEASES = ("HelmRelease", "Application", "ApplicationSet", "HelmChart", "HelmChartProxy")
"""What a cluster installs a chart by; a kustomization only renders one."""


@record
class FoundValues:
    """Values, or a text that holds them, below a pointer.

    `version` is the chart's as it is written, `namespace` where the chart goes; None where nothing says it. `partial`
    says that the release takes more values from elsewhere, `is_file` that the file holds nothing else.
    """

    document: CheckedDocument
    pointer: str
    values: Any
    version: str | None
    namespace: str | None = None
    partial: bool = False
    is_file: bool = False


def values_in(
    tree: CheckedTree, release: str | None, named: frozenset[str], *, with_none: bool = False
) -> Iterator[FoundValues]:
    """`named` are the files that the user named one by one: with `release`, one without kind is a values file.

    `with_none`: releases of the chart that set no values are found too, with an empty map.
    """
    for document in tree.documents:
        if release is not None and _may_be_values(document):
            found = _plain(document, release, is_named=document.path in named)
            if found is not None:
                yield found
        for chart in declared_charts(document, tree) if document.kind in _RELEASES else ():
            if chart.name == CHART and (chart.values is not None or (with_none and not chart.partial)):
                yield FoundValues(
                    document=document,
                    pointer=chart.pointer,
                    values={} if chart.values is None else chart.values,
                    version=chart.version,
                    namespace=chart.namespace,
                    partial=chart.partial,
                )


def parsed_values(found: FoundValues) -> dict[str, Any] | None:
    """The values as a mapping, those of a text too; None where they are no mapping, or a template."""
    values = found.values
    if isinstance(values, str):
        values = None if "{{" in values else first_document(values)
    return values if isinstance(values, dict) else None


def place_in(values: Any, path: str) -> tuple[str | int, ...]:
    """The steps to a value whose keys stand in `path` with dots between them, as far as the document has them."""
    steps: list[str | int] = []
    node = values
    for word in path.split("."):
        if isinstance(node, dict) and word in node:
            steps.append(word)
            node = node[word]
        elif isinstance(node, list) and word.isdigit() and int(word) < len(node):
            steps.append(int(word))
            node = node[int(word)]
        else:
            break
    return tuple(steps)


def _may_be_values(document: CheckedDocument) -> bool:
    data = document.data
    return isinstance(data, dict) and "apiVersion" not in data and "kind" not in data


def _plain(document: CheckedDocument, release: str, *, is_named: bool) -> FoundValues | None:
    """A file that was found in a folder has to look like values of this chart."""
    from poolsmith.catalog.value_paths import value_paths  # on demand

    known = value_paths().release(release)
    data = document.data
    if known is not None and isinstance(data.get(CHART), dict) and CHART not in known.root.children:
        return FoundValues(document=document, pointer=f"/{CHART}", values=data[CHART], version=release, is_file=True)
    if not is_named and (known is None or known.root.children.keys().isdisjoint(data)):
        return None
    return FoundValues(document=document, pointer="", values=data, version=release, is_file=True)
