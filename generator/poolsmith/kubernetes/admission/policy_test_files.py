"""Which policies and test files there are below some paths, read."""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, NoInputError, UsageError, diagnose, whole_file
from poolsmith.core.diagnostics.codes import policy as codes
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.shape.documents import KindDocument, load_kind_document
from poolsmith.core.sources.input_tree import InputTree, walk
from poolsmith.kubernetes.admission.policy_test import KIND, PolicyTestSpec
from poolsmith.kubernetes.objects_file import PlacedObject, placed_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ENDING = ".test.yaml"
MAX_BYTES = 1 << 20
_YAML = (".yaml", ".yml")
_ADMISSION = "admission"


@record(kw_only=False)
class TestFile:
    """A test file, and the files of the policies that it is about."""

    document: KindDocument[PolicyTestSpec]
    policies: tuple[str, ...]

    @property
    def path(self) -> str:
        return self.document.file.path


@record(frozen=False, kw_only=False)
class TestFiles:
    """All that is read below a root; paths are relative to it. `policies` are the files that want coverage."""

    tree: InputTree
    tests: list[TestFile] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    _objects: dict[str, tuple[PlacedObject, ...]] = field(default_factory=dict)
    _listed: dict[str, frozenset[str]] = field(default_factory=dict)

    def objects(self, paths: Iterable[str]) -> list[PlacedObject]:
        """The objects of files, each file read once."""
        return [item for path in paths for item in self._of(path)]

    def take(self, policies: Sequence[str], tests: Sequence[str]) -> None:
        """Files by their paths below the root."""
        self.policies.extend(policies)
        for path in tests:
            document, problems = load_kind_document(self.tree, path, KIND, PolicyTestSpec)
            self.problems.extend(problems)
            if document is not None:
                self._add(document, policies)

    def _add(self, document: KindDocument[PolicyTestSpec], policies: Sequence[str]) -> None:
        path = document.file.path
        folder = path.rpartition("/")[0]
        named = [f"{folder}/{name}" if folder else name for name in document.spec.policies]
        beside = tuple(item for item in policies if item.rpartition("/")[0] == folder) or self._in(folder)
        missing = [index for index, name in enumerate(named) if not self._is_there(name)]
        for index in missing:
            pointer = f"/spec/policies/{index}"
            message = f"there is no file `{shorten(document.spec.policies[index])}` beside this one"
            self.problems.append(
                diagnose(codes.INVALID_POLICY_TEST, message, document.file.locate(pointer), subject=path)
            )
        if not named and not beside:
            message = "there is no policy beside this file"
            self.problems.append(
                diagnose(codes.INVALID_POLICY_TEST, message, whole_file(path), help="name files in `spec.policies`")
            )
        elif not missing:
            self.tests.append(TestFile(document, tuple(named) or beside))

    def _is_there(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if folder not in self._listed:
            self._listed[folder] = frozenset(self.tree.listing(folder).files)
        return name in self._listed[folder]

    def _in(self, folder: str) -> tuple[str, ...]:
        listing = self.tree.listing(folder)
        names = (name for name in listing.files if name.endswith(_YAML) and not name.endswith(ENDING))
        return tuple(f"{folder}/{name}" if folder else name for name in names)

    def _of(self, path: str) -> tuple[PlacedObject, ...]:
        if path not in self._objects:
            text = self.tree.read_text(path, limit=MAX_BYTES)
            found = text if isinstance(text, Diagnostic) else placed_objects(path, text)
            if isinstance(found, Diagnostic):
                self.problems.append(found)
                found = ()
            self._objects[path] = found
        return self._objects[path]


def find_test_files(root: Path, paths: Sequence[Path]) -> TestFiles:
    """Below files and folders. A folder that has one named `admission` stands for that one.

    Raises UsageError for a path that does not exist, NoInputError when there is nothing at all.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist")
    whole = os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
    found = [os.path.abspath(item) for path in paths for item in _yaml_below(path)]  # noqa: PTH100
    if not found:
        raise NoInputError("there is no policy in " + ", ".join(str(path) for path in paths))
    inside = all(item.startswith(whole + os.sep) for item in found)
    base = whole if inside else os.path.commonpath([os.path.dirname(item) for item in found])  # noqa: PTH120
    names = sorted({os.path.relpath(item, base).replace(os.sep, "/") for item in found})
    files = TestFiles(InputTree(Path(base)))
    files.take([name for name in names if not name.endswith(ENDING)], [name for name in names if name.endswith(ENDING)])
    return files


def _yaml_below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    start = path / _ADMISSION if (path / _ADMISSION).is_dir() else path
    for folder, names in walk(str(start), lambda name: name.startswith(".")):
        yield from (Path(folder, name) for name in names if name.endswith(_YAML) and not name.startswith("."))
        yield from (Path(folder) / name for name in sorted(names) if name.endswith(_YAML) and not name.startswith("."))
