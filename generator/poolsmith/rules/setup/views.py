"""Files that anyone wrote, as the setups of clusters: Helm values, with the objects that belong to them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.catalog import Catalog
from poolsmith.repository.kustomize_roots import folder_of, patch_files, roots_of_files
from poolsmith.repository.manifest_files import unfolded
from poolsmith.rules.setup.view import SetupObject, SetupValues, SetupView
from poolsmith.sources.pointer import join
from poolsmith.sources.stream_places import StreamPlaces
from poolsmith.values.places import parsed_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.diagnostics import Location
    from poolsmith.repository.manifest_files import CheckedTree
    from poolsmith.rules.setup.given_nodes import GivenNodes
    from poolsmith.rules.setup.view import Place
    from poolsmith.values.places import FoundValues

_SEVERAL = 2


def views_of(
    tree: CheckedTree, found: list[FoundValues], release: str | None, given: GivenNodes | None
) -> Iterator[SetupView]:
    """One for each of the values found; without any, one for all objects."""
    from poolsmith.catalog.value_paths import value_paths  # on demand

    catalog = Catalog()

    siblings = Counter(folder_of(item.document.path) for item in found if item.is_file)
    patched = {_object_of(item) for item in found if item.partial}
    nearest = _nearest_objects(tree, [item.document.path for item in found])
    roots = roots_of_files(tree)
    for index, item in enumerate(found) if found else [(0, None)]:
        written = item.version if item is not None else None
        known = value_paths().release(written or "") or value_paths().release(release or "")
        tag = known.tag if known is not None else None
        several = item is not None and (
            siblings[folder_of(item.document.path)] > 1 if item.is_file else _object_of(item) in patched
        )
        for objects in _by_root(nearest[index], roots, item.document.path if item is not None else ""):
            yield SetupView(
                catalog=catalog,
                tag=tag,
                operator=catalog.releases.near(tag) if tag is not None else None,
                distribution=given.distribution if given is not None else None,
                kubernetes=given.kubernetes if given is not None else None,
                nodes=given.nodes if given is not None else None,
                bystanders=given.bystanders if given is not None else (),
                values=policy_values(objects)
                if item is None
                else _values(item, known.line_defaults if known else None, several=several),
                objects=tuple(objects),
                namespace=None if item is None else item.namespace,
            )


def _by_root(
    objects: list[SetupObject], roots: Mapping[str, frozenset[str]], values: str
) -> Iterator[list[SetupObject]]:
    """Values that several kustomizations take in are those of several clusters: each with its own objects."""
    shared = roots.get(values, frozenset())
    if len(shared) < _SEVERAL:
        yield objects
        return
    for root in sorted(shared):
        yield [
            item for item in objects if root in roots.get(item.file, ()) or shared.isdisjoint(roots.get(item.file, ()))
        ]


def _values(found: FoundValues, defaults: dict[str, Any] | None, *, several: bool) -> SetupValues | None:
    """`several`: more values files in the folder, or a patch of the release; nobody knows what comes of them."""
    values = parsed_values(found)
    if values is None:
        return None
    source, top = found.document.source, found.pointer
    is_text = isinstance(found.values, str)
    first = join("", *list(found.document.data)[:1]) if isinstance(found.document.data, dict) else ""

    def place(pointer: str, note: str | None = None) -> Location:
        located = source.locate(top if is_text else top + pointer, note)
        if located.span.start is None and first:
            return replace(source.locate(first, note), pointer=pointer)
        return located

    return SetupValues(
        values=values,
        defaults=defaults,
        place=place,
        partial=found.partial or several or defaults is None,
        file=found.document.path,
    )


def policy_values(objects: list[SetupObject]) -> SetupValues | None:
    """What a ClusterPolicy says, where there are no values: its fields are named as the values that they come from."""
    policies = [item for item in objects if item.kind == "ClusterPolicy" and item.group == "nvidia.com"]
    if len(policies) != 1:
        return None
    policy = policies[0]
    driver = policy.spec.get("driver")
    driver = driver if isinstance(driver, dict) else {}
    crd = {"enabled": driver.get("useNvidiaDriverCRD") is True, "deployDefaultCR": False}

    def place(pointer: str, note: str | None = None) -> Location:
        stated = pointer.replace("/driver/nvidiaDriverCRD/enabled", "/driver/useNvidiaDriverCRD")
        return policy.place(f"/spec{stated}", note)

    return SetupValues(
        values={**policy.spec, "driver": {**driver, "nvidiaDriverCRD": crd}},
        defaults=None,
        place=place,
        partial=True,
        of_policy=True,
        file=policy.file,
    )


def _object_of(found: FoundValues) -> tuple[str, str]:
    return found.document.kind, str(found.document.metadata.get("name"))


def _nearest_objects(tree: CheckedTree, places: list[str]) -> Mapping[int, list[SetupObject]]:
    """The objects of each setup: those to which no other values stand nearer in the tree of folders."""
    below: dict[str, list[int]] = {}
    for index, place in enumerate(places):
        for folder in _upwards(folder_of(place)):
            below.setdefault(folder, []).append(index)
    found: dict[int, list[SetupObject]] = {index: [] for index in range(max(len(places), 1))}
    patches = patch_files(tree)
    streams: dict[str, StreamPlaces] = {}
    for document in tree.objects:
        if document.path in patches:
            continue
        nearest = next((below[folder] for folder in _upwards(folder_of(document.path)) if folder in below), [0])
        if document.path not in streams:
            streams[document.path] = StreamPlaces(document.path, document.text)
        for top, data in unfolded(document):
            item = SetupObject(data, _place(streams[document.path], document.index, top), document.path)
            for index in nearest:
                found[index].append(item)
    return found


def _place(places: StreamPlaces, document: int, top: str) -> Place:
    def place(pointer: str, note: str | None = None) -> Location:
        return places.locate(document, top + pointer, note)

    return place


def _upwards(folder: str) -> Iterable[str]:
    """The folder, and all above it."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
