"""Terraform in JSON: each block is a property below its type and labels, and a text that is one `${...}` is that
expression.

Source: developer.hashicorp.com/terraform/language/syntax/json; which fields are blocks of their own says the schema of
the provider: those that are asked for here are in `_BLOCKS`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.hcl_file import COMPUTED, HclBlock, HclProblemError
from poolsmith.core.sources.hcl_literals import HclReader
from poolsmith.core.sources.hcl_text import SPACE_AND_LINES
from poolsmith.core.sources.placed_source import PlacedSource
from poolsmith.core.sources.pointer import join, parent

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT = pattern(r'"(?:[^"\\\n]|\\.)*+"')
_COUNT_OF_LABELS = {"resource": 2, "data": 2, "variable": 1, "module": 1, "output": 1, "provider": 1}
_BLOCKS = ("set", "set_list", "set_sensitive", "metadata", "node_config", "taint")
_DYNAMIC, _OPENING, _CLOSING = "dynamic", "${", "}"


class JsonReader(HclReader):
    def file(self) -> tuple[HclBlock, ...]:
        bodies = [
            (kind, *found)
            for kind, body in self.whole().items()
            for found in _bodies(body, join("", kind), (), _COUNT_OF_LABELS.get(kind, 0))
        ]
        places = self._places({pointer for _, _, pointer, _ in bodies})
        return tuple(
            HclBlock(kind=kind, labels=labels, data=data, source=self._source(data, places.get(pointer, {})))
            for kind, labels, pointer, data in bodies
        )

    def _source(self, data: dict[str, Any], places: dict[str, Any]) -> PlacedSource:
        return PlacedSource(self.path, self.text, data, places, {})

    def whole(self) -> dict[str, Any]:
        self._skip(SPACE_AND_LINES)
        found = self._map("") if self.text.startswith("{", self.at) else None
        self._skip(SPACE_AND_LINES)
        if not isinstance(found, dict) or self.at < len(self.text):
            raise HclProblemError("no object of JSON")
        return {key: value for key, value in found.items() if isinstance(key, str)}

    def _literal(self, pointer: str) -> Any:
        return self._quoted()[0] if self.text.startswith('"', self.at) else super()._literal(pointer)

    def _quoted(self) -> tuple[Any, str]:
        match = _TEXT.match(self.text, self.at)
        if match is None:
            raise HclProblemError("a text without an end")
        self.at = match.end()
        try:
            text = json.loads(match[0], strict=False)
        except ValueError:
            raise HclProblemError("a text with an escape that JSON does not know") from None
        return self._meant(text), text

    def _meant(self, text: str) -> Any:
        value = COMPUTED
        if text.startswith(_OPENING) and text.endswith(_CLOSING):
            value = HclReader(self.path, text[len(_OPENING) : -len(_CLOSING)], self.resolve).expression()
        return self._filled_in(text) if value is COMPUTED else value

    def _places(self, tops: set[str]) -> dict[str, dict[str, Any]]:
        """The places below each of the blocks, by pointers within it."""
        found: dict[str, dict[str, Any]] = {}
        for place, extent in self.starts.items():
            top = place
            while top and top not in tops:
                top = parent(top)
            found.setdefault(top, {})[place[len(top) :]] = extent
        return found


def _bodies(
    node: Any, pointer: str, labels: tuple[str, ...], left: int
) -> Iterator[tuple[tuple[str, ...], str, dict[str, Any]]]:
    """Labels, pointer and content of each block; several with the same labels stand in a list."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _bodies(item, join(pointer, index), labels, left)
    elif isinstance(node, dict) and left:
        for name, item in node.items():
            if isinstance(name, str):
                yield from _bodies(item, join(pointer, name), (*labels, name), left - 1)
    elif isinstance(node, dict):
        yield labels, pointer, _with_lists(node)


def _with_lists(body: dict[Any, Any]) -> dict[str, Any]:
    """Blocks within as lists, as HCL has them; those that are repeated in a run are computed."""
    found = {key: [item] if key in _BLOCKS and isinstance(item, dict) else item for key, item in body.items()}
    repeated = found.pop(_DYNAMIC, {})
    return found | {key: [COMPUTED] for key in (repeated if isinstance(repeated, dict) else ())}
