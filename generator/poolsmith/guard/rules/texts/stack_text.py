"""Texts of the stack, known by their shape wherever they stand: in objects, in patches, in Helm values, in files."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText, TextFile
from poolsmith.core.sources.pointer import join, parent, reach, value_at
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.kubernetes.repository.delivered import ValuesSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.gpu.values.text_mistake import TextMistake
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
    CONTAINERD = "a configuration of containerd"
    TOOLKIT = "a configuration of NVIDIA's container runtime"
    CDI = "a CDI specification"


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
    written_to: tuple[str, str] = ("", "")
    """The file on a machine that it is written to, and the pointer to that, where what holds it says so."""

    def locate(self, *steps: str | int) -> Location:
        """The place of what stands there inside of it."""
        if self.text is None:
            return self.source.locate(join(self.pointer, *steps))
        return InnerText(self.source, self.pointer, self.text, None).locate(join("", *steps))

    def told(self, mistakes: Iterable[TextMistake]) -> Iterator[Finding[Location]]:
        """What a rule says of them."""
        for item in mistakes:
            line = "" if item.line is None or self.shape is not Shape.METRICS else f", line {item.line + 1}"
            yield Finding(
                message=f"{self.shown}{line}: {item.message}",
                place=self.locate(*item.steps) if item.line is None else self.locate_line(item.line),
                help=item.help,
                subject=self.subject,
                severity=item.severity,
            )

    def locate_line(self, line: int) -> Location:
        """A line of the text, counted from zero; the text itself where its lines are not those of the file."""
        from dataclasses import replace  # on demand

        from poolsmith.core.diagnostics.diagnostic import Position, Span  # on demand

        at_key = self.source.locate(self.pointer)
        start = InnerText(self.source, self.pointer, self.text or "", None).outer_position(Position(line + 1, 1))
        if start is None:
            return at_key
        span = Span(path=at_key.span.path, start=start, end=start)
        return replace(at_key, span=span, source_line=self.source.line_of(self.pointer, start.line))


_LARGEST = 1 << 20
_DEEPEST = 3
_TEMPLATED = ("{{", "${", "{%")
_MARK = pattern(
    r"""(?:mig|vgpu)-configs|io\.containerd\.|\[nvidia-container-|cdiVersion"""
    r"""|^[ \t]*+"?DCGM_(?:FI|EXP)_|\bversion["']?\s*+:\s*+["']?v1\b|^["'{ ]*+(?:core|sources)["']?\s*+:""",
    re.ASCII | re.MULTILINE,
)
"""What a text of some shape has in it: no other one is read as YAML, however long it is."""
_LAYOUTS = pattern(r"""(?:^|[{,])[^\S\n]*+["']?(?:mig|vgpu)-configs["']?\s*+:""", re.MULTILINE)
_INSIDE = pattern(
    r"(?:mig|vgpu)-configs|cdiVersion|io\.containerd\.|timeSlicing|DCGM_FI_|nfd-(?:worker|master)\.conf", re.ASCII
)
"""What a text that is YAML has to have in it, so that its own texts are looked for."""
_WORDS = (
    "\\",
    "!",
    "-configs",
    "DCGM_",
    "timeSlicing",
    "nfd-master",
    "nfd-worker",
    "extraLabelNs",
    "io.containerd.",
    "nvidia-container-",
    "cdiVersion",
)
_WHOLE_WORDS = (
    pattern(r"config(?<!\wconfig)(?![\w-])", re.ASCII),
    pattern(r"version(?<!\wversion)(?![\w-])", re.ASCII),
    pattern(r"sources(?<!\wsources)(?![\w-])", re.ASCII),
    pattern(r"core(?<!\wcore)(?![\w-])", re.ASCII),
)
"""One of these is written in each file that has a text of some shape, or a sign by which words are hidden."""
_PLUGIN_SECTIONS = ("sharing", "flags", "resources", "imex")
_PLUGIN_FLAGS = ("mig", "device", "plugin", "gfd", "fail", "nvidia", "gds", "mofed", "imex")
_DISCOVERY = "node-feature-discovery"
"""The chart in that of the operator, whose values nobody else reads."""
_MASTER_FILE = "nfd-master"
_OF_OPENSHIFT = ("workerConfig", "configData")
"""Of a NodeFeatureDiscovery, whose operator hands it to the worker as it is."""
_EXTRA_LABELS = "extraLabelNs"
_CONFIG, _MASTER = "config", "master"
_DEFINITION = "CustomResourceDefinition"
"""Long, and what it has of texts are descriptions."""
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


