"""An object as a delivery engine applies it, and a chart as it is installed, with the user's line of each value."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.masking import NO_SECRETS
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import MISSING, copied, join, reach, split, value_at
from poolsmith.core.sources.secret_scalars import secrets_held
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.masking import KnownSecrets


_NAMES = ("name", "key", "containerPort", "mountPath", "port", "ip", "topologyKey")
"""What tells the items of a list apart in strategic merges."""


@record(kw_only=False)
class Layer:
    """A fragment that some file says of an object: `data`, which stands at `pointer` of `source` and at `at` of the
    object. The first layer of an object is the object as somebody wrote it; the others are patches, in their order."""

    source: SourceFile
    data: Any
    pointer: str = ""
    at: str = ""


@record(kw_only=False)
class Unknown:
    """What can't be resolved from the files: said once for each place. `advice` is what would resolve it.

    `is_here`: it stands in these files, and only its tool can tell what comes of it. `is_missing`: it would have to
    stand there, and does not. `stops`: kustomize prints nothing of the build, whatever else is unknown.
    """

    place: Location
    what: str
    advice: str = ""
    is_here: bool = False
    is_missing: bool = False
    stops: bool = False


class LayeredSource(SourceFile):
    """Stands for the file of an object that several files make: a place is the line that decides it."""

    def __init__(self, data: Any, layers: tuple[Layer, ...]) -> None:
        base = layers[0].source
        super().__init__(base.path, base.text, data)
        self._layers = layers

    def _located(self, pointer: str, note: str | None) -> Location:
        layer, inside = self._decided(pointer)
        place = layer.source.locate(inside, note)
        return replace(place, secrets=place.secrets or self._held) if self._held else place

    @cached_property
    def _held(self) -> KnownSecrets:
        """Of a Secret in a file that is no YAML, whose own secrets nobody has looked for."""
        kind = word(mapping(self.data).get("kind"))
        return secrets_held(self.data) if kind == "Secret" or kind.endswith("List") else NO_SECRETS

    @property
    def first_data(self) -> Any:
        """As somebody wrote it, before anything was put on it."""
        return self._layers[0].data

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        layer, inside = self._decided(pointer)
        return layer.source.block_of(inside)

    def text_of(self, pointer: str) -> tuple[SourceFile, str]:
        """The one file, and the pointer in it, that decides what stands at `pointer`."""
        layer, inside = self._decided(pointer)
        return layer.source, inside

    def line(self, number: int) -> str | None:
        """A line of the file of the first layer."""
        return self._layers[0].source.line(number)

    def line_of(self, pointer: str, number: int) -> str | None:
        source, inside = self.text_of(pointer)
        return source.line_of(inside, number)

    def written(self, pointer: str) -> str | None:
        layer, inside = self._decided(pointer)
        return layer.source.written(inside)

    def _decided(self, pointer: str) -> tuple[Layer, str]:
        """The last layer that says something exactly there, else the first of those that come nearest."""
        steps = split(pointer)
        best, deepest, inside = self._layers[0], -1, ""
        for layer in reversed(self._layers):
            depth, place = _followed(layer, self.data, steps)
            if depth == len(steps):
                return layer, layer.pointer + place
            if depth >= deepest:
                best, deepest, inside = layer, depth, place
        rest = join("", *steps[max(deepest, 0) :])
        return best, best.pointer + inside + rest


def _followed(layer: Layer, data: Any, steps: tuple[str, ...]) -> tuple[int, str]:
    """How many of the steps the layer knows, and the pointer to the last of them in its fragment."""
    above = split(layer.at)
    if steps[: len(above)] != above:
        return -1, ""
    node: Any = data
    for step in above:
        node = _step(node, step)
    fragment, depth, place = layer.data, len(above), ""
    for step in steps[len(above) :]:
        item = _step(node, step)
        key = step if isinstance(fragment, dict) else _index_like(fragment, item)
        below = _step(fragment, key) if key is not None else _NOTHING
        if below is _NOTHING or key is None:
            break
        node, fragment, depth, place = item, below, depth + 1, join(place, key)
    return depth, place


_NOTHING: Any = object()


def _step(node: Any, step: str) -> Any:
    if isinstance(node, dict):
        return node.get(step, _NOTHING)
    if isinstance(node, list) and step.isdecimal() and int(step) < len(node):
        return node[int(step)]
    return _NOTHING


def _index_like(fragment: Any, item: Any) -> str | None:
    """The index of the item of a patch's list that is the object's `item`: by its name, else by being equal."""
    if not isinstance(fragment, list):
        return None
    for name in _NAMES:
        if isinstance(item, dict) and name in item:
            for index, other in enumerate(fragment):
                if isinstance(other, dict) and other.get(name) == item[name]:
                    return str(index)
    return next((str(index) for index, other in enumerate(fragment) if other == item), None)


@record(kw_only=False, slots=False)
class Delivered(CheckedDocument):
    """Stands wherever rules take a document; `path`, `index` and `text` are those of the first layer's file."""

    layers: tuple[Layer, ...] = ()

    @cached_property
    def source(self) -> SourceFile:
        return LayeredSource(self.data, self.layers)

    def item_at(self, pointer: str, data: dict[str, Any]) -> Delivered:
        """An object that is made from what stands at `pointer` of this one: `data` may say other things there."""
        written = reach(self.data, pointer)[0]
        layer = Layer(self.source, written, pointer)
        return Delivered(path=self.path, index=self.index, data=data, text=self.text, layers=(layer,))

    def item(self, pointer: str, data: dict[str, Any]) -> Delivered:
        """An object of its own that stands at `pointer` of this one, which is a list."""
        first = self.layers[0]
        layer = Layer(first.source, data, first.pointer + pointer)
        return Delivered(path=self.path, index=self.index, data=data, text=self.text, layers=(layer,))


