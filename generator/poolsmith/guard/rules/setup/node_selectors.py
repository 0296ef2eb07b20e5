"""Node selectors of driver objects: which exclude each other, and which node each of them serves.

A selector is a map of labels that a node must have, each with its value. Two of them exclude each other when some label
has two values; else there is a node that both match, and its labels are the union of the two.
Source of who serves a node: NVIDIA/gpu-operator@v26.3.3:internal/validator/validator.go,
NVIDIA/gpu-operator@v26.7.0:internal/nvidiadriver/nvidiadriver.go.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.gpu.catalog.node_labels import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


def are_compatible(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether some node can match both."""
    if len(other) < len(one):
        one, other = other, one
    return all(other.get(key, value) == value for key, value in one.items())


def compatible_pairs(selectors: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int]]:
    """Each pair that some node can match, as positions, the smaller one first; in no particular order.

    Selectors that differ in one label are told apart by it, without looking at each pair.
    """
    pending = [list(range(len(selectors)))]
    while pending:
        group = pending.pop()
        key = _telling_label(selectors, group)
        if key is None:
            yield from combinations(group, 2)
            continue
        by_value: dict[str, list[int]] = {}
        without = []
        for index in group:
            value = selectors[index].get(key)
            if value is None:
                without.append(index)
            else:
                by_value.setdefault(value, []).append(index)
        pending.extend(found for found in (*by_value.values(), without) if len(found) > 1)
        for index in without:
            for found in by_value.values():
                for other in found:
                    if are_compatible(selectors[index], selectors[other]):
                        yield min(index, other), max(index, other)


def _telling_label(selectors: Sequence[Mapping[str, str]], group: list[int]) -> str | None:
    """The label that parts a group best; None where no label has two values, so that each pair is compatible."""
    carriers: Counter[str] = Counter()
    values: dict[str, set[str]] = {}
    for index in group:
        for key, value in selectors[index].items():
            carriers[key] += 1
            values.setdefault(key, set()).add(value)
    telling = [key for key, found in values.items() if len(found) > 1]
    return max(telling, key=lambda key: (carriers[key], len(values[key]), key), default=None)


class SelectorIndex:
    """Finds the selectors that a node matches without asking each of them."""

    def __init__(self, selectors: Sequence[Mapping[str, str]]) -> None:
        self._selectors = selectors
        shared = Counter(item for selector in selectors for item in selector.items())
        self._by_label: dict[tuple[str, str], list[int]] = {}
        self._always: list[int] = []
        for index, selector in enumerate(selectors):
            rarest = min(selector.items(), key=lambda item: (shared[item], item), default=None)
            if rarest is None:
                self._always.append(index)
            else:
                self._by_label.setdefault(rarest, []).append(index)

    def matching(self, labels: Mapping[str, str]) -> list[int]:
        """Positions, in order."""
        asked = [index for item in labels.items() for index in self._by_label.get(item, ())]
        return sorted([*self._always, *(index for index in asked if matches(labels, self._selectors[index]))])


@record(kw_only=False)
class DriverSelector:
    """A driver object's selector as the operator goes by it; `is_default` serves whatever no other one does."""

    selector: Mapping[str, str]
    is_default: bool = False


@record(kw_only=False)
class Serving:
    """For each set of labels the positions of the objects that want to serve a node with them.

    One: it is served. None: it is not. Several: the operator refuses.
    """

    by_node: tuple[tuple[int, ...], ...]

    @property
    def unserved(self) -> tuple[int, ...]:
        return tuple(index for index, found in enumerate(self.by_node) if not found)

    @property
    def contested(self) -> tuple[int, ...]:
        return tuple(index for index, found in enumerate(self.by_node) if len(found) > 1)

    def idle(self, count: int) -> tuple[int, ...]:
        """Which of `count` objects serve no node."""
        used = {index for found in self.by_node for index in found}
        return tuple(index for index in range(count) if index not in used)


def serve(drivers: Sequence[DriverSelector], nodes: Iterable[Mapping[str, str]], *, by_owner: bool) -> Serving:
    """Which objects each node falls to. `by_owner`: releases that know a default, which steps back for any other."""
    defaults = [index for index, driver in enumerate(drivers) if by_owner and driver.is_default]
    others = [index for index, driver in enumerate(drivers) if not (by_owner and driver.is_default)]
    index = SelectorIndex([drivers[position].selector for position in others])
    found = []
    for labels in nodes:
        chosen = tuple(others[position] for position in index.matching(labels))
        found.append(chosen or tuple(defaults))
    return Serving(tuple(found))
