"""A Helm chart as it is installed: which release of it, where, and with which values, each with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import MISSING, copied, value_at
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.delivered import Unknown
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

Steps = tuple[str | int, ...]


@record(kw_only=False)
class ValuesLayer:
    """Values that stand at `pointer` of a file, and at `at` of the values: a mapping where `at` is empty."""

    values: Any
    source: SourceFile
    pointer: str = ""
    at: tuple[str, ...] = ()


@record
class Installation:
    """`document` declares it, at `pointer`. `layers` are its values in the order in which Helm puts them on top of each
    other. `version` is as it is written, None where nothing says it; `release_name` and `namespace` likewise.

    `unknown` are values that come from where nobody can look, so that nothing follows from what the others lack.
    `in_other_clusters`: it is not installed where its document is.
    """

    chart: str
    document: CheckedDocument
    pointer: str = ""
    version: str | None = None
    version_pointer: str = ""
    repository: str | None = None
    namespace: str | None = None
    release_name: str | None = None
    layers: tuple[ValuesLayer, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    in_other_clusters: bool = False
    is_locked: bool = False
    """A lock file, a digest or a folder of the repository says which one it is, whatever the version says."""
    version_document: CheckedDocument | None = None
    """Where `version_pointer` leads, if it is not in `document`. Without a pointer nobody says where the version is."""

    def version_at(self, note: str | None = None) -> Location:
        """The version as it is written, else what lacks it."""
        document = self.document if self.version_document is None else self.version_document
        return document.source.locate(self.version_pointer, note)

    @property
    def values(self) -> dict[str, Any]:
        """All layers merged, a copy."""
        return merged(layer.values if not layer.at else _wrapped(layer) for layer in self.layers)

    @property
    def is_partial(self) -> bool:
        return bool(self.unknown)

    def locate(self, path: Steps, note: str | None = None) -> Location:
        """The line of the last layer that says something there, else the nearest; the document where none has any."""
        found = self.decided(path)
        if found is None:
            return self.document.source.locate(self.pointer, note)
        layer, steps, depth = found
        if depth == 0 and steps and not layer.pointer:
            return self._top(layer, note)
        return layer.source.locate(join(layer.pointer, *steps), note)

    def decided(self, path: Steps) -> tuple[ValuesLayer, Steps, int] | None:
        """The layer that decides a value, the steps to it there, and how many of them the layer has."""
        best: tuple[ValuesLayer, Steps, int] | None = None
        for layer in reversed(self.layers):
            if path[: len(layer.at)] != layer.at:
                continue
            steps = path[len(layer.at) :]
            depth = _depth(layer.values, steps)
            if depth == len(steps):
                return layer, steps, depth
            if best is None or depth >= best[2]:
                best = layer, steps, depth
        return best

    @staticmethod
    def _top(layer: ValuesLayer, note: str | None) -> Location:
        """The first key of a values file: the file itself has no line."""
        return layer.source.locate(join("", *list(layer.values)[:1]), note)


def merged(layers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """As Helm merges values: mappings key by key, everything else as the later one has it, null included."""
    result: dict[str, Any] = {}
    for layer in layers:
        _merge(result, layer)
    return result


def _merge(target: dict[str, Any], layer: dict[str, Any]) -> None:
    for key, value in layer.items():
        present = target.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value)
        else:
            target[key] = copied(value)


def _wrapped(layer: ValuesLayer) -> dict[str, Any]:
    node: dict[str, Any] = layer.values
    for key in reversed(layer.at):
        node = {key: node}
    return node


def _depth(values: Any, steps: Steps) -> int:
    """How many of the steps lead somewhere."""
    node = values
    for depth, step in enumerate(steps):
        if isinstance(node, dict):
            node = node.get(str(step), MISSING)
        elif isinstance(node, list) and str(step).isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return depth
        if node is MISSING:
            return depth
    return len(steps)


def below(layer: ValuesLayer, *keys: str) -> ValuesLayer | None:
    """The part of a layer below some keys, as values of their own: those that a parent gives to a subchart."""
    part = value_at(layer.values, keys)
    if not isinstance(part, dict):
        return None
    return ValuesLayer(part, layer.source, join(layer.pointer, *keys))