FILE_ENDINGS = (".toml", ".csv", ".conf", ".json")
"""Ends of the names of files that are no YAML, and may be such a text."""


_IN_JSON = (b"cdiVersion", b"mig-configs", b'"sharing"')


def may_be_text(path: str, content: bytes) -> bool:
    """By its bytes: boards in JSON name the same metrics, and are none."""
    is_of_interest = not path.endswith(".json") or any(word in content for word in _IN_JSON)
    return 0 < len(content) <= _LARGEST and is_of_interest


def texts_of_file(path: str, text: str) -> Iterator[StackText]:
    """What a file is that is no YAML, or has inside of it."""
    if _may_have_shape(text) or _MASTER_FILE in path:
        steps = (_MASTER_FILE,) if _MASTER_FILE in path else ()
        yield from _Walk(TextFile(path, text), path, "").of_text(text, "", steps)


def _of_values(installations: Iterable[ChartInstallation]) -> Iterator[StackText]:
    from dataclasses import replace  # on demand

    for item in installations:
        tag = _reader(item)
        single = tuple(layer for layer in item.layers if layer.at)
        sources = [(layer.source, layer.pointer, layer.values) for layer in item.layers if not layer.at]
        if single:
            together = ValuesSource(replace(item, layers=single))
            sources.append((together, "", together.data))
        for source, pointer, values in sources:
            found = _Walk(source, f"values of {item.chart}", item.document.name).texts(values, pointer, ())
            yield from found if tag is None else (replace(text, version=tag) for text in found)


def _reader(item: ChartInstallation) -> str | None:
    """The version of what a chart that has one operand alone installs, by its image's tag, else by its own number."""
    operand = _OPERANDS.get(CHART_OF.get(item.chart, item.chart))
    if operand is None or item.unknown:
        return None
    from poolsmith.gpu.catalog.operand_inputs import operand_inputs  # on demand

    tag = value_at(item.values, ("image", "tag"), None) or item.version
    return operand_inputs(operand).tag_of(str(tag)) if tag else None


_OPERANDS = {"node-feature-discovery": "discovery", "nvidia-device-plugin": "devicePlugin", "dcgm-exporter": "metrics"}


def _of_documents(documents: Iterable[CheckedDocument]) -> Iterator[StackText]:
    has_words: dict[str, bool] = {}
    for document in documents:
        if document.kind == _DEFINITION:
            continue
        name = document.name if document.is_object else ""
        walk = _Walk(document.source, name or document.path, name)
        if document.kind in _RULES:
            rules = value_at(document.data, ("spec", _RULES[document.kind]))
            place = f"/spec/{_RULES[document.kind]}"
            yield StackText(Shape.RULES, document.source, place, name, None, rules, name)
        if not document.is_object:
            yield from walk.shaped(document.data, "", ())
        if document.text not in has_words:
            has_words[document.text] = _has_words(document.text)
        if has_words[document.text]:
            for text in walk.texts(document.data, "", ()):
                yield _with_target(text, document.data)


_TARGETS = ("dest", "path")
"""Of a task of Ansible, and of cloud-init's write_files."""


def _with_target(text: StackText, data: Any) -> StackText:
    above = parent(text.pointer)
    holder = reach(data, above)[0] if text.shape is Shape.CONTAINERD else None
    said = holder if isinstance(holder, dict) else {}
    key = next((key for key in _TARGETS if isinstance(said.get(key), str)), None)
    if key is None:
        return text
    from dataclasses import replace  # on demand

    return replace(text, written_to=(said[key], join(above, key)))


def _has_words(text: str) -> bool:
    return any(word in text for word in _WORDS) or any(whole.search(text) for whole in _WHOLE_WORDS)


