"""The code book of findings that no rule file holds: every entry of the modules beside this one."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from poolsmith.core.diagnostics import codes

_MODULES = (item.name for item in iter_modules(codes.__path__, f"{codes.__name__}.") if item.name != __name__)
CODE_BOOK = tuple(dict.fromkeys(entry for name in _MODULES for entry in codes.entries_of(import_module(name))))
