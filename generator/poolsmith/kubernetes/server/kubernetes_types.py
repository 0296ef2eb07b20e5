"""The Go types of Kubernetes' own kinds: which fields there are, and which are left out when empty.

A field's code is a type, maybe with a mark behind it. Types: string, bool, int32, int64, int, float64, quantity,
intOrString, time, microTime, bytes, any, `@<struct>`; before it any of `*` (pointer), `[]` (list), `{}` (mapping).
Without a mark a field is left out when it is empty, as far as its type can be empty; `!` never; `~` when it is zero.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.store import read_json
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "kubernetes_types/types.json"
DEFAULTS = "kubernetes_types/defaults.json"
ALWAYS, UNLESS_ZERO = "!", "~"
_POINTER = "*"
OBJECT_META = "meta/v1.ObjectMeta"


@record(kw_only=False, slots=False)
class KubernetesTypes:
    """Of one minor. `kinds` are struct names by (apiVersion, kind)."""

    minor: int
    kinds: dict[tuple[str, str], str]
    _types: dict[str, dict[str, Any]]
    _known: dict[str, dict[str, str]] = field(default_factory=dict, compare=False, repr=False)

    def fields(self, struct: str) -> Mapping[str, str]:
        """The codes of a struct's fields at this minor. Raises KeyError for a struct that does not exist."""
        if struct not in self._known:
            self._known[struct] = self._fields(struct)
        return self._known[struct]

    def _fields(self, struct: str) -> dict[str, str]:
        found = {}
        for name, steps in self._types[struct].items():
            code = steps if isinstance(steps, str) else _at(steps, self.minor)
            if code is not None:
                found[name] = code
        return found


def known_minors() -> tuple[int, int]:
    """The oldest and the newest minor of Kubernetes 1.x that the table has."""
    oldest, newest = _table()["minors"]
    return oldest, newest


@lru_cache(maxsize=16)
def kubernetes_types(minor: int) -> KubernetesTypes:
    """Minors beyond those known count as the nearest one."""
    table = _table()
    oldest, newest = table["minors"]
    minor = max(oldest, min(minor, newest))
    kinds = {_split(kind): struct for kind, (since, struct) in table["kinds"].items() if since <= minor}
    return KubernetesTypes(minor, kinds, table["types"])


def named_struct(code: str) -> str:
    """The struct that a field's code names, in lists and mappings too; empty for other types."""
    return code.partition("@")[2].rstrip(ALWAYS + UNLESS_ZERO)


def has_zero(code: str) -> bool:
    """Whether a field has no null, so that nobody can tell its empty value from one that is absent."""
    return not code.startswith(_POINTER)


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return read_json(NAME)


def _split(kind: str) -> tuple[str, str]:
    api_version, _, name = kind.partition(" ")
    return api_version, name


def _at(steps: list[list[Any]], minor: int) -> str | None:
    code: str | None = None
    for since, value in steps:
        if since <= minor:
            code = value
    return code
