"""Texts of the stack, known by their shape wherever they stand: in objects, in patches, in Helm values, in files."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import BRANCHES, join, value_at
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.delivered import ChartInstallation
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument


class Shape(StrEnum):
    """What a text is for."""

    MIG_LAYOUTS = "layouts of the MIG manager"
    PLUGIN = "a configuration of the device plugin"
    WORKER = "a configuration of the worker of Node Feature Discovery"
    MASTER = "a configuration of the master of Node Feature Discovery"
    METRICS = "a list of metrics"
    RULES = "rules of Node Feature Discovery"


@record(kw_only=False)
class StackText:
    """`text` stands at `pointer` of `source`; None for a configuration that is no text but a mapping there, `data`.

    `shown` is how messages name it, `subject` the object that it stands in. `version` is that of what reads it, where
    it is known.
    """

    shape: Shape
    source: SourceFile
    pointer: str
    shown: str
    text: str | None = None
    data: Any = None
    subject: str = ""
    version: str | None = None

    def locate(self, *steps: str | int) -> Location:
        """The place of what stands there inside of it."""
        if self.text is None:
            return self.source.locate(join(self.pointer, *steps))
        return InnerText(self.source, self.pointer, self.text, None).locate(join("", *steps))

    def locate_line(self, line: int) -> Location:
        """A line of the text, counted from zero; the text itself where its lines are not those of the file."""
        from dataclasses import replace  # on demand

        from poolsmith.core.diagnostics.diagnostic import Position, Span  # on demand

        at_key = self.source.locate(self.pointer)
        start = InnerText(self.source, self.pointer, self.text or "", None).outer_position(Position(line + 1, 1))
        if start is None:
            return at_key
        span = Span(path=at_key.span.path, start=start, end=start)
        return replace(at_key, span=span, source_line=self.source.line(start.line))


_LARGEST = 1 << 20
_DEEPEST = 3
_TEMPLATED = ("{{", "${", "{%")
_MARK = pattern(
    r"""mig-configs|^[ \t]*+"?DCGM_(?:FI|EXP)_|\bversion["']?\s*+:\s*+["']?v1\b|^["'{ ]*+(?:core|sources)["']?\s*+:""",
    re.ASCII | re.MULTILINE,
)
"""What a text of some shape has in it: no other one is read as YAML, however long it is."""
_LAYOUTS = pattern(r"""(?:^|[{,])[^\S\n]*+["']?mig-configs["']?\s*+:""", re.MULTILINE)
_INSIDE = pattern(r"mig-configs|timeSlicing|DCGM_FI_|nfd-(?:worker|master)\.conf", re.ASCII)
"""What a text that is YAML has to have in it, so that its own texts are looked for."""
_PLUGIN_SECTIONS = ("sharing", "flags", "resources", "imex")
_PLUGIN_FLAGS = ("mig", "device", "plugin", "gfd", "fail", "nvidia", "gds", "mofed", "imex")
_DISCOVERY = "node-feature-discovery"
"""The chart in that of the operator, whose values nobody else reads."""
_MASTER_FILE = "nfd-master"
_EXTRA_LABELS = "extraLabelNs"
_Way = tuple["_Way", str | int] | None
"""The last step to a place, and the way to what stands above: put together where something is found."""
_RULES = {"NodeFeatureRule": "rules", "NodeFeatureGroup": "featureGroupRules"}
"""By kind, where it has its rules."""


def texts_of(documents: Iterable[CheckedDocument], installations: Iterable[ChartInstallation]) -> Iterator[StackText]:
    """Each once, those of values first: there the version of what reads them may be known."""
    told: set[tuple[str, Any]] = set()
    for item in (*_of_values(installations), *_of_documents(documents)):
        span = item.source.locate(item.pointer).span
        if (span.path, span.start) not in told:
            told.add((span.path, span.start))
            yield item


def _of_values(installations: Iterable[ChartInstallation]) -> Iterator[StackText]:
    for item in installations:
        for layer in item.layers:
            walk = _Walk(layer.source, f"values of {item.chart}", item.document.name)
            yield from walk.texts(layer.values, layer.pointer, layer.at)


def _of_documents(documents: Iterable[CheckedDocument]) -> Iterator[StackText]:
    for document in documents:
        name = document.name if document.is_object else ""
        walk = _Walk(document.source, name or document.path, name)
        if document.kind in _RULES:
            rules = value_at(document.data, ("spec", _RULES[document.kind]))
            place = f"/spec/{_RULES[document.kind]}"
            yield StackText(Shape.RULES, document.source, place, name, None, rules, name)
        if not document.is_object:
            yield from walk.shaped(document.data, "", ())
        yield from walk.texts(document.data, "", ())


