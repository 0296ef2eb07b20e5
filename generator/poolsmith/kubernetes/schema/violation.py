"""What a schema refuses in an object."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import cut, did_you_mean, kind_of, listed, nearest, plural
from poolsmith.core.sources.pointer import dotted, join

if TYPE_CHECKING:
    from collections.abc import Callable


class What(StrEnum):
    """The kinds of violations. Only the last four can't be said in a plain JSON Schema."""

    TYPE = "type"
    VALUE = "value"
    REQUIRED = "required"
    UNKNOWN_FIELD = "unknown-field"
    NULL = "null"
    DUPLICATE = "duplicate"
    RULE = "rule"
    NOT_EVALUATED = "not-evaluated"


BEYOND_JSON_SCHEMA = frozenset((What.NULL, What.DUPLICATE, What.RULE, What.NOT_EVALUATED))


class Violation:
    """One thing that is wrong. `steps` lead to it, innermost first: they are added on the way out."""

    __slots__ = ("_help", "grave", "message", "steps", "what")

    def __init__(
        self, what: What, message: str, *, help: str | Callable[[], str | None] | None = None, grave: bool = True
    ) -> None:
        self.what = what
        self.message = message
        self.grave = grave
        self.steps: list[str | int] = []
        self._help = help

    @property
    def pointer(self) -> str:
        return join("", *reversed(self.steps))

    @property
    def dotted(self) -> str:
        """The field as people write it: `spec.containers[0].name`."""
        return dotted(reversed(self.steps))

    @property
    def text(self) -> str:
        """In words, after the object's name."""
        return f"`{self.dotted}` {self.message}" if self.steps else self.message

    @property
    def help(self) -> str | None:
        """Worked out when asked for: a file may have thousands of unknown fields."""
        return self._help() if callable(self._help) else self._help

    def __repr__(self) -> str:
        return f"{self.what} {self.pointer}: {self.message}"


Found = list[Violation] | None
"""What a check returns: nothing is the common case, and costs nothing."""


def wrong_type(value: Any, wanted: str) -> Violation:
    article = "an" if wanted[0] in "aeio" else "a"
    help_text = None
    if wanted == "string" and isinstance(value, (bool, int, float)):
        help_text = "quote it"
    return Violation(What.TYPE, f"is {described(value)}; it has to be {article} {wanted}", help=help_text)


def lacks_fields(fields: list[str]) -> Violation:
    """One for all that a mapping lacks: who left one out meant to leave out the others."""
    names = listed(fields)
    return Violation(What.REQUIRED, f"lacks the required {plural(len(fields), 'field')} {names}", help=f"add {names}")


def described(value: Any) -> str:
    """A value's type, and the value itself when it is short."""
    kind = kind_of(value)
    if not isinstance(value, (bool, int, float, str)):
        return kind
    text = str(value).lower() if isinstance(value, bool) else shown(value)
    return f"{kind.replace('a ', 'the ', 1)} `{text}`"


def shown(value: Any, limit: int = 60) -> str:
    try:
        text = str(value)
    except ValueError:  # an integer with thousands of digits
        text = f"{value:.3e}" if isinstance(value, float) else "a huge number"
    return cut(text, limit)


def unknown_field(key: str, known: dict[str, Any], home: Callable[[str], str | None]) -> Violation:
    """`home` gives the path below at which the field would be known."""

    def help_text() -> str | None:
        match = nearest(key, known)
        if match is not None and match.lower() == key.lower():
            return f"did you mean `{match}`?"
        if (path := home(key)) is not None:
            return f"it belongs under `{path}`"
        return did_you_mean(key, sorted(known)) if known else "nothing is known here; remove it"

    return Violation(What.UNKNOWN_FIELD, "is unknown; the API server would refuse or drop it", help=help_text)
