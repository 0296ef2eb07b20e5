"""An object as a delivery engine applies it, and the user's lines that it is made of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join, reach, split
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location

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
    """What can't be resolved from the files: said once for each place. `advice` is what would resolve it."""

    place: Location
    what: str
    advice: str = ""


class LayeredSource(SourceFile):
    """Stands for the file of an object that several files make: a place is the line that decides it."""

    def __init__(self, data: Any, layers: tuple[Layer, ...]) -> None:
        base = layers[0].source
        super().__init__(base.path, base.text, data)
        self._layers = layers

    def _located(self, pointer: str, note: str | None) -> Location:
        layer, inside = self._decided(pointer)
        return layer.source.locate(inside, note)

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
        layers=(*own, *layers),
    )
