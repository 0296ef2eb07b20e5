"""Templates of Helm charts that declare other charts, as far as their lines are literals: Applications of Applications.

Nobody renders them here. A line that a template fills in says nothing, and what nobody says is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.sources.nested import value_at
from poolsmith.kubernetes.repository.argo_sources import chart_installations
from poolsmith.kubernetes.repository.delivered import Unknown
from poolsmith.kubernetes.repository.file_forms import LATER, Form
from poolsmith.kubernetes.repository.flux_releases import GROUP, release_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.kubernetes.repository.flux_releases import Finder
    from poolsmith.kubernetes.repository.installations import Installation
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_KINDS = ("kind: Application", "kind: HelmRelease")


def templated_installations(paths: Iterable[str], files: RepositoryFiles, objects: Finder) -> Iterator[Installation]:
    """What the charts' templates among `paths` install; their versions as far as they are literals."""
    for path in paths:
        file = files.file(path)
        if file.form is not Form.CHART_TEMPLATE or file.text is None or not any(kind in file.text for kind in _KINDS):
            continue
        for document in files.filled(path):
            for item in _declared(document, files, objects):
                unknown = Unknown(item.document.source.locate("/spec"), "what the chart of this template fills in")
                is_open = item.version is not None and LATER in item.version
                yield replace(item, version=None if is_open else item.version, unknown=(*item.unknown, unknown))


def _declared(document: CheckedDocument, files: RepositoryFiles, objects: Finder) -> Iterator[Installation]:
    if not document.is_object:
        return
    if document.kind == "Application" and document.api_version.startswith("argoproj.io/"):
        yield from chart_installations(document, value_at(document.data, ("spec",)), "/spec", files)
    elif document.kind == "HelmRelease" and document.api_version.startswith(f"{GROUP}/"):
        found = release_of(document, objects)
        if found is not None:
            yield found[0]
