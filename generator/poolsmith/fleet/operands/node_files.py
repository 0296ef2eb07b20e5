"""Files that describe nodes: `kubectl get nodes` or a short form of it, and /etc/os-release as the operator sees it.

The short form is a list of `{name, labels, runtime}`; annotations and taints may stand there too.
"""

from __future__ import annotations

import shlex
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import did_you_mean, kind_of, shorten
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import read_text_file, read_yaml_documents
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.fleet.operands.expansion import Node
from poolsmith.kubernetes.objects_file import MAX_OBJECTS_BYTES, FileFindings, nothing_in, unfold

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from poolsmith.core.sources.yaml_places import StreamPlaces


_SHORT = ("name", "labels", "annotations", "runtime", "taints")
_WRITE = "write a v1 Node, or `{name: ..., labels: {...}, runtime: containerd://1.7.24}`"
_WHOLE = {
    "name": ("metadata", "name"),
    "labels": ("metadata", "labels"),
    "annotations": ("metadata", "annotations"),
    "runtime": ("status", "nodeInfo", "containerRuntimeVersion"),
    "kubelet": ("status", "nodeInfo", "kubeletVersion"),
    "taints": ("spec", "taints"),
}


@record(kw_only=False)
class NodesFile:
    """The nodes of a file, and what is wrong with it; `found_at` are document and pointer of each by its name."""

    nodes: tuple[Node, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    found_at: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    places: StreamPlaces | None = None
    whole: frozenset[str] = frozenset()

    def is_whole(self, name: str) -> bool:
        """Whether a node stands there as the API server has it, and not in the short form."""
        return name in self.whole


def read_nodes(file: Path, shown: str) -> NodesFile:
    """Nodes in the order of the file, each name once."""
    text = read_text_file(file, shown, MAX_OBJECTS_BYTES)
    if isinstance(text, Diagnostic):
        return NodesFile(problems=(text,))
    documents = read_yaml_documents(text, shown)
    if isinstance(documents, Diagnostic):
        return NodesFile(problems=(documents,))
    if all(document is None for document in documents):
        return NodesFile(problems=(nothing_in(shown, text),))
    findings = FileFindings(shown, text)
    nodes: dict[str, Node] = {}
    found_at: dict[str, tuple[int, str]] = {}
    whole: set[str] = set()
    for index, document in enumerate(documents):
        for pointer, body in () if document is None else unfold(document):
            node = _Entry(body, index, pointer, findings).node()
            if node is None:
                continue
            if node.name in nodes:
                findings.report(
                    codes.DUPLICATE_ITEM, index, pointer, f"the node `{shorten(node.name)}` is listed twice"
                )
            nodes.setdefault(node.name, node)
            found_at.setdefault(node.name, (index, pointer))
            if "kind" in body or "metadata" in body:
                whole.add(node.name)
    return NodesFile(tuple(nodes.values()), findings.problems, found_at, findings.places, frozenset(whole))


@record(kw_only=False)
class _Entry:
    """One node in the file: where its parts stand, and what is wrong with them."""

    body: Any
    document: int
    pointer: str
    findings: FileFindings

    def node(self) -> Node | None:
        if not self._is_node():
            return None
        name = self._text("name")
        if not name:
            if name is not None:
                help_text = f"add `{'.'.join(self._steps('name'))}`"
                self._report(codes.MISSING_FIELD, "name", "the node has no name", help_text)
            return None
        return Node(
            name=name,
            labels=self._map("labels", f"labels of node `{shorten(name)}`"),
            annotations=self._map("annotations", f"annotations of node `{shorten(name)}`"),
            runtime=self._text("runtime") or "",
            kubelet=self._text("kubelet") or "",
            taints=self._taints(),
        )

    def _is_node(self) -> bool:
        if not isinstance(self.body, dict):
            self._report(reading.NOT_A_MAPPING, "", f"this is {kind_of(self.body)}, not a node", _WRITE)
            return False
        if "kind" in self.body or "apiVersion" in self.body:
            kind, version = self.body.get("kind"), self.body.get("apiVersion", "v1")
            if (kind, version) != ("Node", "v1"):
                shown = " ".join(shorten(word) if isinstance(word, str) else kind_of(word) for word in (version, kind))
                self._report(reading.UNKNOWN_KIND, "", f"this is {shown}, not a v1 Node", _WRITE)
                return False
            return True
        if "metadata" in self.body and "name" not in self.body:  # an item of a NodeList, as the API server sends it
            return True
        for key in self.body:
            if key not in _SHORT:
                message = f"a node has no field `{shorten(key)}`"
                self.findings.report(
                    codes.UNKNOWN_FIELD, self.document, join(self.pointer, key), message, did_you_mean(key, _SHORT)
                )
        return True

    def _steps(self, part: str) -> tuple[str, ...]:
        is_short = "kind" not in self.body and "metadata" not in self.body
        return (part,) if is_short else _WHOLE[part]

    def _value(self, part: str) -> Any:
        return value_at(self.body, self._steps(part))

    def _report(self, rule: Any, part: str, message: str, help: str | None = None) -> None:
        pointer = join(self.pointer, *self._steps(part)) if part else self.pointer
        self.findings.report(rule, self.document, pointer, message, help)

    def _text(self, part: str) -> str | None:
        """The text, empty where there is none; None after a mistake was reported."""
        value = self._value(part)
        if value is None or isinstance(value, str):
            return value or ""
        dotted = ".".join(self._steps(part))
        self._report(codes.WRONG_TYPE, part, f"`{dotted}` is {kind_of(value)}; it has to be a string", "quote it")
        return None

    def _map(self, part: str, what: str) -> dict[str, str]:
        pointer = join(self.pointer, *self._steps(part))
        return self.findings.string_map(self._value(part), self.document, pointer, what)

    def _taints(self) -> tuple[dict[str, str], ...]:
        value = self._value("taints")
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._report(codes.WRONG_TYPE, "taints", "taints have to be a list of mappings")
            return ()
        return tuple({key: item[key] for key in item if isinstance(item[key], str)} for item in value)


MAX_OS_RELEASE_BYTES = 1 << 16


def read_os_release(file: Path, shown: str) -> dict[str, str] | Diagnostic:
    """The variables in `file`, or why it can't be read."""
    text = read_text_file(file, shown, MAX_OS_RELEASE_BYTES)
    return text if isinstance(text, Diagnostic) else parse_os_release(text)


def parse_os_release(text: str) -> dict[str, str]:
    """Assignments as a shell reads them, one a line; lines that are none have no meaning."""
    variables: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if not equals or not name or name.startswith("#"):
            continue
        try:
            words = shlex.split(value)
        except ValueError:  # a quote that nobody closes
            continue
        variables[name] = words[0] if words else ""
    return variables
