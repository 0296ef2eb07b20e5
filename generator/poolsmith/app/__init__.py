"""App: the use cases as functions, the public Python API. They return values; `cli` prints and exits.

Each is imported when it is first asked for: a run needs one of them.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poolsmith.app.check import check_paths, check_project
    from poolsmith.app.explain import explain
    from poolsmith.app.generate import generate
    from poolsmith.app.initialize import initialize
    from poolsmith.app.rule_book import rule_book
    from poolsmith.app.schemas import schema_text
    from poolsmith.app.settle import Mode

__all__ = [
    "Mode",
    "check_paths",
    "check_project",
    "explain",
    "generate",
    "initialize",
    "rule_book",
    "schema_text",
]
_HOMES = {
    "Mode": "settle",
    "check_paths": "check",
    "check_project": "check",
    "explain": "explain",
    "generate": "generate",
    "initialize": "initialize",
    "rule_book": "rule_book",
    "schema_text": "schemas",
}


class _UseCases(ModuleType):
    """NOTE: not a module's `__getattr__`: some modules are called as their function, and would hide it once imported."""

    def __getattribute__(self, name: str) -> Any:
        if name in _HOMES:
            return getattr(sys.modules.get(home := f"poolsmith.app.{_HOMES[name]}") or import_module(home), name)
        return super().__getattribute__(name)


sys.modules[__name__].__class__ = _UseCases
