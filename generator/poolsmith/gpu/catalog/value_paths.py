"""Which value paths each release of a chart reads: typed look-ups over all tags.

The operator's chart has a table and a history of its own; the other charts of the stack each have a file in
`data/stack_charts/`, in the same form, which `tests/tools/record_stack_charts.py` writes.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any

from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import at_least, covers
from poolsmith.core.record import record
from poolsmith.gpu.catalog.charts import SUBCHART, read_chart
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.tag_ranges import TagRanges

Keys = tuple[str, ...]
_CONTAINERS = frozenset(("object", "array", "any"))
_FREE_KEYS = frozenset(("data", "featureGates", "nodeSelector"))
_STACK = "stack_charts"
_OPERATOR_SWITCHES = ("nfd.enabled",)
_FREE_ENDINGS = ("annotations", "Annotations", "labels", "Labels")


@record(frozen=False, kw_only=False)
class ValueNode:
    """A place that a release reads. A free one takes whatever stands below it."""

    type: str = "any"
    free: bool = False
    quoted: bool = False
    enum: tuple[str, ...] = ()
    children: dict[str, ValueNode] = field(default_factory=dict)


@record
class PastValue:
    """A key that this release does not read, and what is known of it.

    `gone_since` is the first tag that no longer reads it, `comes_with` the first one that does, `never_read` says that
    values.yaml declares it and nothing reads it.
    """

    gone_since: str | None = None
    comes_with: str | None = None
    never_read: bool = False
    instead: str | None = None
    advice: str | None = None
    safety: bool = False


@record
class IgnoredValue:
    """A key that a template reads, and that has no effect."""

    since: str | None
    why: str
    instead: str | None = None
    advice: str | None = None
    safety: bool = False
    deprecated: bool = False
    only: Any = None
    unless: tuple[tuple[Keys, Any], ...] = ()


@record
class Subchart:
    """A chart inside of another. `switches` are the paths of the parent's values that Helm asks whether to take it."""

    chart: str
    versions: dict[str, str]
    switches: tuple[str, ...] = ()


