"""A file of HCL (Terraform): its literal blocks, what is computed, and the places of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from poolsmith.core.diagnostics.diagnostic import Location, Span
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING, parent
from poolsmith.core.sources.source_file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.core.diagnostics.diagnostic import Position


class _Computed:
    """What only a run of Terraform knows."""

    def __repr__(self) -> str:
        return "COMPUTED"


COMPUTED: Final[Any] = _Computed()


class HclProblemError(ValueError):
    """The text is no HCL, or is nested too deeply."""


@record(kw_only=False)
class HclFile:
    """`file("...")`: a path relative to the folder of the file that says so; or `templatefile`, which fills it in."""

    path: str
    is_template: bool = False


@record(slots=False)
class HclBlock:
    """A block at the top of a file: `resource "helm_release" "gpu"`.

    Blocks within it are lists of mappings below their kind, as attributes with lists of objects are.
    """

    kind: str
    labels: tuple[str, ...]
    data: dict[str, Any]
    source: SourceFile


class HclSource(SourceFile):
    """Places in a file of HCL. `starts` are those of keys by pointer, `texts` first line and indentation of heredocs.

    No line is shown: which of them hold secrets is known of YAML alone.
    """

    def __init__(
        self,
        path: str,
        text: str,
        data: Any,
        starts: dict[str, tuple[Position, Position]],
        texts: dict[str, tuple[int, int]],
    ) -> None:
        super().__init__(path, text, data)
        self._starts = starts
        self._texts = texts

    def _located(self, pointer: str, note: str | None) -> Location:
        known = pointer
        while known and known not in self._starts:
            known = parent(known)
        extent = self._starts.get(known)
        span = Span(path=self.path) if extent is None else Span(path=self.path, start=extent[0], end=extent[1])
        return Location(span=span, pointer=pointer, note=note)

    def line(self, number: int) -> str | None:  # noqa: ARG002 - see the class
        return None

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        return self._texts.get(pointer)

    def written(self, pointer: str) -> str | None:  # noqa: ARG002 - asked of YAML alone
        return None


def without_computed(value: Any) -> tuple[Any, bool]:
    """A value without what is computed, and whether something was left out. A list with a hole is left out whole."""
    if isinstance(value, dict):
        kept: dict[str, Any] = {}
        is_whole = True
        for key, item in value.items():
            cleaned, is_all = without_computed(item)
            is_whole &= is_all and key is not COMPUTED
            if cleaned is not COMPUTED and isinstance(key, str):
                kept[key] = cleaned
        return kept, is_whole
    if isinstance(value, list):
        items = [without_computed(item) for item in value]
        is_whole = all(is_all for _, is_all in items)
        return ([item for item, _ in items], True) if is_whole else (COMPUTED, False)
    return (COMPUTED, False) if value is COMPUTED or isinstance(value, HclFile) else (value, True)


def _first(arguments: list[Any]) -> Any:
    """What `try` gives: MISSING stands for a key that a map does not have."""
    return next((value for value in arguments if value is not MISSING), COMPUTED)


def _merged(arguments: list[Any]) -> Any:
    """Maps on top of each other. What is computed may bring any key, and replace what stands before it."""
    found: dict[Any, Any] = {}
    for value in arguments:
        found = found | value if isinstance(value, dict) else dict.fromkeys((*found, COMPUTED), COMPUTED)
    return found


FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {"try": _first, "merge": _merged}
