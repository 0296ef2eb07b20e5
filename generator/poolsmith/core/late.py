"""Modules that are loaded when somebody asks them for something, and not where somebody names them.

Libraries import what few of their callers need: `dataclasses` imports `inspect`, which costs more than many a run's own
work. And a registry names all rules, of which a run asks some. Nothing is imported here but what the interpreter has
loaded by itself.
"""

from __future__ import annotations

import sys
from _thread import RLock
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # `typing` takes longer to load than all that is here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_TOLD = frozenset(("__version__", "__with_libyaml__", "__all__"))
"""What a module's own code says of it; other names of that form are asked of any module, and say nothing of a wish."""
_MARK = "__is_late__"
_NAMES: Any = vars(ModuleType)["__dict__"]
"""Gives the names of a module as they are."""


class LateModule(ModuleType):
    """A module before its own code has run."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") or name in _TOLD:
            names = _loaded(self)
            if name in names:
                return names[name]
        raise AttributeError(f"module `{self.__name__}` has no attribute `{name}`", name=name, obj=self)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return _loaded(self)


class _Wait:
    """One thread runs a module's code, and others wait for it; that one sees what there is."""

    def __init__(self) -> None:
        self.lock, self.is_over = RLock(), False


def _loaded(module: LateModule) -> dict[str, Any]:
    """The names of a module after its own code has run."""
    names: dict[str, Any] = _NAMES.__get__(module)
    wait: _Wait | None = names.get(_MARK)
    if wait is None:
        return names
    with wait.lock:
        if not wait.is_over:
            wait.is_over = True
            try:
                names["__spec__"].loader.exec_module(module)
            except BaseException:
                wait.is_over = False
                raise
            del names[_MARK]
            module.__class__ = ModuleType  # type: ignore[assignment]  # from now on it is one like any other
    return names


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
    if name in sys.modules:
        return None
    package = name.rpartition(".")[0]
    path = sys.modules[package].__path__ if package else None
    found = (finder.find_spec(name, path) for finder in sys.meta_path)
    spec = next((one for one in found if one is not None and one.loader is not None), None)
    if spec is None:
        return None
    module = LateModule(name)
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    module.__file__ = spec.origin
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    setattr(module, _MARK, _Wait())
    sys.modules[name] = module
    return module


def late_submodules(package: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package of which a run needs some modules: those that others name are loaded late."""

    def module_of(name: str) -> ModuleType:
        module = load_late(f"{package}.{name}") if not name.startswith("_") else None
        if module is None:
            raise AttributeError(f"module `{package}` has no attribute `{name}`", name=name, obj=sys.modules[package])
        setattr(sys.modules[package], name, module)
        return module

    return module_of