class _Walk:
    """Over the mappings, lists and texts of one source."""

    def __init__(self, source: SourceFile, shown: str, subject: str, depth: int = 0) -> None:
        self._source = source
        self._shown = shown
        self._subject = subject
        self._depth = depth

    def texts(self, node: Any, pointer: str, path: tuple[str, ...]) -> Iterator[StackText]:
        pending: list[tuple[Any, _Way, str]] = [(node, None, path[-1] if path else "")]
        while pending:
            value, way, key = pending.pop()
            if isinstance(value, dict):
                if key == "config":
                    yield from self.shaped(value, *_at(pointer, path, way))
                elif key == "master" and _EXTRA_LABELS in value:
                    extra, (place, steps) = {_EXTRA_LABELS: value[_EXTRA_LABELS]}, _at(pointer, path, way)
                    yield StackText(Shape.MASTER, self._source, place, self._told(steps), None, extra, self._subject)
                below = reversed(value.items())
                pending.extend((item, (way, name), name) for name, item in below if _may_hold_text(item))
            elif isinstance(value, list):
                items = reversed(list(enumerate(value)))
                pending.extend((item, (way, index), key) for index, item in items if _may_hold_text(item))
            elif _may_hold_text(value):
                yield from self._of_text(value, *_at(pointer, path, way))

    def shaped(self, node: Any, pointer: str, path: tuple[str, ...]) -> Iterator[StackText]:
        """A mapping that is a configuration itself, and no text."""
        shape = _shape_of(node, path)
        if shape is not None:
            yield StackText(shape, self._source, pointer, self._told(path), None, node, self._subject)

    def _of_text(self, text: str, pointer: str, path: tuple[str, ...]) -> Iterator[StackText]:
        is_of_master = any(_MASTER_FILE in step for step in path[-1:])
        if not (is_of_master or _MARK.search(text) or _INSIDE.search(text)) or any(mark in text for mark in _TEMPLATED):
            return
        from poolsmith.gpu.values.metrics_list import is_metrics_list  # on demand

        if is_metrics_list(text):
            yield StackText(Shape.METRICS, self._source, pointer, self._told(path), text, None, self._subject)
            return
        try:
            documents = read_documents(text)
        except YamlProblem:
            if _LAYOUTS.search(text):
                yield StackText(Shape.MIG_LAYOUTS, self._source, pointer, self._told(path), text, None, self._subject)
            return
        data = documents[0] if documents else None
        shape = _shape_of(data, path)
        if shape is not None:
            yield StackText(shape, self._source, pointer, self._told(path), text, data, self._subject)
        elif self._depth < _DEEPEST and _INSIDE.search(text):
            for index, inner in enumerate(documents):
                source = InnerText(self._source, pointer, text, inner, document=index)
                walk = _Walk(source, self._shown, self._subject, depth=self._depth + 1)
                yield from walk.texts(inner, "", ())

    def _told(self, path: tuple[str, ...]) -> str:
        return f"{self._shown}, `{path[-1]}`" if path else self._shown


def _may_hold_text(node: Any) -> bool:
    if isinstance(node, str):
        return ("\n" in node or "{" in node) and len(node) <= _LARGEST
    return isinstance(node, BRANCHES)


def _at(pointer: str, path: tuple[str, ...], way: _Way) -> tuple[str, tuple[str, ...]]:
    """Where a way leads that begins at a pointer and a path; a path has no positions in lists."""
    steps: list[str | int] = []
    while way is not None:
        way, step = way
        steps.insert(0, step)
    return join(pointer, *steps), (*path, *(step for step in steps if isinstance(step, str)))


def _shape_of(data: Any, path: tuple[str, ...]) -> Shape | None:
    if not isinstance(data, dict) or "apiVersion" in data or "kind" in data:
        return None
    if "mig-configs" in data:
        return Shape.MIG_LAYOUTS
    if "version" in data and _is_of_plugin(data):
        return Shape.PLUGIN
    from poolsmith.gpu.values.discovery_config import MASTER, WORKER, looks_like  # on demand

    if looks_like(WORKER, data) or path[-3:] == (_DISCOVERY, WORKER, "config"):
        return Shape.WORKER
    is_master = any(_MASTER_FILE in step for step in path[-1:]) or path[-2:] == (MASTER, "config")
    return Shape.MASTER if is_master and looks_like(MASTER, data) else None


def _is_of_plugin(data: dict[Any, Any]) -> bool:
    """Whether a configuration that says its version has a section of the plugin's, and nothing that others have."""
    flags, sharing = data.get("flags"), data.get("sharing")
    if isinstance(sharing, dict) or (
        isinstance(data.get("resources"), dict) and data.keys() <= {"version", *_PLUGIN_SECTIONS}
    ):
        return True
    return isinstance(flags, dict) and any(str(key).lower().startswith(_PLUGIN_FLAGS) for key in flags)