def delivered(document: CheckedDocument, data: Any = None, layers: tuple[Layer, ...] = ()) -> Delivered:
    """`document` with the patches in `layers` on it: `data` is what comes of them."""
    own = document.layers if isinstance(document, Delivered) else (Layer(document.source, document.data),)
    return Delivered(
        path=document.path,
        index=document.index,
        data=document.data if data is None else data,
        text=document.text,
        stream=document.stream,
        is_incomplete=document.is_incomplete,
        layers=(*own, *layers),
    )


Steps = tuple[str | int, ...]


@record(kw_only=False)
class ValuesLayer:
    """Values that stand at `pointer` of a file, and at `at` of the values: a mapping where `at` is empty.

    `is_incomplete`: some of the file could not be read.
    """

    values: Any
    source: SourceFile
    pointer: str = ""
    at: Steps = ()
    is_incomplete: bool = False


DEFINITIONS, HOOKS = "definitions", "hooks"


@record
class ChartInstallation:
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
    is_alternative: bool = False
    """A branch of a script, a target or a step of a workflow installs it: others may be taken in its place."""
    is_locked: bool = False
    """A lock file, a digest or a folder of the repository says which one it is, whatever the version says."""
    brought_by: str = ""
    """The chart that it is a dependency of."""
    own: ValuesLayer | None = None
    """The values.yaml of a copy of the chart, which is in the repository: its defaults, and what somebody changed."""
    is_copy: bool = False
    """Nobody says who installs it: a copy of it stands here."""
    leaves_out: tuple[tuple[str, str, str], ...] = ()
    """Of the chart: DEFINITIONS or HOOKS, by which word, which stands at a pointer of the document."""
    version_document: CheckedDocument | None = None
    """Where `version_pointer` leads, if it is not in `document`. Without a pointer nobody says where the version is."""

    def version_at(self, note: str | None = None) -> Location:
        """The version as it is written, else what lacks it."""
        document = self.document if self.version_document is None else self.version_document
        return document.source.locate(self.version_pointer, note)

    @property
    def values(self) -> dict[str, Any]:
        """All layers merged, a copy."""
        result: dict[str, Any] = {}
        for layer in self.layers:
            result = _with(result, layer.at, layer.values)
        return result

    @property
    def is_partial(self) -> bool:
        is_incomplete = self.document.is_incomplete or any(layer.is_incomplete for layer in self.layers)
        return bool(self.unknown) or is_incomplete

    def locate(self, path: Steps, note: str | None = None) -> Location:
        """The line of the last layer that says something there, else the nearest; the document where none has any."""
        found = self.decided(path)
        if found is None:
            return self.document.source.locate(self.pointer, note)
        layer, steps, depth = found
        if depth == 0 and not layer.pointer:
            return self._top(layer, note)
        return layer.source.locate(join(layer.pointer, *steps), note)

    def decided(self, path: Steps) -> tuple[ValuesLayer, Steps, int] | None:
        """The layer that decides a value, the steps to it there, and how many of them the layer has; of several that
        say parts of it, the first."""
        best: tuple[ValuesLayer, Steps, int] | None = None
        said = tuple(map(str, path))
        for layer in reversed(self.layers):
            at = tuple(map(str, layer.at))
            if said and len(at) > len(said) and at[: len(said)] == said:
                best = layer, (), len(said)
            if said[: len(at)] != at:
                continue
            steps = path[len(at) :]
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


class ValuesSource(SourceFile):
    """Stands for the values of an installation, as one file: a place is the line of the layer that decides it."""

    def __init__(self, item: ChartInstallation) -> None:
        super().__init__(item.document.path, "", item.values)
        self._item = item

    def _located(self, pointer: str, note: str | None) -> Location:
        return self._item.locate(tuple(split(pointer)), note)

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        found = self._item.decided(tuple(split(pointer)))
        return None if found is None else found[0].source.block_of(join(found[0].pointer, *found[1]))


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


def beyond(values: dict[str, Any], published: Mapping[str, Any]) -> dict[str, Any]:
    """What values say that others don't: mappings key by key, lists and scalars as a whole."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        other = published.get(key)
        if isinstance(value, dict) and isinstance(other, dict):
            if inner := beyond(value, other):
                found[key] = inner
        elif key not in published or type(value) is not type(other) or value != other:
            found[key] = value
    return found


def _with(node: Any, steps: Steps, value: Any) -> Any:
    """`node` with a value at some steps; a list gets the items that it lacks as nulls, as with `--set`."""
    if not steps:
        if isinstance(node, dict) and isinstance(value, dict):
            _merge(node, value)
            return node
        return copied(value)
    step, below_it = steps[0], steps[1:]
    if isinstance(step, int):
        items = list(node) if isinstance(node, list) else []
        items += [None] * (step + 1 - len(items))
        items[step] = _with(items[step], below_it, value)
        return items
    inner = node if isinstance(node, dict) else {}
    inner[step] = _with(inner.get(step), below_it, value)
    return inner


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
    return ValuesLayer(part, layer.source, join(layer.pointer, *keys), is_incomplete=layer.is_incomplete)
