"""The rules that no module of their own judges: what the modules of codes name."""

from __future__ import annotations

import pkgutil

from poolsmith.core.diagnostics import RuleInfo, codes


def entries_of(module):
    """Those that a module names, in their order."""
    return tuple(item for item in vars(module).values() if isinstance(item, RuleInfo))


CODE_BOOK = tuple(
    dict.fromkeys(
        entry for item in pkgutil.iter_modules(codes.__path__) for entry in entries_of(getattr(codes, item.name))
    )
)
