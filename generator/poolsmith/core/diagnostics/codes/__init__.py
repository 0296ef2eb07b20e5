"""The codes of findings that no rule file holds: reading, shape, compatibility, values, output, policies.

Codes are grouped by hundred; numbers are never reused. Rules that judge manifests hold their own entry
beside their code. A run loads the groups that it says something of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import RuleInfo
from poolsmith.core.late import late_submodules

if TYPE_CHECKING:
    from types import ModuleType


def entries_of(module: ModuleType) -> tuple[RuleInfo, ...]:
    """Those that a module has, in their order."""
    return tuple(item for item in vars(module).values() if isinstance(item, RuleInfo))


__getattr__ = late_submodules(__name__)
