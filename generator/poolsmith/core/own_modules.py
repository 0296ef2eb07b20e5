"""Finds poolsmith's own modules where they must be, in place of looking for each in all the ways that Python knows.

A run loads hundreds of them. What is loaded is the bytecode that Python has written, held against size and time of its
source as Python holds it; whatever is otherwise, such as bytecode that is missing or is checked by its hash, is left to
Python itself. Where poolsmith was installed, what the same runs load is kept together (`core/facts/kept_code.py`), so
that it is read at once and no name is made twice. Modules of the standard library are found in the same way, in the
interpreter's own folder.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys
from importlib._bootstrap_external import MAGIC_NUMBER  # without what importlib.util loads
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader

TYPE_CHECKING = False  # `typing` takes longer to load than all that is here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
    from typing import Any

_HEADER = 16
"""Bytes before the code: of Python's format, of the way of checking, of the source's time and of its size."""
_MOST = 1 << 24
"""More bytes than any file with code has: one call reads it."""
KEPT = f"compiled/code.{sys.implementation.cache_tag}-{MAGIC_NUMBER.hex()}"
"""The path in the data folder of the code that is kept together, of this interpreter."""
LENGTH = 8
"""Bytes at its beginning that say how long the index is."""
UNKNOWN = -1
"""In place of the time of a source that has not been installed yet."""
INSTALLING = 600
"""Seconds that an installation may take: a source that is younger than that beside what was made of it was edited."""


class _Loader(SourceFileLoader):
    """As Python's own, but that the code is there already: what is kept of it, or its bytecode."""

    kept: KeptCode | None = None

    def get_code(self, fullname: str) -> CodeType | None:
        code = self.kept.code(fullname) if self.kept is not None else None
        if code is None:
            bytecode = _bytecode(self.path)
            if bytecode is None:
                return super().get_code(fullname)
            code = marshal.loads(memoryview(bytecode)[_HEADER:])  # noqa: S302 - as Python does
        _imp._fix_co_filename(code, self.path)  # type: ignore[attr-defined]  # noqa: SLF001 - as Python itself does
        return code


class KeptCode:
    """Code of modules, in groups of those that the same kinds of runs load; each group is read as a whole."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._made, self._begin = 0.0, 0
        self._groups: list[tuple[int, int, tuple[str, ...]]] = []
        self._places: dict[str, tuple[int, int, bool, int, int]] = {}
        self._codes: dict[int, Any] = {}

    def open(self, run: str) -> None:
        """For a run of one kind. Nothing is kept where the file is missing or damaged."""
        try:
            length = int.from_bytes(read_file(self._path, LENGTH), "little")
            self._groups, places = marshal.loads(read_file(self._path, length, LENGTH))  # noqa: S302 - our own
            self._made, self._begin = os.stat(self._path).st_mtime, LENGTH + length  # noqa: PTH116 - start-up
        except (OSError, ValueError, TypeError, EOFError):
            return
        wanted = {number for number, (_, _, runs) in enumerate(self._groups) if run in runs}
        self._places = {name: place for name, place in places.items() if place[0] in wanted}

    def source(self, name: str, place: str) -> tuple[str, bool] | None:
        """Of a module whose code is kept, and whether it is a package; None where the source is not as it was."""
        if name not in self._places:
            return None
        _, _, is_package, time, size = self._places[name]
        source = f"{place}/__init__.py" if is_package else f"{place}.py"
        try:
            state = os.stat(source)  # noqa: PTH116 - hundreds of them
        except OSError:
            return None
        return (source, is_package) if state.st_size == size and self._is_of(time, state.st_mtime) else None

    def _is_of(self, time: int, found: float) -> bool:
        return int(found) == time if time != UNKNOWN else found <= self._made + INSTALLING

    def code(self, name: str) -> CodeType | None:
        """Once, since a module is loaded once; None where it has been given, or can't be read."""
        number, position, *_ = self._places.pop(name, (-1, 0))
        group = self._group(number) if number >= 0 else ()
        return group[position] if group else None

    def method(self, text: str) -> CodeType | None:
        """What the text of a record's method compiles to. The last group has these, by their texts."""
        known = self._group(len(self._groups) - 1) if self._groups else None
        return known.get(text) if known else None

    def _group(self, number: int) -> Any:
        """Empty where it can't be read."""
        if number not in self._codes:
            at, length, _ = self._groups[number]
            try:
                content = read_file(self._path, length, self._begin + at)
                self._codes[number] = marshal.loads(content)  # noqa: S302 - our own
            except (OSError, ValueError, TypeError, EOFError):
                self._codes[number] = ()
        return self._codes[number]