class ValuePaths:
    """All tags of a chart."""

    def __init__(self, chart: str = OPERATOR_CHART) -> None:
        self.chart = chart
        if chart == OPERATOR_CHART:
            self._table = store.read_json("chart_values.json")
            self._history = store.read_yaml("values/history.yaml")
        else:
            self._table = store.read_json(f"{_STACK}/{chart}.json")
            self._history = {"shapes": {}, "gone": {}, "ignored": {}, "perComponent": {}}
        self.subcharts = {name: self._subchart(name, item) for name, item in self._table["subcharts"].items()}
        self.tags: tuple[str, ...] = tuple(self._table["tags"])
        self._ranges = TagRanges(self.tags)
        self._order = self._ranges.order
        self._releases: dict[str, ReleaseValues] = {}

    def release(self, version: str) -> ReleaseValues | None:
        """A tag with or without its `v`; None for a version that is not recorded."""
        bare = version.removeprefix("v")
        tag = bare if bare in self._order else f"v{bare}"
        if tag not in self._order:
            return None
        if tag not in self._releases:
            self._releases[tag] = ReleaseValues(tag, self)
        return self._releases[tag]

    def subchart(self, tag: str) -> str:
        """Version of the node-feature-discovery chart that comes with a tag."""
        version: str = self._table["subcharts"][SUBCHART][tag]
        return version

    def schema(self, tag: str) -> dict[str, list[str]]:
        """The types by path that a schema of the chart takes; none where Helm has no schema to ask."""
        since = self._table.get("schemaSince")
        known: dict[str, list[str]] = self._table["schema"] if since and self._order[tag] >= self._order[since] else {}
        return known

    @cached_property
    def _mappings(self) -> tuple[Keys, ...]:
        """What the schema of a later release takes as a mapping alone: templates handed it on as one before, too."""
        schema: dict[str, list[str]] = self._table.get("schema", {})
        return tuple(tuple(path.split(".")) for path, kinds in schema.items() if set(kinds) == {"object", "null"})

    @staticmethod
    def _subchart(name: str, item: dict[str, Any]) -> Subchart:
        if "versions" not in item:
            return Subchart(chart=name, versions=item, switches=_OPERATOR_SWITCHES)
        return Subchart(chart=item["chart"], versions=item["versions"], switches=tuple(item.get("conditions", ())))

    def tree(self, tag: str) -> ValueNode:
        since = self._table.get("enumsSince")
        enums = since is not None and self._order[tag] >= self._order[since]
        root = ValueNode("object")
        for path, fact in self._table["paths"].items():
            if self._ranges.holds(fact.get("read"), tag):
                _put(root, tuple(path.split(".")), fact, enums=enums, free=self._ranges.holds(fact.get("free"), tag))
        for path in self._mappings:
            _retype(root, path)
        for name, item in self.subcharts.items():
            if tag in item.versions:
                root.children[name] = ValueNode("object", free=True)
        _settle(root, self._history["shapes"])
        return root

    def dead(self, tag: str) -> tuple[str, ...]:
        """What values.yaml of a tag declares and nothing reads."""
        return tuple(path for path, fact in self._table["paths"].items() if self._ranges.holds(fact.get("dead"), tag))

    def read_in(self, path: str) -> tuple[str, ...]:
        """The tags that read a path, oldest first."""
        return self._ranges.within(self._table["paths"].get(path, {}).get("read"))

    def reading(self, path: Keys) -> tuple[str, ...]:
        """The tags that read a path or something below it, oldest first; none for what stands below a free key."""
        dotted = ".".join(path)
        gone = self._history["gone"].get(dotted, {}).get("since")
        below = [fact.get("read") for other, fact in self._table["paths"].items() if _is_within(other, dotted)]
        return tuple(
            tag
            for tag in self.tags
            if any(self._ranges.holds(ranges, tag) for ranges in below) and not (gone and at_least(tag, gone))
        )

    def read_paths(self, tag: str) -> frozenset[str]:
        """Everything that a tag reads."""
        return frozenset(
            path for path, fact in self._table["paths"].items() if self._ranges.holds(fact.get("read"), tag)
        )

    def keys_below(self, path: Keys) -> frozenset[str]:
        """The keys that some release reads or declares directly below a path."""
        top = "".join(f"{key}." for key in path)
        known = (*self._table["paths"], *self._history["gone"])
        return frozenset(other[len(top) :].partition(".")[0] for other in known if other.startswith(top))

    def declared(self, tag: str) -> frozenset[str]:
        return frozenset(
            path for path, fact in self._table["paths"].items() if self._ranges.holds(fact.get("declared"), tag)
        )

    def past(self, path: Keys, tag: str) -> PastValue | None:
        """What is known of a path that `tag` does not read; None for one that no tag knows."""
        dotted = ".".join(path)
        note = self._history["gone"].get(dotted, {})
        fact = self._table["paths"].get(dotted)
        if "since" in note and at_least(tag, note["since"]):
            return PastValue(gone_since=note["since"], **_told(note))
        if fact is None:
            return None
        read = self.read_in(dotted)
        if tag in read:
            return None  # inside of what is free
        earlier = [other for other in read if self._order[other] < self._order[tag]]
        later = [other for other in read if self._order[other] > self._order[tag]]
        if earlier and "since" in note:
            return None  # inside of what the template still hands on as a whole
        if earlier:
            return PastValue(gone_since=self.tags[self._order[earlier[-1]] + 1], **_told(note))
        if later:
            return PastValue(comes_with=later[0], **_told(note))
        return PastValue(never_read=True, **_told(note))

    def ignored(self, path: Keys, tag: str) -> IgnoredValue | None:
        """Whether a release reads a path to no effect: from `since` on, up to `before` where it was mended."""
        note = self._history["ignored"].get(".".join(path))
        return _ignored(note) if note is not None and covers(note, tag) else None

    def per_component(self, key: str) -> IgnoredValue | None:
        """A scheduling key under a component, which no recorded release reads."""
        note = self._history["perComponent"].get(key)
        why = "each operand takes it from `daemonsets`" if note and "instead" in note else "no template reads it"
        return None if note is None else _ignored({"why": why, **note})


