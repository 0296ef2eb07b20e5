"""Finds poolsmith's own modules where they must be, in place of looking for each in all the ways that Python knows.

A run loads hundreds of them. What is loaded is the bytecode that Python has written, held against size and time of its
source as Python holds it; whatever is otherwise, such as bytecode that is missing or is checked by its hash, is left to
Python itself.
"""

from __future__ import annotations

import marshal
import os
import sys
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # as Python itself does with bytecode
from importlib._bootstrap_external import MAGIC_NUMBER  # without what importlib.util loads
from importlib.machinery import ModuleSpec, SourceFileLoader

TYPE_CHECKING = False  # `typing` takes longer to load than all that is here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

_HEADER = 16
"""Bytes before the code: of Python's format, of the way of checking, of the source's time and of its size."""


class _Loader(SourceFileLoader):
    """As Python's own, but that the bytecode is there already."""

    bytecode = b""

    def get_code(self, fullname: str) -> CodeType | None:
        if not self.bytecode:
            return super().get_code(fullname)
        code: CodeType = marshal.loads(memoryview(self.bytecode)[_HEADER:])  # noqa: S302 - as Python does
        self.bytecode = b""
        _fix_co_filename(code, self.path)
        return code


class OwnModules:
    """A finder for the modules of one package, whose folder is `folder`."""

    def __init__(self, package: str, folder: str) -> None:
        self._begins = f"{package}."
        self._folder = folder
        self._ending = f".{sys.implementation.cache_tag}.pyc"

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if not name.startswith(self._begins):
            return None
        place = f"{self._folder}/{name[len(self._begins) :].replace('.', '/')}"
        for source, folders in ((f"{place}.py", None), (f"{place}/__init__.py", [place])):
            folder, _, file = source.rpartition("/")
            cached = f"{folder}/__pycache__/{file[:-3]}{self._ending}"
            bytecode = _bytecode(source, cached)
            if bytecode is not None:
                loader = _Loader(name, source)
                loader.bytecode = bytecode
                spec = ModuleSpec(name, loader, origin=source, is_package=folders is not None)
                spec.submodule_search_locations, spec.cached, spec.has_location = folders, cached, True
                return spec
        return None


def _bytecode(source: str, cached: str) -> bytes | None:
    """What Python has made of a source as it is now."""
    try:
        state = os.stat(source)  # noqa: PTH116 - hundreds of them
        with open(cached, "rb", 0) as file:  # noqa: PTH123 - as above
            found = file.read()
    except OSError:
        return None
    wanted = MAGIC_NUMBER + _number(0) + _number(int(state.st_mtime)) + _number(state.st_size)
    return found if found[:_HEADER] == wanted else None


def _number(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "little")


def find_own_modules(package: str, folder: str) -> None:
    """From now on. Not where bytecode is kept elsewhere, or is of another kind."""
    if sys.pycache_prefix is None and not sys.flags.optimize:
        sys.meta_path.insert(0, OwnModules(package, folder))
