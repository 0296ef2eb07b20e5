"""Labels of nodes that something writes which stands in no file: kubelets, clouds, provisioners, GPU software."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.gpu.catalog.node_labels import FEATURE
from poolsmith.guard.rules.names.need import NODE_LABEL, Offer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.guard.rules.names.need import NamedObject

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


def full_label(key: str) -> str:
    """As Node Feature Discovery writes it."""
    return key if "/" in key else f"{FEATURE}{key}"


def labels_of_rules(rules: Iterable[NamedObject]) -> Iterator[Offer]:
    """Each label with all its values; none where a rule takes one from elsewhere."""
    found: dict[str, tuple[NamedObject, str, set[str]]] = {}
    for item in rules:
        for rule in mappings(mapping(item.data.get("spec")).get("rules")):
            for key, value in mapping(rule.get("labels")).items():
                found.setdefault(full_label(str(key)), (item, str(key), set()))[2].add(str(value))
    for item, key, values in found.values():
        is_known = not any(value.startswith("@") for value in values)
        yield written_label(item, key, frozenset(values) if is_known else None)


def written_label(item: NamedObject, key: str, values: frozenset[str] | None) -> Offer:
    name = full_label(key)
    return Offer(kind=NODE_LABEL, name=name, item=item, keys=values, calls=() if name == key else (key,))
