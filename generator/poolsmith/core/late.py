"""Modules of others that are loaded when somebody asks them for something, and not where somebody names them.

Libraries import what few of their callers need: `dataclasses` imports `inspect`, which costs more than many a run's own
work. Nothing is imported here but what the interpreter has loaded by itself.
"""

from __future__ import annotations

import sys
from _thread import RLock
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType

TYPE_CHECKING = False  # `typing` takes longer to load than all that is here
if TYPE_CHECKING:
    from typing import Any

_TOLD = frozenset(("__version__", "__with_libyaml__", "__all__"))
"""What a module's own code says of it; other names of that form are asked of any module, and say nothing of a wish."""
_MARK = "_is_late"
_LOADING = RLock()


class LateModule(ModuleType):
    """A module before its own code has run. One thread runs it, and others wait for that."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") or name in _TOLD:
            with _LOADING:
                if self.__dict__.pop(_MARK, False):
                    self.__spec__.loader.exec_module(self)  # type: ignore[union-attr]  # it has one
                    self.__class__ = ModuleType  # type: ignore[assignment]  # from now on it is one like any other
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"module `{self.__name__}` has no attribute `{name}`", name=name, obj=self)


def sha256_of(content: bytes) -> str:
    """What hashlib gives for a few kilobytes, without the OpenSSL that it loads; for more, that is faster."""
    name = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    try:
        found: str = import_module(name).sha256(content).hexdigest()
    except ImportError:  # an interpreter that was built without it
        found = import_module("hashlib").sha256(content).hexdigest()
    return found


def load_late(name: str) -> LateModule | None:
    """Put a module where it is looked for; None where it has been imported, or is not to be found."""
    spec = PathFinder.find_spec(name) if name not in sys.modules else None
    if spec is None or spec.loader is None:
        return None
    module = LateModule(name)
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    module.__file__ = spec.origin
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    setattr(module, _MARK, True)
    sys.modules[name] = module
    return module
