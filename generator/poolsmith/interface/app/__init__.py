"""App: the use cases as functions, the public Python API. They return values; `cli` prints and exits.

Each is imported when it is first asked for: a run needs one of them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poolsmith.guard.rules.rule_book import rule_book as rule_book
    from poolsmith.interface.app.check import check_paths as check_paths
    from poolsmith.interface.app.check_project import check_project as check_project
    from poolsmith.interface.app.check_project import compare as compare
    from poolsmith.interface.app.diff import diff as diff
    from poolsmith.interface.app.explain import explain as explain
    from poolsmith.interface.app.generate import generate as generate
    from poolsmith.interface.app.initialize import initialize as initialize
    from poolsmith.interface.app.schemas import schema_text as schema_text

_HOMES = {
    "check_paths": "interface.app.check",
    "compare": "interface.app.check_project",
    "check_project": "interface.app.check_project",
    "diff": "interface.app.diff",
    "explain": "interface.app.explain",
    "generate": "interface.app.generate",
    "initialize": "interface.app.initialize",
    "rule_book": "guard.rules.rule_book",
    "schema_text": "interface.app.schemas",
}


class _UseCases(ModuleType):
    """NOTE: a module's `__getattr__` would not do: modules that are called as their function hide it once imported."""

    def __getattribute__(self, name: str) -> Any:
        if name in _HOMES:
            return getattr(sys.modules.get(home := f"poolsmith.{_HOMES[name]}") or import_module(home), name)
        return super().__getattribute__(name)


sys.modules[__name__].__class__ = _UseCases
