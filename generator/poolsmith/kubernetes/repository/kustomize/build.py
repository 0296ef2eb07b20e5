"""The objects of a kustomization, as `kustomize build` prints them.

Source: kubernetes-sigs/kustomize api/internal/target/kusttarget.go (the order: resources, generators, components,
transformers). What lies elsewhere, or is run, is unknown; the rest is built all the same.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import whole_file
from poolsmith.core.sources.pod_template import mapping, words
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.delivered import Unknown, delivered
from poolsmith.kubernetes.repository.kustomize import accumulator, finish, generators, transform
from poolsmith.kubernetes.repository.kustomize.item import Item, RefusedError, as_texts, has_old_words
from poolsmith.kubernetes.repository.kustomize.kustomization_file import (
    FolderFiles,
    MissingError,
    Place,
    PlainPlace,
    declared_files,
    first_line,
    joined,
    wrong_fields,
)
from poolsmith.kubernetes.repository.kustomize.transformer_config import (
    TransformerConfig,
    default_config,
    with_config,
    with_written,
)
from poolsmith.kubernetes.repository.manifest_files import (
    KUSTOMIZATION_NAMES,
    YAML_ENDINGS,
    documents_of,
    has_marks,
    unfolded,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.kustomize.accumulator import Accumulator, Build
    from poolsmith.kubernetes.repository.kustomize.transform import Run
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

__all__ = ["NAMES", "Builder", "declared_files"]

NAMES = KUSTOMIZATION_NAMES
MOST_NESTED = 50


class Builder:
    """Builds folders of a repository, each once.

    `is_strict`: files outside of a kustomization's folder are refused, as `kustomize build` and Argo CD do by default.
    """

    def __init__(self, files: RepositoryFiles, *, is_strict: bool = False) -> None:
        self._files = files
        self._is_strict = is_strict
        self._raw: dict[str, Build] = {}
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
        """What is applied of a folder: its kustomization, or, as Flux does, all that is in it and below it."""
        known = self._built.get(folder)
        if known is None:
            known = self._built[folder] = _finished(self._unfinished(folder))
        return known

    def overlay(
        self, build: Build, fields: Mapping[str, Any], source: SourceFile, pointer: str, names: Mapping[str, str]
    ) -> Build:
        """`fields` of a kustomization put on what was built; they stand below `pointer` of `source`.

        `names` says under which other names; paths of `components` are those of the repository.
        """
        place = PlainPlace(source, pointer, names)
        making = accumulator.Accumulator()
        making.take(build, place, "")
        making.is_partial |= has_marks(str(fields))  # an engine puts something in before the patches are for anybody
        if not making.config.name_prefix:
            making.config = default_config()
        self._components(making, fields, place, "")
        files = FolderFiles(self._files, "", is_strict=False)
        making.items = transform.transformed(making.items, fields, _run(making, place, files))
        return _finished(making.done(build.top))

    def _unfinished(self, folder: str) -> Build:
        known = self._raw.get(folder)
        if known is None:
            if folder in self._open or len(self._open) > MOST_NESTED:
                return accumulator.Build()
            self._open.append(folder)
            known = self._folder(folder) if self.has_kustomization(folder) else self._all_below(folder)
            self._open.pop()
            self._raw[folder] = known
        return known

    def _folder(self, folder: str) -> Build:
        document = self.kustomization(folder)
        making = accumulator.Accumulator()
        if document is None:
            self._tell_formless(making, folder)
            return making.done({})
        self._kustomized(making, document, folder)
        return making.done(document.data)

    def _tell_formless(self, making: Accumulator, folder: str) -> None:
        """A kustomization that is empty, or a list: kustomize stops. Of one that can't be read nothing is known."""
        paths = (posixpath.join(folder, name) for name in NAMES)
        file = next(self._files.file(path) for path in paths if self._files.is_file(path))
        if file.form is None and not file.problems and file.text is not None:
            why = "a kustomization has to be a mapping" if file.documents else "this kustomization is empty"
            making.halt(transform.halted(whole_file(file.path), why))

    def _kustomized(self, making: Accumulator, document: CheckedDocument, folder: str) -> None:
        """A component finds the objects of others in `making`."""
        making.kustomizations.append(document)
        making.files.add(document.path)
        data, place = document.data, Place(document)
        files = FolderFiles(self._files, folder, is_strict=self._is_strict)
        if len(several := [name for name in NAMES if self._files.is_file(posixpath.join(folder, name))]) > 1:
            making.refuse(place, "", f"{' and '.join(several)} stand in one folder")
        for pointer, why in wrong_fields(data):
            making.refuse(place, pointer, why)
        for key in ("resources", "bases"):
            for index, path in enumerate(_listed(data, key)):
                self._resource(making, files, path, place, f"/{key}/{index}")
        making.is_partial |= bool(data.get("helmCharts") or data.get("helmChartInflationGenerator"))
        making.config = self._configured(making, data, place, files)
        run = _run(making, place, files)
        for key, kind in generators.KINDS.items():
            for index, entry in enumerate(_listed(data, key)):
                pointer = f"/{key}/{index}"
                common = data.get("generatorOptions")
                change = partial(
                    generators.generated,
                    kind=kind,
                    entry=entry,
                    common=common,
                    place=place,
                    pointer=pointer,
                    files=files,
                )
                told = len(making.unknown)
                making.items = run.tried(making.items, pointer, change)
                making.is_partial |= len(making.unknown) > told
        self._plugins(making, data, "generators", run)
        self._components(making, data, place, folder)
        run = _run(making, place, files)
        making.items = transform.transformed(making.items, data, run)
        self._plugins(making, data, "transformers", run)
        making.variables += [
            (place, f"/vars/{index}", entry)
            for index, entry in enumerate(_listed(data, "vars"))
            if isinstance(entry, dict)
        ]
        making.files |= files.taken

    def _configured(
        self, making: Accumulator, data: Mapping[str, Any], place: Place, files: FolderFiles
    ) -> TransformerConfig:
        config = with_config(making.config, default_config())
        for index, path in enumerate(words(data.get("configurations"))):
            pointer = f"/configurations/{index}"
            try:
                config = with_written(config, [document.data for document in files.documents(path)])
            except MissingError as error:
                making.unknown.append(Unknown(place.locate(pointer), f"what follows from {error}"))
            except RefusedError as error:
                making.refuse(place, pointer, str(error))
        if data.get("openapi"):
            making.unknown.append(Unknown(place.locate("/openapi"), "how patches merge lists by a schema of your own"))
        return config

    def _components(self, making: Accumulator, data: Mapping[str, Any], place: Place, folder: str) -> None:
        for index, path in enumerate(_listed(data, "components")):
            pointer = f"/components/{index}"
            shown = joined(folder, path) if isinstance(path, str) else None
            document = self.kustomization(shown) if shown is not None else None
            if document is None or shown is None:
                making.lack(place, pointer, path)
                continue
            if shown in self._open or len(self._open) > MOST_NESTED:
                making.refuse(place, pointer, "it takes in itself")
                continue
            if document.data.get("kind") != "Component":
                making.refuse(place, pointer, f"`{first_line(path)}` is no Component")
            self._open.append(shown)
            self._kustomized(making, document, shown)
            self._open.pop()

    def _resource(self, making: Accumulator, files: FolderFiles, path: Any, place: Place, pointer: str) -> None:
        shown = joined(files.folder, path) if isinstance(path, str) else None
        if shown is None or not isinstance(path, str):
            making.lack(place, pointer, path)
        elif self._files.is_file(shown):
            try:
                files.path(path)
            except RefusedError as error:
                making.refuse(place, pointer, str(error))
            making.add(list(self._items(making, shown, place, pointer)), place, pointer)
        elif self._files.is_folder(shown) and self.has_kustomization(shown):
            if shown in self._open:
                making.refuse(place, pointer, "it takes in itself")
                return
            build = self._unfinished(shown)
            if build.top.get("kind") == "Component":
                making.refuse(place, pointer, f"`{first_line(path)}` is a Component")
            making.take(build, place, pointer)
        elif self._files.is_folder(shown) and self._files.files_in(shown):
            making.refuse(place, pointer, f"`{first_line(path)}` is a folder without a kustomization")
        else:
            making.lack(place, pointer, path)

    def _items(self, making: Accumulator, shown: str, place: Place, pointer: str) -> Iterator[Item]:
        """The objects of a file."""
        file = self._files.file(shown)
        if file.form is not None or file.problems or file.text is None:
            why = "is none that kustomize reads" if file.form is None else f"is {file.form.value}"
            making.unknown.append(Unknown(place.locate(pointer), f"what `{first_line(shown)}` brings, which {why}"))
            making.is_partial = True
        has_words = has_old_words(file.text or "")
        documents = file.documents
        if not documents and file.text is not None and not shown.endswith(YAML_ENDINGS):
            try:
                documents = tuple(documents_of(shown, file.text, read_documents(file.text, [])))
            except YamlProblem:
                making.refuse(place, pointer, f"`{first_line(shown)}` is no YAML")
        for read in documents:
            document = as_texts(read) if has_words and isinstance(read.data, dict) else read
            if document.data == {}:
                continue
            for where, data in unfolded(document):
                name = mapping(mapping(data).get("metadata")).get("name")
                if not (isinstance(data, dict) and isinstance(data.get("kind"), str) and name not in (None, "")):
                    making.refuse(place, pointer, f"a document of `{first_line(shown)}` has no kind, or no name")
                    continue
                yield Item(delivered(document).item(where, data) if where else delivered(document))

    def _all_below(self, folder: str) -> Build:
        """As Flux writes the kustomization that a folder lacks: folders that have one are built, files are taken."""
        making = accumulator.Accumulator(config=default_config())
        for path in self._files.files_in(folder):
            if path.endswith((".yaml", ".yml")):
                documents = self._files.documents(path)
                if documents and all(document.is_object for document in documents):
                    making.files.add(path)
                    for item in self._items(making, path, Place(documents[0]), ""):
                        making.add((item,), Place(item.object), "/metadata/name")
        for below in self._files.folders_in(folder):
            if posixpath.basename(below) != ".git":
                build = self._unfinished(below)
                if build.items:
                    making.take(build, Place((*build.kustomizations, *(item.object for item in build.items))[0]), "")
                elif build.unknown:
                    making.take_told(build)
        return making.done({})

    def _plugins(self, making: Accumulator, data: Mapping[str, Any], key: str, run: Run) -> None:
        """`generators` and `transformers`: texts, files and folders that say what is done."""
        for index, path in enumerate(words(data.get(key))):
            from poolsmith.kubernetes.repository.kustomize.plugins import applied  # on demand

            pointer = f"/{key}/{index}"
            for source, config in self._plugin_objects(making, path, run, pointer):
                own = transform.Run(
                    place=PlainPlace(*source, {}),
                    files=run.files,
                    config=run.config,
                    unknown=making.unknown,
                    refused=making.refused,
                    is_partial=making.is_partial,
                )
                making.items = own.tried(
                    making.items, "", partial(applied, data=config, place=own.place, files=own.files)
                )

    def _plugin_objects(
        self, making: Accumulator, path: str, run: Run, pointer: str
    ) -> Iterator[tuple[tuple[SourceFile, str], Any]]:
        if "\n" in path or path.lstrip().startswith("{"):
            from poolsmith.core.sources.inner_text import InnerText  # on demand

            try:
                documents = read_documents(path, [])
            except YamlProblem:
                making.refuse(run.place, pointer, "a plugin is no YAML")
                return
            for at, data in enumerate(documents):
                if isinstance(data, dict):
                    source = InnerText(run.place.source, run.place.pointer(pointer), path, data, document=at)
                    yield (source, ""), data
            return
        inner = accumulator.Accumulator(config=run.config)
        self._resource(inner, run.files, path, run.place, pointer)
        making.unknown += inner.unknown
        making.refused += inner.refused
        making.files |= inner.files
        for item in inner.items:
            yield (item.object.source, ""), item.data


