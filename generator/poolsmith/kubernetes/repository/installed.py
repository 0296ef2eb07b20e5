"""The charts that objects and files install, whichever tool reads them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.kubernetes.repository.chart_folders import CHART_FILE, brought_along, chart_at
from poolsmith.kubernetes.repository.flux_releases import GROUP as FLUX
from poolsmith.kubernetes.repository.flux_releases import release_of
from poolsmith.kubernetes.repository.other_installers import (
    FLEET_FILE,
    chart_proxy,
    fleet_chart,
    helmfile_releases,
    k3s_chart,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from poolsmith.kubernetes.repository.installations import Installation
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


class _Near:
    """Objects that an object names: those that are delivered with it, else those of the files."""

    def __init__(self, *trees: CheckedTree) -> None:
        self._trees = trees

    def named(self, kind: str, name: str) -> CheckedDocument | None:
        for tree in self._trees:
            if (found := tree.named(kind, name)) is not None:
                return found
        return None


def of_object(
    item: CheckedDocument, tree: CheckedTree, whole: CheckedTree, files: RepositoryFiles
) -> Iterator[Installation]:
    """What an object of the cluster installs; `tree` are the objects beside it, `whole` those of all files."""
    group = item.api_version.partition("/")[0]
    if item.kind == "HelmRelease" and group == FLUX:
        found = release_of(item, _Near(tree, whole))
        if found is None:
            return
        installation, source = found
        chart = chart_at(source.folder, files) if source.folder is not None else None
        if chart is None:
            yield installation
            return
        yield from brought_along(
            chart,
            files,
            installation.layers,
            installation.unknown,
            namespace=installation.namespace,
            release_name=installation.release_name,
        )
    elif item.kind == "HelmChart" and group == "helm.cattle.io":
        yield from k3s_chart(item, _Near(tree, whole))
    elif item.kind == "HelmChartProxy" and group == "addons.cluster.x-k8s.io":
        yield from chart_proxy(item)


def loose_installations(
    tree: CheckedTree, whole: CheckedTree, files: RepositoryFiles, used: Container[str], others: Iterable[str]
) -> Iterator[Installation]:
    """Of objects that stand alone, and of files that other tools read. `used` are files that have been counted,
    `others` those of the run whose names are not those of YAML."""
    for document in tree.documents:
        if document.is_object:
            yield from of_object(document, tree, whole, files)
        elif posixpath.basename(document.path) == FLEET_FILE:
            yield from fleet_chart(document, files)
        elif document.index == 0 and isinstance(document.data, list) and _ANSIBLE in document.text:
            from poolsmith.kubernetes.repository.ansible import ansible_charts  # on demand

            yield from ansible_charts(document, files)
    for path in (*sorted(whole.paths), *others):
        if is_helmfile(path):
            yield from helmfile_releases(path, files)
    for path in sorted(whole.paths):
        if posixpath.basename(path) == CHART_FILE and path not in used:
            chart = chart_at(posixpath.dirname(path), files)
            if chart is not None:
                yield from brought_along(chart, files)


_ANSIBLE = "chart_ref"


def of_other_languages(paths: Iterable[str], files: RepositoryFiles) -> Iterator[Installation]:
    """Charts of files that are no YAML."""
    for path in paths:
        text = files.text(path) if path.endswith(".tf") else None
        if text is not None and "helm_release" in text:
            from poolsmith.kubernetes.repository.terraform import terraform_charts  # on demand

            yield from terraform_charts(text, path, files)


def is_helmfile(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    is_text = name.endswith((".yaml", ".yml", ".yaml.gotmpl", ".yml.gotmpl"))
    return is_text and (name.startswith("helmfile") or posixpath.basename(folder) == "helmfile.d")
