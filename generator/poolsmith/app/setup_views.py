"""Files that anyone wrote, as the setups of clusters: Helm values, with the objects that belong to them. Floor: app."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.app.values_places import parsed_values
from poolsmith.check.setup.view import SetupObject, SetupValues, SetupView
from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.app.setup_nodes import GivenNodes
    from poolsmith.app.values_places import FoundValues
    from poolsmith.check.manifest_files import CheckedDocument, CheckedTree
    from poolsmith.check.setup.view import Place
    from poolsmith.diagnostics import Location


def views_of(
    tree: CheckedTree, found: list[FoundValues], release: str | None, given: GivenNodes | None
) -> Iterator[SetupView]:
    """One for each of the values found; without any, one for all objects."""
    from poolsmith.catalog import Catalog
    from poolsmith.catalog.value_paths import value_paths

    catalog = Catalog()

    siblings = Counter(_folder(item.document.path) for item in found if item.is_file)
    objects = _nearest_objects(tree, [item.document.path for item in found])
    for index, item in enumerate(found) if found else [(0, None)]:
        written = item.version if item is not None else None
        fallback = release or (given.release if given is not None else None)
        known = value_paths().release(written or "") or value_paths().release(fallback or "")
        tag = known.tag if known is not None else None
        several = item is not None and item.is_file and siblings[_folder(item.document.path)] > 1
        yield SetupView(
            catalog=catalog,
            tag=tag,
            operator=catalog.releases.near(tag) if tag is not None else None,
            distribution=given.distribution if given is not None else None,
            kubernetes=given.kubernetes if given is not None else None,
            nodes=given.nodes if given is not None else None,
            values=None if item is None else _values(item, known.line_defaults if known else None, several=several),
            objects=tuple(objects[index]),
            namespace=None if item is None else _namespace(item.document),
        )


def _values(found: FoundValues, defaults: dict[str, Any] | None, *, several: bool) -> SetupValues | None:
    """`several` values files of one folder may be put on top of each other, nobody knows in which order."""
    values = parsed_values(found)
    if values is None:
        return None
    source, top = found.document.source, found.pointer
    is_text = isinstance(found.values, str)

    def place(pointer: str, note: str | None = None) -> Location:
        return source.locate(top if is_text else top + pointer, note)

    return SetupValues(
        values=values,
        defaults=defaults,
        place=place,
        partial=found.partial or several or defaults is None,
        file=found.document.path,
    )


def _namespace(document: CheckedDocument) -> str | None:
    """Where the chart is installed, as far as the object that holds the values says it."""
    spec = document.data.get("spec") if isinstance(document.data, dict) else None
    if document.kind == "HelmRelease":
        named = value_at(spec, ("targetNamespace",)) or document.metadata.get("namespace")
    else:
        named = value_at(spec, ("destination", "namespace"))
    return named if isinstance(named, str) else None


def _nearest_objects(tree: CheckedTree, places: list[str]) -> Mapping[int, list[SetupObject]]:
    """The objects of each setup: those to which no other values stand nearer in the tree of folders."""
    below: dict[str, list[int]] = {}
    for index, place in enumerate(places):
        for folder in _upwards(_folder(place)):
            below.setdefault(folder, []).append(index)
    found: dict[int, list[SetupObject]] = {index: [] for index in range(max(len(places), 1))}
    patches = _patches(tree)
    for document in tree.objects:
        if document.path in patches:
            continue
        nearest = next((below[folder] for folder in _upwards(_folder(document.path)) if folder in below), [0])
        for item in _unfolded(document):
            for index in nearest:
                found[index].append(item)
    return found


def _patches(tree: CheckedTree) -> set[str]:
    """Files that a kustomization takes as patches: parts of objects, and no objects."""
    found: set[str] = set()
    for document in tree.kustomizations:
        entries = [
            entry
            for key in ("patches", "patchesStrategicMerge", "patchesJson6902")
            if isinstance(listed := document.data.get(key), list)
            for entry in listed
        ]
        for entry in entries:
            path = entry.get("path") if isinstance(entry, dict) else entry
            if isinstance(path, str) and "\n" not in path:
                found.add(posixpath.normpath(posixpath.join(_folder(document.path), path)))
    return found


def _unfolded(document: CheckedDocument) -> Iterator[SetupObject]:
    """A list stands for its items."""
    items = document.data.get("items") if document.kind.endswith("List") else None
    if not isinstance(items, list):
        yield SetupObject(document.data, document.source.locate, document.path)
        return
    for index, item in enumerate(items):
        if isinstance(item, dict):
            yield SetupObject(item, _within(document, f"/items/{index}"), document.path)


def _within(document: CheckedDocument, top: str) -> Place:
    def place(pointer: str, note: str | None = None) -> Location:
        return document.source.locate(top + pointer, note)

    return place


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _upwards(folder: str) -> Iterable[str]:
    """The folder, and all above it."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
