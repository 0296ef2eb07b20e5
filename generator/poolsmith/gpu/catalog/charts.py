"""What Helm charts accept and default, per release."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import value_at

_FREE_TYPES = frozenset(("object", "array", "any"))
SUBCHART = "node-feature-discovery"
"""The chart inside the operator's; its own defaults are unknown."""
_FREE_KEYS = frozenset(("affinity", "data", "featureGates", "nodeSelector", "resources"))
_FREE_ENDINGS = ("annotations", "Annotations", "labels", "Labels", "Probe")


@record(kw_only=False)
class Chart:
    """One release of a chart. Value paths are tuples of keys."""

    name: str
    release: str
    source: str
    defaults: dict[str, Any]
    paths: dict[str, str]
    dead: tuple[str, ...] = ()
    nvidia_driver_fields: frozenset[str] = frozenset()
    mig_layouts: tuple[str, ...] = ()
    _known: set[str] = field(default_factory=set)

    def default(self, path: tuple[str, ...]) -> Any:
        """The chart's own value at `path`; None where it has none."""
        return value_at(self.defaults, path)

    def has(self, *path: str) -> bool:
        """Whether the chart reads a value at exactly this path."""
        return ".".join(path) in self.paths

    def accepts(self, path: tuple[str, ...]) -> bool:
        """Whether a value at `path` reaches a template: known itself, or inside a free-form value."""
        dotted = ".".join(path)
        if dotted in self.paths or self._is_parent(dotted):
            return True
        for length in range(len(path) - 1, 0, -1):
            above = ".".join(path[:length])
            if above in self.paths:
                key = path[length - 1]
                free = key in _FREE_KEYS or key.endswith(_FREE_ENDINGS) or not self._is_parent(above)
                return path[0] == SUBCHART or (self.paths[above] in _FREE_TYPES and free)
        return path[0] == SUBCHART

    def _is_parent(self, dotted: str) -> bool:
        if not self._known:
            for path in self.paths:
                keys = path.split(".")
                self._known.update(".".join(keys[:length]) for length in range(1, len(keys)))
        return dotted in self._known


@remembered
def read_chart(name: str, release: str) -> Chart | None:
    """A chart's entry, or None when the catalog has none. Shared, so not to be changed."""
    if release not in store.names(f"charts/{name}"):
        return None
    entry = store.read_json(f"charts/{name}/{release}.json")
    return Chart(
        name=name,
        release=release,
        source=entry["source"],
        defaults=entry["defaults"],
        paths=entry["paths"],
        dead=tuple(entry["dead"]),
        nvidia_driver_fields=frozenset(entry.get("nvidiaDriverFields", ())),
        mig_layouts=tuple(entry.get("migLayouts", ())),
    )