class ReleaseValues:
    """What one release reads."""

    def __init__(self, tag: str, paths: ValuePaths) -> None:
        self.tag = tag
        self.paths = paths

    @property
    def told(self) -> str:
        """As texts name it: the operator's by its tag alone."""
        return self.tag if self.is_of_operator else f"{self.paths.chart} {self.tag}"

    @property
    def is_of_operator(self) -> bool:
        return self.paths.chart == OPERATOR_CHART

    @cached_property
    def subcharts(self) -> dict[str, Subchart]:
        """By the key of their values: those that this release has inside."""
        return {name: item for name, item in self.paths.subcharts.items() if self.tag in item.versions}

    def inner(self, name: str) -> ReleaseValues | None:
        """What a subchart reads of its values; None where its chart or the version that comes along is not recorded."""
        item = self.subcharts[name]
        from poolsmith.gpu.catalog.stack_objects import CHART_OF  # on demand: how engines name charts

        return value_paths(item.chart).release(item.versions[self.tag]) if item.chart in CHART_OF else None

    @cached_property
    def root(self) -> ValueNode:
        return self.paths.tree(self.tag)

    @cached_property
    def by_key(self) -> dict[str, tuple[str, ...]]:
        """The dotted paths that end in a key, the key without case and separators."""
        found: dict[str, list[str]] = {}
        pending = [((), self.root)]
        while pending:
            path, node = pending.pop()
            for key, child in node.children.items():
                below: Keys = (*path, key)
                found.setdefault(flatten(key), []).append(".".join(below))
                pending.append((below, child))  # type: ignore[arg-type]  # longer tuples of the same strings
        return {
            key: tuple(sorted(places, key=lambda place: (place.count("."), place))) for key, places in found.items()
        }

    @cached_property
    def defaults(self) -> dict[str, Any] | None:
        """The chart's values.yaml, or None where only its paths are recorded."""
        chart = read_chart(OPERATOR_CHART, self.tag) if self.is_of_operator else None
        return chart.defaults if chart is not None else None

    @cached_property
    def line_defaults(self) -> dict[str, Any] | None:
        """The defaults of this release, else of another one of its line."""
        if self.defaults is not None or not self.is_of_operator:
            return self.defaults
        line = self.tag.rpartition(".")[0]
        near = [tag for tag in store.names("charts/gpu-operator") if tag.rpartition(".")[0] == line]
        return self.paths.release(near[-1]).defaults if near else None  # type: ignore[union-attr]  # it has an entry

    @cached_property
    def leaves(self) -> frozenset[str]:
        """What values.yaml declares, without the maps above."""
        declared = self.paths.declared(self.tag)
        above = {path.rpartition(".")[0] for path in declared}
        return frozenset(path for path in declared if path not in above)


def value_paths(chart: str = OPERATOR_CHART) -> ValuePaths:
    """The table of a chart, read once and only where its values are judged."""
    return _of_chart(chart)


_of_chart = remembered(ValuePaths)


def _is_within(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}.")


def _put(root: ValueNode, path: Keys, fact: dict[str, Any], *, enums: bool, free: bool) -> None:
    node = root
    for key in path[:-1]:
        node = node.children.setdefault(key, ValueNode("object"))
        if _is_free_key(key):
            return
    leaf = node.children.setdefault(path[-1], ValueNode())
    leaf.type = fact.get("type", "any")
    leaf.quoted = fact.get("quoted", False)
    leaf.enum = tuple(fact.get("enum", ())) if enums else ()
    leaf.free = free


def _retype(root: ValueNode, path: Keys) -> None:
    node: ValueNode | None = root
    for key in path:
        node = node.children.get(key) if node is not None else None
    if node is not None and node.type == "any":
        node.type = "object"


def _settle(root: ValueNode, shapes: dict[str, list[str]]) -> None:
    """What may stand below each place, once all places are there."""
    pending = [root]
    while pending:
        node = pending.pop()
        for key, child in node.children.items():
            if key in shapes:
                child.type = "object"
                child.children = {name: ValueNode("any", free=True) for name in shapes[key]}
            elif node.free or child.free or _is_free_key(key):
                child.free = True
            elif child.children:
                child.type = "object"
            else:
                child.free = child.type in _CONTAINERS
            pending.append(child)


def _is_free_key(key: str) -> bool:
    return key in _FREE_KEYS or key.endswith(_FREE_ENDINGS)


def _told(note: dict[str, Any]) -> dict[str, Any]:
    return {"instead": note.get("instead"), "advice": note.get("advice"), "safety": note.get("safety", False)}


def _ignored(note: dict[str, Any]) -> IgnoredValue:
    return IgnoredValue(
        since=note.get("since"),
        why=note["why"],
        deprecated=note.get("deprecated", False),
        only=note.get("only"),
        unless=tuple((tuple(path.split(".")), value) for path, value in note.get("unless", {}).items()),
        **_told(note),
    )
