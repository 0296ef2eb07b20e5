"""A pool's files on top of each other: its bases, then its own.

Maps merge, lists replace, null deletes. The merged result keeps no marks of its own; which file a value came
from is found by looking through the layers again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.record import record
from poolsmith.sources import pointer as pointers
from poolsmith.sources.pointer import reach

if TYPE_CHECKING:
    from poolsmith.diagnostics import Location
    from poolsmith.sources.source_file import SourceFile


@record(kw_only=False)
class Layers:
    """The files of one profile, the one that wins last. A profile without bases has one."""

    files: tuple[SourceFile, ...]

    @property
    def own(self) -> SourceFile:
        return self.files[-1]

    def owner(self, pointer: str) -> SourceFile:
        """The file whose word counts at `pointer`; the profile itself where nobody says anything."""
        for file in reversed(self.files):
            if pointer.startswith("/spec") or file is self.own:
                reached, complete = reach(file.data, pointer)
                if complete or not isinstance(reached, dict):
                    return file
        return self._nearest_parent(pointer)

    def _nearest_parent(self, pointer: str) -> SourceFile:
        own = self.own
        parent = pointers.parent(pointer)
        if parent in ("", "/spec") or own.has(parent):
            return own
        return self.owner(parent)

    def locate(self, pointer: str, note: str | None = None) -> Location:
        return self.owner(pointer).locate(pointer, note)

    def written(self, pointer: str) -> str | None:
        return self.owner(pointer).written(pointer)

    def shadowed(self, pointer: str) -> tuple[SourceFile, ...]:
        """The other files that say something at `pointer` and lose, last one first."""
        winner = self.owner(pointer)
        return tuple(file for file in reversed(self.files) if file is not winner and file.has(pointer))

    def merged_spec(self) -> dict[str, Any]:
        """The merged `spec` of all layers, without `extends`."""
        result: dict[str, Any] = {}
        for file in self.files:
            spec = file.data.get("spec")
            if isinstance(spec, dict):
                result = merge(result, {key: value for key, value in spec.items() if key != "extends"})
        return result


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
