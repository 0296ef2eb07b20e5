"""The files of the operator's repository that entries are made from; untrusted input.

What Kubernetes would not take is no manifest. Whatever is wrong is a diagnostic with its place in the repository;
links are followed inside of it only, and what is read is bounded.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.pointer import mapped
from poolsmith.gpu.api_server import judge
from poolsmith.kubernetes.objects_file import MAX_FINDINGS, read_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from poolsmith.kubernetes.objects_file import FileObject

MAX_FILE_BYTES = 2 << 20
MAX_TOTAL_BYTES = 16 << 20
MAX_FILES = 1_000
_MAX_FOLDERS = 3
_FILLED_IN = "FILLED_BY_OPERATOR"
YAML_ENDINGS = (".yaml", ".yml")


@record(kw_only=False)
class SourcePlace:
    """Where something stands: below the top of the repository, and in folders that hold a part of it."""

    path: str
    short: str

    def __str__(self) -> str:
        return f"{self.path}/ (or {self.short}/)"


MANIFESTS = SourcePlace("assets", "operands")
RENDERED = SourcePlace("internal/state/testdata/golden", "golden-driver")
DEFINITIONS = SourcePlace("deployments/gpu-operator/crds", "crds")
CHART = SourcePlace("deployments/gpu-operator", ".")


class OperatorRepository:
    """A checkout or an unpacked archive of it. `diagnostics` are all that was wrong so far."""

    def __init__(self, root: Path, release: str) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._root = root
        self._release = release
        self._tree = InputTree(root)
        self._files = self._bytes = 0
        self._objects: dict[str, list[FileObject]] = {}

    def folder_of(self, place: SourcePlace) -> str | None:
        """The one of the place's two folders that is there."""
        paths = (place.path, place.short)
        return next((path for path in paths if os.path.isdir(self._root / path)), None)  # noqa: PTH112 - never raises

    def names(self, folder: str) -> tuple[str, ...]:
        """The files below a folder by their paths in it."""
        return tuple(sorted(path.removeprefix(f"{folder}/") for path in self._walk(folder)))

    def manifests(self, folder: str, names: tuple[str, ...]) -> dict[str, bytes]:
        """The texts of files whose objects Kubernetes would take, by their paths in the folder."""
        found: dict[str, bytes] = {}
        for name in names:
            text = self._text(f"{folder}/{name}")
            if text is not None and self._is_sound(f"{folder}/{name}"):
                found[name] = text.encode()
        return found

    def texts(self, folder: str, names: Iterable[str]) -> dict[str, bytes]:
        """The texts of files as they are, templates for example, by their paths in the folder."""
        found = {name: self._text(f"{folder}/{name}") for name in names}
        return {name: text.encode() for name, text in found.items() if text is not None}

    def kinds(self, path: str) -> tuple[str, ...]:
        """The kinds of the objects in a file that `manifests` has read."""
        return tuple(item.kind for item in self._objects[path])

    def chart(self) -> dict[str, object]:
        """Chart.yaml; empty where there is none."""
        folder = self.folder_of(CHART) or CHART.path
        path = (PurePosixPath(folder) / "Chart.yaml").as_posix()
        if not os.path.lexists(self._root / path):
            return {}
        found = self._tree.read_profile(path)
        if isinstance(found, Diagnostic):
            self.diagnostics.append(found)
            return {}
        self.diagnostics.extend(found.problems)
        return dict(found.data)

    def _walk(self, folder: str, depth: int = 0) -> Iterator[str]:
        listing = self._tree.listing(folder)
        self.diagnostics.extend(listing.problems)
        for name in listing.files:
            yield f"{folder}/{name}"
        for name in listing.folders:
            path = f"{folder}/{name}"
            if depth < _MAX_FOLDERS:
                yield from self._walk(path, depth + 1)
            else:
                self._limit(path, f"folders nested deeper than {_MAX_FOLDERS} are not read")

    def _text(self, path: str) -> str | None:
        """None once there is more than a repository has, which is told once."""
        if self._files > MAX_FILES or self._bytes > MAX_TOTAL_BYTES:
            return None
        text = self._tree.read_text(path, limit=MAX_FILE_BYTES)
        if isinstance(text, Diagnostic):
            self.diagnostics.append(text)
            return None
        self._files += 1
        self._bytes += len(text.encode())
        if self._files <= MAX_FILES and self._bytes <= MAX_TOTAL_BYTES:
            return text
        self._limit(path, f"more than {MAX_FILES:,} files or {MAX_TOTAL_BYTES:,} bytes are not read")
        return None

    def _limit(self, path: str, message: str) -> None:
        help_text = "name the top folder of the gpu-operator's repository"
        self.diagnostics.append(diagnose(reading.INPUT_LIMIT, message, whole_file(path), help=help_text))

    def _is_sound(self, path: str) -> bool:
        found = read_objects(self._root / path, path)
        before = len(self.diagnostics)
        self.diagnostics.extend(found.problems)
        for item in found.objects:
            if len(self.diagnostics) > MAX_FINDINGS:
                break
            for violation in judge(_filled_in(item.data), self._release).violations:
                message = f"{item.name}: {violation.text}"
                place = item.locate(violation.pointer)
                self.diagnostics.append(diagnose(violation.rule, message, place, help=violation.help))
        self._objects[path] = list(found.objects)
        return len(self.diagnostics) == before


def _filled_in(node: Any) -> Any:
    """A manifest with a name that any field takes where the operator puts its own."""
    return mapped(node, lambda item: "filled-in" if item == _FILLED_IN else item)
