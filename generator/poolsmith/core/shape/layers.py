"""A pool's files on top of each other: its bases, then its own.

Maps merge, lists replace, null deletes. The merged result keeps no marks of its own; which file a value came
from is found by looking through the layers again.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources.pointer import reach, value_at

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.shape.reader import Alternative
    from poolsmith.core.sources.source_file import SourceFile


@record(kw_only=False)
class Layers:
    """The files of one profile, the one that wins last. A profile without bases has one."""

    files: tuple[SourceFile, ...]
    alternatives: tuple[Alternative, ...] = ()
    """Lists that stand in the place of one value: the layer that says either of them replaces both."""
    owners: dict[str, tuple[int, str]] = field(default_factory=dict, compare=False, repr=False)
    """Of the pointers that somebody asked about: whose word counts, by position, and where it stands."""

    @property
    def own(self) -> SourceFile:
        return self.files[-1]

    def owner(self, pointer: str) -> SourceFile:
        """The file whose word counts at `pointer`; the profile itself where nobody says anything."""
        return self.files[self._said(pointer)[0]]

    def said_at(self, pointer: str) -> str:
        """Where a value stands that may be the first of a list."""
        return self._said(pointer)[1]

    def _said(self, pointer: str) -> tuple[int, str]:
        known = self.owners.get(pointer)
        if known is None:
            where = self._place_of(pointer)
            known = self.owners[pointer] = self._position(where), where
        return known

    def _position(self, pointer: str) -> int:
        last = len(self.files) - 1
        for position in range(last, -1, -1):
            if pointer.startswith("/spec") or position == last:
                reached, complete = reach(self.files[position].data, pointer)
                if complete or not isinstance(reached, dict):
                    return position
        parent = pointers.parent(pointer)
        if parent in ("", "/spec") or self.own.has(parent):
            return last
        return self._said(parent)[0]

    def _place_of(self, pointer: str) -> str:
        for parent, single, several in self.alternatives:
            if pointer == f"{parent}/{single}":
                for file in reversed(self.files):
                    if file.has(pointer):
                        return pointer
                    if file.has(f"{parent}/{several}/0"):
                        return f"{parent}/{several}/0"
        return pointer

    def locate(self, pointer: str, note: str | None = None) -> Location:
        position, where = self._said(pointer)
        return self.files[position].locate(where, note)

    def written(self, pointer: str) -> str | None:
        position, where = self._said(pointer)
        return self.files[position].written(where)

    def merged_spec(self) -> dict[str, Any]:
        """The merged `spec` of all layers, without `extends`."""
        result: dict[str, Any] = {}
        for file in self.files:
            spec = file.data.get("spec")
            if isinstance(spec, dict):
                result = merge(result, {key: value for key, value in spec.items() if key != "extends"})
                self._drop_replaced(result, spec)
        return result

    def _drop_replaced(self, result: dict[str, Any], layer: dict[str, Any]) -> None:
        """Both stay where one layer says both: that is a mistake, and is told."""
        for parent, *names in self.alternatives:
            path = pointers.split(parent)[1:]
            said, merged = value_at(layer, path), value_at(result, path)
            if isinstance(said, dict) and isinstance(merged, dict):
                given = [name for name in names if said.get(name) is not None]
                if len(given) == 1:
                    (other,) = set(names) - set(given)
                    merged.pop(other, None)


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """`above` over `below`: maps merge, everything else replaces, null deletes."""
    result = dict(below)
    for key, value in above.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            under = result.get(key)
            result[key] = merge(under if isinstance(under, dict) else {}, value)
        else:
            result[key] = value
    return result