class OwnModules:
    """A finder for the modules of one package, whose folder is `folder`."""

    def __init__(self, package: str, folder: str) -> None:
        self._begins = f"{package}."
        self._folder = folder
        self.kept = KeptCode(f"{folder}/data/{KEPT}")

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if not name.startswith(self._begins):
            return None
        place = f"{self._folder}/{name[len(self._begins) :].replace('.', '/')}"
        found = self.kept.source(name, place)
        if found is None:
            return _spec_of_source(name, place)
        loader = _Loader(name, found[0])
        loader.kept = self.kept
        return _spec(name, loader, [place] if found[1] else None)


class LibraryModules:
    """A finder for the standard library, where it is a folder of the interpreter's own."""

    def __init__(self) -> None:
        self._folder = os.path.dirname(os.__file__)  # noqa: PTH120 - start-up

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        is_elsewhere = name in sys.builtin_module_names or _imp.is_frozen(name)
        if is_elsewhere or name.partition(".")[0] not in sys.stdlib_module_names:
            return None
        place = name.replace(".", "/")
        return _spec_of_source(name, f"{self._folder}/{place}") or self._extension(name)

    def _extension(self, name: str) -> ModuleSpec | None:
        place = f"{self._folder}/lib-dynload/{name}{_imp.extension_suffixes()[0]}"
        if not os.path.isfile(place):  # noqa: PTH113 - start-up
            return None
        spec = ModuleSpec(name, ExtensionFileLoader(name, place), origin=place)
        spec.has_location = True
        return spec


def _spec_of_source(name: str, place: str) -> ModuleSpec | None:
    """Of a module, or a package."""
    for source, folders in ((f"{place}.py", None), (f"{place}/__init__.py", [place])):
        if os.path.isfile(source):  # noqa: PTH113 - start-up
            return _spec(name, _Loader(name, source), folders)
    return None


def _spec(name: str, loader: _Loader, folders: list[str] | None) -> ModuleSpec:
    spec = ModuleSpec(name, loader, origin=loader.path, is_package=folders is not None)
    spec.submodule_search_locations, spec.cached, spec.has_location = folders, _cached(loader.path), True
    return spec


_ENDING = f".{sys.implementation.cache_tag}.pyc"


def _cached(source: str) -> str:
    folder, _, file = source.rpartition("/")
    return f"{folder}/__pycache__/{file[:-3]}{_ENDING}"


def read_file(path: str, length: int | None = None, at: int = 0) -> bytes:
    """So many bytes of a file from a place on, or all, without what Python's own files do. Raises OSError."""
    number = os.open(path, os.O_RDONLY)
    try:
        return os.pread(number, os.fstat(number).st_size if length is None else min(length, _MOST), at)
    finally:
        os.close(number)


def _bytecode(source: str) -> bytes | None:
    """What Python has made of a source as it is now."""
    try:
        state = os.stat(source)  # noqa: PTH116 - hundreds of them
        found = read_file(_cached(source))
    except OSError:
        return None
    wanted = MAGIC_NUMBER + _number(0) + _number(int(state.st_mtime)) + _number(state.st_size)
    return found if found[:_HEADER] == wanted else None


def _number(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "little")


def find_own_modules(package: str, folder: str) -> None:
    """From now on. Not where bytecode is kept elsewhere, or is of another kind."""
    if sys.pycache_prefix is None and not sys.flags.optimize:
        sys.meta_path[:0] = OwnModules(package, folder), LibraryModules()


def kept_method(text: str) -> CodeType | None:
    """The code of a method of records, where it is kept."""
    finder = next((finder for finder in sys.meta_path if isinstance(finder, OwnModules)), None)
    return None if finder is None else finder.kept.method(text)


def use_kept_code(run: str) -> None:
    """From now on, that of one kind of run; what needs a few modules only does without."""
    for finder in sys.meta_path:
        if isinstance(finder, OwnModules):
            finder.kept.open(run)
