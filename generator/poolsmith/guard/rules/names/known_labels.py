"""Labels of nodes that something writes which stands in no file: kubelets, clouds, provisioners, GPU software."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.facts import store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ROLE = "node-role.kubernetes.io/"


def is_well_known(key: str) -> bool:
    return key in _writers()["plain"] or _is_below(key, _writers()["byThemselves"])


def is_given_by_hand(key: str) -> bool:
    """Whether nothing but files or people write it, as far as is known."""
    if key.startswith(_ROLE):
        return key.removeprefix(_ROLE) not in _writers()["roles"]
    return not is_well_known(key) and not _is_below(key, _writers()["others"])


def _writers() -> Mapping[str, Sequence[str]]:
    found: Mapping[str, Sequence[str]] = store.table("selectors.yaml")["writers"]
    return found


def _is_below(key: str, ends: Iterable[str]) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and f".{domain}/".endswith(tuple(f".{end}" for end in ends))