def _run(making: Accumulator, place: Place, files: FolderFiles) -> Run:
    return transform.Run(
        place=place,
        files=files,
        config=making.config,
        unknown=making.unknown,
        refused=making.refused,
        is_partial=making.is_partial,
    )


def _finished(build: Build) -> Build:
    """With the objects as they are printed."""
    items = finish.hashed(list(build.items))
    unknown, refused = list(build.unknown), list(build.refused)
    try:
        items = finish.named(items, build.config.name_references)
    except RefusedError as error:
        place = next((Place(document) for document in build.kustomizations), None)
        if place is not None:
            told = transform.stopped(place, "", error)
            unknown.append(told)
            refused.append(told)
    if build.variables:
        from poolsmith.kubernetes.repository.kustomize.variables import resolved  # on demand

        items = resolved(items, build.variables, build.config.var_reference, unknown, refused)
    objects = finish.printed(items, build.top)
    if len(unknown) == len(refused):  # what is unknown besides may be what a refused line is for
        unknown = refused = [replace(item, stops=True) for item in refused]
    return replace(build, objects=tuple(objects), unknown=tuple(unknown), refused=tuple(refused))


def _listed(data: Mapping[str, Any], key: str) -> list[Any]:
    listed = data.get(key)
    return listed if isinstance(listed, list) else []
