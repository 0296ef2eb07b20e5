"""The files that a single one is read with: what delivers it, what it names, and what says its release.

They are looked for in its folder, in those above it, and in the folders beside these: never in the whole repository.
Texts are searched before anything is parsed.
"""

from __future__ import annotations

import os
import posixpath
import stat
from typing import TYPE_CHECKING

from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.repository.manifest_files import YAML_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_MOST_LEVELS = 8
_LEVELS_WITH_FOLDERS = 4
_MOST_FILES = 80
_MOST_FOLDERS = 40
_MOST_BYTES = 1 << 18
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")
_INSTALLING = (b"HelmRelease", b"Application", b"HelmChart", b"helmCharts", b"releases:", b"dependencies:", b"helm:")
"""What files have in them that install a chart."""


class NearFiles:
    """Of the files of one run; each text is read once. Paths are those of `files`, and `root` is their top.

    `mentions` says of a text whether it may be about what is looked for.
    """

    def __init__(self, root: str, files: RepositoryFiles, mentions: Callable[[bytes], bool]) -> None:
        self._mentions = mentions
        self._root = root
        self._files = files
        self._texts: dict[str, bytes] = {}

    def of(self, path: str) -> tuple[str, ...]:
        """Without the file itself, the nearest first."""
        documents = self._files.documents(path)
        is_object = any(item.is_object for item in documents)
        found = dict.fromkeys(self._in_folder(path))
        found |= dict.fromkeys(self._above(path, with_installers=not is_object))
        for kind, name in {reference for item in documents for reference in _references(item)}:
            found |= dict.fromkeys(self._holding(path, kind.encode(), name.encode()))
        if documents and not is_object:
            found |= dict.fromkeys(self._beside(path))
        found.pop(path, None)
        return tuple(found)

    def _in_folder(self, path: str) -> Iterator[str]:
        name = posixpath.basename(path).encode()
        for other in self._yaml_of(posixpath.dirname(path)):
            text = self._text(other)
            is_installer = self._mentions(text) and any(word in text for word in _INSTALLING)
            if other.rpartition("/")[2] in _KUSTOMIZATIONS or name in text or is_installer:
                yield other

    def _above(self, path: str, *, with_installers: bool) -> Iterator[str]:
        """Kustomizations of kustomize and of Flux that name the file or its folder; and what installs a chart, for a
        file that may hold values of it."""
        home = posixpath.dirname(path)
        for folder in list(_upwards(path))[1:]:
            name = posixpath.relpath(path, folder or ".").encode()
            for other in self._yaml_of(folder):
                text = self._text(other)
                is_of_folder = "/" in home and home.encode() in text and b"Kustomization" in text
                is_installer = with_installers and self._mentions(text) and any(word in text for word in _INSTALLING)
                if name in text or is_of_folder or is_installer:
                    yield other

    def _beside(self, path: str) -> Iterator[str]:
        """What names the file, with the folder that it is in."""
        wanted = "/".join(path.split("/")[-2:]).encode()
        for other in self._around(path):
            if wanted in (text := self._text(other)) and any(word in text for word in _INSTALLING):
                yield other

    def _holding(self, path: str, kind: bytes, name: bytes) -> Iterator[str]:
        """The nearest folder's files that may hold an object of a kind and a name."""
        near = posixpath.dirname(path)
        for other in (*self._yaml_of(near), *self._around(path)):
            text = self._text(other)
            if kind in text and name in text:
                yield other

    def _around(self, path: str) -> Iterator[str]:
        """The files of folders above, and of the folders in these."""
        for folder in list(_upwards(path))[:_LEVELS_WITH_FOLDERS]:
            yield from self._yaml_of(folder)
            for beside in self._files.folders_in(folder)[:_MOST_FOLDERS]:
                if not beside.rpartition("/")[2].startswith("."):
                    yield from self._yaml_of(beside)

    def _yaml_of(self, folder: str) -> tuple[str, ...]:
        return tuple(item for item in self._files.files_in(folder) if item.endswith(YAML_ENDINGS))[:_MOST_FILES]

    def _text(self, path: str) -> bytes:
        """Empty of what is no small regular file."""
        known = self._texts.get(path)
        if known is None:
            known = self._texts[path] = self._read(path)
        return known

    def _read(self, path: str) -> bytes:
        absolute = os.path.join(self._root, path)  # noqa: PTH118 - many small files
        try:
            state = os.lstat(absolute)
            if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
                return b""
            with open(absolute, "rb") as stream:  # noqa: PTH123 - as above
                return stream.read()
        except (OSError, ValueError):
            return b""


def _upwards(path: str) -> Iterator[str]:
    """The folders that a file is in, from the innermost to the top of the run."""
    folder = posixpath.dirname(path)
    for _ in range(_MOST_LEVELS):
        yield folder
        if not folder or folder == "/":
            return
        folder = posixpath.dirname(folder)


def _references(item: CheckedDocument) -> Iterator[tuple[str, str]]:
    """Kind and name of what a HelmRelease takes its chart and its values from."""
    if item.kind != "HelmRelease":
        return
    spec = mapping(item.data.get("spec"))
    for reference in (mapping(spec.get("chartRef")), *mappings(spec.get("valuesFrom"))):
        kind, name = word(reference.get("kind")), word(reference.get("name"))
        if kind and name:
            yield kind, name
