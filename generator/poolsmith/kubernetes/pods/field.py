"""A field of a pod: a value that knows its place.

Null counts as unset, as in the API. What stands below something of a wrong type is WRONG. The API server refuses such
a pod: no Pod Security check allows it, so that nobody is told that it is fine, and it gives no privilege.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.sources.pointer import escape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_SHOWN_BELOW = 10**18


class _Wrong:
    """Below or instead of something of a wrong type."""


WRONG: Final = _Wrong()


class Field:
    """A value and its place in the pod template. A value that is not there has the place of what it would stand in."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, parent: Field | None = None, key: str | int = "") -> None:
        self.value = value
        self._parent = parent
        self._key = key

    def get(self, key: str) -> Field:
        value = self.value
        if isinstance(value, dict):
            return Field(value.get(key), self, key)
        return Field(None if value is None else WRONG, self, key)

    def items(self) -> Iterator[Field]:
        value = self.value
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield Field(item, self, index)
        elif value is not None:
            yield Field(WRONG, self._parent, self._key)

    def entries(self) -> Iterator[tuple[str, Field]]:
        """Of a mapping by its keys; what is no mapping is one entry without a key."""
        if isinstance(self.value, dict):
            for key in self.value:
                yield key, self.get(key)
        elif self.value is not None:
            yield "", Field(WRONG, self._parent, self._key)

    @property
    def pointer(self) -> str:
        parent = self._parent
        if parent is None:
            return ""
        is_item = isinstance(parent.value, list) and isinstance(self._key, int)
        if is_item or (isinstance(parent.value, dict) and self._key in parent.value):
            return f"{parent.pointer}/{escape(str(self._key))}"
        return parent.pointer

    @property
    def unset(self) -> bool:
        return self.value is None

    @property
    def off(self) -> bool:
        """Unset or false."""
        return self.value is None or self.value is False

    @property
    def empty(self) -> bool:
        """Unset or the empty text."""
        return self.value is None or self.value == ""

    def is_one_of(self, texts: Collection[str]) -> bool:
        return isinstance(self.value, str) and self.value in texts

    @property
    def whole(self) -> int | None:
        return whole_number(self.value)

    @property
    def shown(self) -> str:
        """For a message, harmless."""
        value = self.value
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return f"`{shorten(value)}`"
        if isinstance(value, int | float) and abs(value) < _SHOWN_BELOW:
            return repr(value)
        return "a value of a wrong type"


def whole_number(value: Any) -> int | None:
    """A whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