class _Walk:
    """Over the mappings, lists and texts of one source."""

    def __init__(self, source: SourceFile, shown: str, subject: str, depth: int = 0) -> None:
        self._source = source
        self._shown = shown
        self._subject = subject
        self._depth = depth

    def texts(self, node: Any, pointer: str, path: tuple[str, ...]) -> Iterator[StackText]:
        """Where a value stands is made out for the few that are of some shape. With each value its nearest key."""
        pending: list[tuple[Any, _Trail, str]]
        pending = [(node, None, path[-1] if path else "")] if _is_looked_at(node) else []
        while pending:
            value, trail, key = pending.pop()
            if value.__class__ is str:
                if _may_have_shape(value) or _MASTER_FILE in key:
                    yield from self.of_text(value, *_place(trail, pointer, path))
                continue
            if isinstance(value, dict):
                if key == _CONFIG or (key == _MASTER and _EXTRA_LABELS in value):
                    yield from self._of_mapping(value, *_place(trail, pointer, path))
                below = [(item, (trail, name), name) for name, item in value.items() if _is_looked_at(item)]
            else:
                below = [(item, (trail, index), key) for index, item in enumerate(value) if _is_looked_at(item)]
            pending += reversed(below)

    def _of_mapping(self, value: dict[Any, Any], place: str, steps: tuple[str, ...]) -> Iterator[StackText]:
        if steps[-1:] == (_CONFIG,):
            yield from self.shaped(value, place, steps)
        elif steps[-1:] == (_MASTER,):
            extra = {_EXTRA_LABELS: value[_EXTRA_LABELS]}
            yield StackText(Shape.MASTER, self._source, place, self._told(steps), None, extra, self._subject)

    def shaped(self, node: Any, pointer: str, path: tuple[str, ...]) -> Iterator[StackText]:
        """A mapping that is a configuration itself, and no text."""
        shape = _shape_of(node, path)
        if shape is not None:
            yield StackText(shape, self._source, pointer, self._told(path), None, node, self._subject)

    def of_text(self, text: str, pointer: str, path: tuple[str, ...]) -> Iterator[StackText]:
        if any(mark in text for mark in _TEMPLATED):
            return
        from poolsmith.gpu.values.metrics_list import is_metrics_list  # on demand
        from poolsmith.gpu.values.runtime_texts import CONTAINERD, toml_of  # on demand

        if is_metrics_list(text):
            yield StackText(Shape.METRICS, self._source, pointer, self._told(path), text, None, self._subject)
            return
        if (whose := toml_of(text)) is not None:
            of_runtime = Shape.CONTAINERD if whose == CONTAINERD else Shape.TOOLKIT
            yield StackText(of_runtime, self._source, pointer, self._told(path), text, None, self._subject)
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


_Trail = tuple["_Trail", str | int] | None
"""Keys and indices down to a value, the last one first."""


def _place(trail: _Trail, pointer: str, path: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The pointer of a value, and the keys on the way; indices are none."""
    steps: list[str | int] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    steps.reverse()
    return join(pointer, *steps), (*path, *(step for step in steps if isinstance(step, str)))


def _is_looked_at(value: Any) -> bool:
    kind = value.__class__
    if kind is str:
        return ("\n" in value or "{" in value or value.startswith("DCGM_")) and len(value) <= _LARGEST
    return kind is dict or kind is list


def _may_have_shape(text: str) -> bool:
    return _MARK.search(text) is not None or _INSIDE.search(text) is not None


def _shape_of(data: Any, path: tuple[str, ...]) -> Shape | None:
    if not isinstance(data, dict) or "apiVersion" in data:
        return None
    from poolsmith.gpu.values.runtime_texts import is_cdi  # on demand

    if is_cdi(data):
        return Shape.CDI
    if "kind" in data:
        return None
    if "mig-configs" in data:
        return Shape.MIG_LAYOUTS
    if "version" in data and _is_of_plugin(data):
        return Shape.PLUGIN
    from poolsmith.gpu.values.discovery_config import MASTER, WORKER, looks_like  # on demand

    is_worker = path[-3:] == (_DISCOVERY, WORKER, "config") or path[-2:] == _OF_OPENSHIFT
    if is_worker or looks_like(WORKER, data):
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
