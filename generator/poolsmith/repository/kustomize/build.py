"""The objects of a kustomization, as `kustomize build` prints them.

Source: kubernetes-sigs/kustomize api/internal/target/kusttarget.go (the order: resources, generators, components,
transformers) and api/krusty. What lies elsewhere, or is run, is unknown; the rest is built all the same.
"""

from __future__ import annotations

import posixpath
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from poolsmith.record import record
from poolsmith.repository.delivered import Delivered, Unknown, delivered
from poolsmith.repository.kustomize.fields import TRANSFORMER_FIELDS, Place, PlainPlace
from poolsmith.repository.kustomize.generators import generated, name_hash
from poolsmith.repository.kustomize.names import NEEDS_HASH, PREVIOUS, REFERENCES, Reference, configured, follow
from poolsmith.repository.kustomize.transform import transformed
from poolsmith.repository.manifest_files import unfolded
from poolsmith.sources.nested import copied
from poolsmith.sources.pod_template import mapping, mappings, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.repository.manifest_files import CheckedDocument
    from poolsmith.repository.repository_files import RepositoryFiles
    from poolsmith.sources.source_file import SourceFile

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
MOST_NESTED = 50


@record
class Build:
    """`documents` are the kustomizations that were read, `files` all files that were taken in."""

    objects: tuple[Delivered, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    kustomizations: tuple[CheckedDocument, ...] = ()
    files: frozenset[str] = frozenset()


@record(frozen=False)
class _Making:
    """A build on its way."""

    objects: list[Delivered] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    kustomizations: list[CheckedDocument] = field(default_factory=list)
    files: set[str] = field(default_factory=set)

    def take(self, build: Build, *, objects: bool = True) -> None:
        if objects:
            self.objects += build.objects
        self.unknown += build.unknown
        self.kustomizations += build.kustomizations
        self.files |= build.files

    def done(self) -> Build:
        return Build(
            objects=tuple(self.objects),
            unknown=tuple(self.unknown),
            kustomizations=tuple(self.kustomizations),
            files=frozenset(self.files),
        )


class Builder:
    """Builds folders of a repository, each once."""

    def __init__(self, files: RepositoryFiles) -> None:
        self._files = files
        self._built: dict[str, Build] = {}
        self._open: list[str] = []

    def kustomization(self, folder: str) -> CheckedDocument | None:
        """The kustomization of a folder, where it has one that can be read."""
        for name in NAMES:
            path = f"{folder}/{name}" if folder else name
            if self._files.is_file(path):
                documents = self._files.documents(path)
                return next((item for item in documents if isinstance(item.data, dict)), None)
        return None

    def has_kustomization(self, folder: str) -> bool:
        return any(self._files.is_file(f"{folder}/{name}" if folder else name) for name in NAMES)

    def folder(self, folder: str) -> Build:
        """What Flux applies of a folder: its kustomization, or all that is in it and below it."""
        known = self._built.get(folder)
        if known is None:
            if folder in self._open or len(self._open) > MOST_NESTED:
                return Build()
            self._open.append(folder)
            known = self._folder(folder) if self.has_kustomization(folder) else self._all_below(folder)
            self._open.pop()
            self._built[folder] = known
        return known

    def finished(self, build: Build) -> Build:
        """At the very end: hashes behind the names of what is generated, references that follow, no private marks."""
        if not any(_MARKS & item.metadata.keys() for item in build.objects):
            return build
        bodies = [copied(item.data) for item in build.objects]
        for body in bodies:
            metadata = body.get("metadata")
            if isinstance(metadata, dict) and metadata.pop(NEEDS_HASH, False):
                previous = metadata.pop(PREVIOUS, ())
                digest = name_hash(body)
                metadata[PREVIOUS] = [*previous, metadata["name"]]
                metadata["name"] = f"{metadata['name']}-{digest}"
        follow(bodies, (*REFERENCES, *self._configured(build.kustomizations)))
        for body in bodies:
            if isinstance(body.get("metadata"), dict):
                body["metadata"].pop(PREVIOUS, None)
        return replace(build, objects=tuple(map(_with_body, build.objects, bodies)))

    def _configured(self, kustomizations: tuple[CheckedDocument, ...]) -> Iterator[Reference]:
        for document in kustomizations:
            for path in words(document.data.get("configurations")):
                shown = _joined(posixpath.dirname(document.path), path)
                for found in self._files.documents(shown) if shown is not None else ():
                    yield from configured(found.data)

    def overlay(
        self, build: Build, fields: Mapping[str, Any], source: SourceFile, pointer: str, names: Mapping[str, str]
    ) -> Build:
        """`fields` of a kustomization put on what was built; they stand below `pointer` of `source`.

        `names` says under which other names; paths of `components` are those of the repository.
        """
        making = _Making()
        making.take(build)
        self._components(making, fields, PlainPlace(source, pointer, names), "")
        place = PlainPlace(source, pointer, names)
        making.objects = list(transformed(making.objects, fields, place, self._files, "", making.unknown))
        return making.done()

    def _folder(self, folder: str) -> Build:
        document = self.kustomization(folder)
        return Build() if document is None else self._kustomized(document, folder, [])

    def _kustomized(self, document: CheckedDocument, folder: str, below: list[Delivered]) -> Build:
        """`below` are the objects that a component is put on."""
        making = _Making()
        making.kustomizations.append(document)
        making.files.add(document.path)
        data, place = document.data, Place(document)
        for key in ("resources", "bases"):
            for index, path in enumerate(data.get(key) or () if isinstance(data.get(key), list) else ()):
                if isinstance(path, str):
                    self._resource(making, folder, path, place, f"/{key}/{index}")
        making.objects[:0] = below
        making.objects = list(generated(making.objects, data, place, self._files, folder, making.unknown))
        self._components(making, data, place, folder)
        self._unresolved(making, data, place)
        making.objects = list(transformed(making.objects, data, place, self._files, folder, making.unknown))
        making.files.update(_patch_paths(data, folder))
        return making.done()

    def _components(self, making: _Making, data: Mapping[str, Any], place: Place, folder: str) -> None:
        listed = data.get("components")
        for index, path in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(path, str):
                continue
            shown = _joined(folder, path)
            document = self.kustomization(shown) if shown is not None else None
            if document is None or shown is None:
                making.unknown.append(_elsewhere(place, f"/components/{index}", path))
                continue
            if shown in self._open:
                continue
            self._open.append(shown)
            build = self._kustomized(document, shown, making.objects)
            self._open.pop()
            making.objects = []
            making.take(build)

    def _resource(self, making: _Making, folder: str, path: str, place: Place, pointer: str) -> None:
        shown = _joined(folder, path)
        if shown is None:
            making.unknown.append(_elsewhere(place, pointer, path))
        elif self._files.is_file(shown):
            making.files.add(shown)
            for document in self._files.documents(shown):
                making.objects += self._objects(document)
        elif self._files.is_folder(shown) and self.has_kustomization(shown):
            making.take(self.folder(shown))
        else:
            making.unknown.append(_elsewhere(place, pointer, path))

    def _objects(self, document: CheckedDocument) -> Iterator[Delivered]:
        if not document.is_object:
            return
        for pointer, data in unfolded(document):
            if not pointer:
                yield delivered(document)
            elif isinstance(data.get("kind"), str):
                yield delivered(document).item(pointer, data)

    def _all_below(self, folder: str) -> Build:
        """As Flux writes the kustomization that a folder lacks: folders that have one are built, files are taken."""
        making = _Making()
        for path in self._files.files_in(folder):
            if path.endswith((".yaml", ".yml")):
                documents = self._files.documents(path)
                if documents and all(document.is_object for document in documents):
                    making.files.add(path)
                    for document in documents:
                        making.objects += self._objects(document)
        for below in self._files.folders_in(folder):
            if posixpath.basename(below) != ".git":
                making.take(self.folder(below))
        return making.done()

    def _unresolved(self, making: _Making, data: Mapping[str, Any], place: Place) -> None:
        for key in ("generators", "transformers", "validators"):
            for index, path in enumerate(words(data.get(key))):
                if key != "validators":
                    making.unknown.append(
                        Unknown(place.locate(f"/{key}/{index}"), f"what `{_first_line(path)}` of `{key}` changes")
                    )


_MARKS = frozenset((PREVIOUS, NEEDS_HASH))


def _with_body(item: Delivered, body: Any) -> Delivered:
    return item if body == item.data else delivered(item, body)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:60]


