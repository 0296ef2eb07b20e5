"""A values document beside what its release reads.

Walked once; each rule looks at the part that it is about.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING, value_at

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.value_paths import PastValue, ReleaseValues, ValueNode

Steps = tuple[str, ...]
ValuePlace = tuple[str | int, ...]
"""The steps from the top of the values to a place: keys, and indices of lists."""


@record(kw_only=False)
class KnownValue:
    """A value at a place that the release reads."""

    path: Steps
    value: Any
    node: ValueNode


@record(kw_only=False)
class PastKey:
    """A key that another release reads, or that values.yaml declares to no effect."""

    path: Steps
    value: Any
    past: PastValue


@record(kw_only=False)
class UnknownKey:
    """A key that no release reads at this place."""

    path: Steps
    value: Any
    parent: ValueNode


_SHARE, _MANY = 0.6, 40


class ValuesDocument:
    """`partial` says that more values come from elsewhere, so that nothing can be said about what is missing.

    `beneath` are values that this document is put on, over the chart's defaults. `above` leads to it in the values of a
    chart that has this one inside, and `switches` are the paths there that install it: the paths of all places begin
    with `above`.
    """

    def __init__(
        self,
        values: dict[str, Any],
        release: ReleaseValues,
        *,
        partial: bool = False,
        beneath: dict[str, Any] | None = None,
        above: Steps = (),
        switches: tuple[str, ...] = (),
    ) -> None:
        self.values = values
        self.release = release
        self._beneath = beneath or {}
        self.partial = partial
        self.above = above
        self.switches = switches
        self.known: list[KnownValue] = []
        self.past: list[PastKey] = []
        self.unknown: list[UnknownKey] = []
        self.subchart: list[tuple[Steps, Any]] = []
        self._walk()

    @property
    def size(self) -> int:
        return len(self.known) + len(self.past) + len(self.unknown) + len(self.subchart)

    @cached_property
    def leaf_paths(self) -> frozenset[str]:
        return frozenset(
            ".".join(item.path) for item in self.known if not isinstance(item.value, dict) or not item.value
        )

    def get(self, path: Steps) -> Any:
        """The value in this document; None where it has none."""
        return value_at(self.values, path)

    def has(self, path: Steps) -> bool:
        return value_at(self.values, path, MISSING) is not MISSING

    def is_set(self, path: Steps) -> bool:
        """Whether this document or what it is put on says something of a path, null included."""
        return any(value_at(layer, path, MISSING) is not MISSING for layer in (self.values, self._beneath))

    def effective(self, path: Steps) -> Any:
        """The value after Helm has put this document on the chart's defaults; null deletes a default."""
        for layer in (self.values, self._beneath):
            if (value := value_at(layer, path, MISSING)) is not MISSING:
                return value
        return value_at(self.release.line_defaults or {}, path)

    @cached_property
    def is_copy(self) -> bool:
        """Whether most of what the chart's own file declares stands here."""
        declared = self.release.leaves
        return len(self.leaf_paths & declared) >= max(_MANY, _SHARE * len(declared))

    def repeats(self, path: Steps, value: Any) -> bool:
        """Whether the chart's own file says the same; where that is not recorded, whether this is a copy of it."""
        defaults = self.release.line_defaults
        return self.is_copy if defaults is None else value_at(defaults, path[len(self.above) :], MISSING) == value

    @cached_property
    def inner(self) -> tuple[ValuesDocument, ...]:
        """The values of the charts inside, without what Helm itself reads of them; only of those that are recorded."""
        found = []
        for name, item in self.release.subcharts.items():
            values, release = self.values.get(name), self.release.inner(name)
            if isinstance(values, dict) and release is not None:
                own = {key: value for key, value in values.items() if f"{name}.{key}" not in item.switches}
                found.append(
                    ValuesDocument(own, release, partial=True, above=(*self.above, name), switches=item.switches)
                )
        return tuple(found)

    def _walk(self) -> None:
        paths, tag, depth = self.release.paths, self.release.tag, len(self.above)
        pending: list[tuple[Steps, dict[str, Any], ValueNode]] = [(self.above, self.values, self.release.root)]
        while pending:
            path, mapping, node = pending.pop()
            for key, value in mapping.items():
                if path == self.above and _is_extra(key):
                    continue
                place = (*path, key)
                child = node.children.get(key)
                if child is not None and path == self.above and key in self.release.subcharts:
                    self.known.append(KnownValue(place, value, child))
                    self._walk_subchart(place, value)
                elif child is not None:
                    self.known.append(KnownValue(place, value, child))
                    if isinstance(value, dict) and (child.children or child.free):
                        pending.append((place, value, child))
                elif (past := paths.past(place[depth:], tag)) is not None and not (
                    node.free and (past.comes_with or not self.release.is_of_operator)
                ):
                    self.past.append(PastKey(place, value, past))
                elif not node.free:
                    self.unknown.append(UnknownKey(place, value, node))

    def _walk_subchart(self, place: Steps, values: Any) -> None:
        pending: list[tuple[Steps, Any]] = [(place, values)]
        while pending:
            path, node = pending.pop()
            if isinstance(node, dict):
                pending.extend(((*path, key), value) for key, value in reversed(node.items()))
            if len(path) > 1 and (not isinstance(node, dict) or not node):
                self.subchart.append((path, node))


def _is_extra(key: str) -> bool:
    """Helm's own `global`, and what people keep anchors under."""
    return key == "global" or key.startswith(("x-", "."))