def _joined(folder: str, path: str) -> str | None:
    """A path of the repository; None of an address, and of a path that leads out."""
    if "://" in path or path.startswith(("git@", "github.com/", "git::")) or "?ref=" in path:
        return None
    found = posixpath.normpath(posixpath.join(folder, path))
    return None if found.startswith("..") or "\n" in path else "" if found == "." else found


def _elsewhere(place: Place, pointer: str, path: str) -> Unknown:
    return Unknown(place.locate(pointer), f"what `{_first_line(path)}` brings, which is not among the files")


def _patch_paths(data: Mapping[str, Any], folder: str) -> Iterator[str]:
    for key in TRANSFORMER_FIELDS:
        for entry in data.get(key) or () if isinstance(data.get(key), list) else ():
            path = mapping(entry).get("path") if isinstance(entry, dict) else entry
            shown = _joined(folder, path) if isinstance(path, str) else None
            if shown is not None:
                yield shown


def declared_files(data: Mapping[str, Any], folder: str) -> Iterator[str]:
    """The files that a kustomization takes as parts: patches, and files of generators."""
    yield from _patch_paths(data, folder)
    for key in ("configMapGenerator", "secretGenerator"):
        for entry in mappings(data.get(key)):
            for listed in (*words(entry.get("files")), *words(entry.get("envs"))):
                shown = _joined(folder, listed.rpartition("=")[2])
                if shown is not None:
                    yield shown
